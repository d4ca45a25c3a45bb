//! Entry point of the page in the browser, compiled to WebAssembly.

fn main() {
    kappascope::ui::start();
}
