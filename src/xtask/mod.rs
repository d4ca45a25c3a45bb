//! The developer's commands, on few small crates so that they start at once on a fresh machine.
//!
//! Knows programs and their output, never the crate's own modules.
#![expect(clippy::print_stdout, reason = "these are commands that people read")]

mod bench;
mod checks;
mod dist;
mod format;
mod page;
mod programs;
mod report;
mod sheets;
mod shell;
mod tools;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  serve [--port PORT]   build the page and serve it on 127.0.0.1 (port 8080); missing tools are installed first
  build                 build the page into dist/
  sheets                join the style sheets; trunk does so before each build
  programs              split the page's program in two and make all smaller to send; trunk does so after each build
  dist [--built]        build the page and write its release into dist-release/; --built takes dist/ as it is
  format                format every file; `cargo fmt` alone passes over the views' components
  bench browser [STEP …]  our engines beside onnxruntime-web in one browser, into benches/results/; a STEP is one of
                        clip, loading, photos, int8, products, memory and, only where they are named, gpu and dispatches
  bench gpu             on an NVIDIA GPU: fits on CUDA beside PyTorch, and the WebGPU engine beside onnxruntime-web
  bench page            what each program of the page in dist/ weighs, into benches/results/
  bench start           how soon the release paints, answers and follows the visitor, into benches/results/
  bench train           embedding and fits beside onnxruntime and PyTorch, into benches/results/
  test [STEP …]         run every check there is, or only the steps named; STEP is one of:";

/// Runs the command named by the arguments and returns whether it succeeded.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["serve"] => page::serve("8080"),
        ["serve", "--port", port] => page::serve(port),
        ["build"] => page::build(),
        ["sheets"] => sheets::join(),
        ["programs"] => programs::finish(),
        ["dist"] => dist::build(),
        ["dist", "--built"] => dist::write(),
        ["format"] => format::write(),
        ["bench", "browser", steps @ ..] => bench::browser(steps),
        ["bench", "gpu"] => bench::gpu(),
        ["bench", "page"] => page::write_weights(),
        ["bench", "start"] => bench::start(),
        ["bench", "train"] => bench::train(),
        ["test", steps @ ..] => return checks::run(steps),
        _ => Err(format!("{USAGE} {}", checks::step_names())),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("{message}");
            ExitCode::FAILURE
        }
    }
}
