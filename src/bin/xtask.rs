//! The developer's commands: `cargo xtask serve`, `build`, `dist` and `test`.

use std::process::ExitCode;

fn main() -> ExitCode {
    kappascope::xtask::run(std::env::args().skip(1))
}
