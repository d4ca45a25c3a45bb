//! The developer's commands: `cargo xtask serve`, `build`, `dist`, `bench` and `test`.

use std::process::ExitCode;

fn main() -> ExitCode {
    kappascope::xtask::run(std::env::args().skip(1))
}
