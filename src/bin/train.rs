//! Entry point of the native program `train`, which trains, evaluates and scores models.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser as _;
use kappascope::train::cli::{Cli, run};
use kappascope::train::exit::{INTERNAL, code_of};
use kappascope::train::memory::keep_freed_memory;

fn main() -> ExitCode {
    keep_freed_memory();
    let cli = Cli::parse();
    match catch_unwind(AssertUnwindSafe(|| run(&cli))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("error: {error:#}");
            ExitCode::from(code_of(&error))
        }
        Err(_) => {
            eprintln!(
                "error: the program is at fault, not its input; please report what is said above"
            );
            ExitCode::from(INTERNAL)
        }
    }
}
