//! The page.

fn main() {
    kappascope::ui::start();
}
