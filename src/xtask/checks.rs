//! `cargo xtask test`: every check there is, one line for each step, and one line that sums them up.

use std::env;
use std::process::ExitCode;
use std::time::Instant;

use super::report::{self, Tally};
use super::{page, shell, tools};

/// Tests that read the public data beside the project, by a part of their names.
const SHARED_DATA: &str = "shared_data";
/// Tests of the page that measure time.
const TIMED: &str = "targets::";

/// What a step came to.
enum Outcome {
    Counted(Tally),
    Skipped(String),
}

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<Outcome, String>,
}

/// Cheapest first.
const STEPS: [Step; 11] = [
    Step {
        name: "format",
        what: "formatting",
        run: format,
    },
    Step {
        name: "xtask",
        what: "these commands' own lints and tests",
        run: xtask,
    },
    Step {
        name: "lint-native",
        what: "lints of the native program",
        run: lint_native,
    },
    Step {
        name: "doc",
        what: "documentation",
        run: document,
    },
    Step {
        name: "lint-web",
        what: "lints of the page",
        run: lint_web,
    },
    Step {
        name: "native",
        what: "native tests",
        run: test_native,
    },
    Step {
        name: "cuda",
        what: "the program for an NVIDIA GPU compiles",
        run: check_cuda,
    },
    Step {
        name: "libtorch",
        what: "the program that trains through libtorch compiles",
        run: check_libtorch,
    },
    Step {
        name: "browser",
        what: "tests inside a headless browser",
        run: test_in_browser,
    },
    Step {
        name: "page",
        what: "the release build of the page and its weight",
        run: build_page,
    },
    Step {
        name: "e2e",
        what: "the built page, driven in a headless browser",
        run: test_page,
    },
];

/// Runs the steps named, or all of them; the last line it prints is `N passed, N failed, N skipped`.
pub(crate) fn run(names: &[&str]) -> ExitCode {
    if let Some(unknown) = names
        .iter()
        .find(|name| STEPS.iter().all(|step| step.name != **name))
    {
        println!("no step {unknown}: expected one of {}", step_names());
        return ExitCode::FAILURE;
    }
    let mut sum = Tally::default();
    for step in STEPS
        .iter()
        .filter(|step| names.is_empty() || names.contains(&step.name))
    {
        sum += run_step(step);
    }
    println!(
        "{} passed, {} failed, {} skipped",
        sum.passed, sum.failed, sum.skipped
    );
    if sum.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

pub(crate) fn step_names() -> String {
    STEPS.map(|step| step.name).join(", ")
}

fn run_step(step: &Step) -> Tally {
    println!("== {}: {}", step.name, step.what);
    let start = Instant::now();
    let outcome = (step.run)();
    let seconds = start.elapsed().as_secs();
    match outcome {
        Ok(Outcome::Counted(tally)) => {
            let verdict = if tally.failed == 0 { "ok" } else { "FAILED" };
            println!(
                "== {}: {verdict}, {} passed, {} failed in {seconds} s",
                step.name, tally.passed, tally.failed
            );
            tally
        }
        Ok(Outcome::Skipped(reason)) => {
            println!("== {}: skipped: {reason}", step.name);
            Tally {
                skipped: 1,
                ..Tally::default()
            }
        }
        Err(message) => {
            println!("== {}: FAILED in {seconds} s: {message}", step.name);
            Tally::one(false)
        }
    }
}

fn format() -> Result<Outcome, String> {
    cargo(&["fmt", "--check"])
}

fn xtask() -> Result<Outcome, String> {
    const ONLY: [&str; 3] = ["--no-default-features", "--features", "xtask"];
    cargo(
        &[
            &["clippy"],
            &ONLY[..],
            &["--lib", "--bin", "xtask", "--", "-D", "warnings"],
        ]
        .concat(),
    )?;
    test(
        &[&["test"], &ONLY[..], &["--lib", "--", "xtask::"]].concat(),
        &[],
    )
}

fn lint_native() -> Result<Outcome, String> {
    cargo(&["clippy", "--all-targets", "--", "-D", "warnings"])
}

fn document() -> Result<Outcome, String> {
    shell::succeed(
        shell::program("cargo", &["doc", "--no-deps", "--lib"]).env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    Ok(Outcome::Counted(Tally::one(true)))
}

fn lint_web() -> Result<Outcome, String> {
    tools::ensure_wasm_target()?;
    cargo(&[
        "clippy",
        "--release",
        "--target",
        "wasm32-unknown-unknown",
        "--no-default-features",
        "--features",
        "web",
        "--lib",
        "--bins",
        "--test",
        "web",
        "--test",
        "portable",
        "--test",
        "preprocess_text",
        "--",
        "-D",
        "warnings",
    ])
}

/// The tests of the built page are left to [`test_page`], which has one; those of the shared data run where it is.
fn test_native() -> Result<Outcome, String> {
    const ALL: [&str; 5] = ["test", "--no-fail-fast", "--", "--skip", "built_page::"];
    if env::var_os("KAPPASCOPE_SHARED_DATA").is_none() {
        return test(&ALL, &[]);
    }
    let mut tally = counted(&[&ALL[..], &["--skip", SHARED_DATA]].concat(), &[])?;
    tally += counted(
        &["test", "--no-fail-fast", "--", "--ignored", SHARED_DATA],
        &[],
    )?;
    Ok(Outcome::Counted(tally))
}

/// Checked only: it needs no CUDA to compile, but a GPU to run. `DOCS_RS` keeps a dependency from downloading LLVM,
/// which only linking needs.
fn check_cuda() -> Result<Outcome, String> {
    let mut command = shell::program("cargo", &["check", "--features", "cuda", "--bin", "train"]);
    shell::succeed(command.env("DOCS_RS", "1"))?;
    Ok(Outcome::Counted(Tally::one(true)))
}

fn check_libtorch() -> Result<Outcome, String> {
    if env::var_os("LIBTORCH").is_none() {
        let reason = "LIBTORCH names no folder with libtorch 2.9".to_owned();
        return Ok(Outcome::Skipped(reason));
    }
    shell::succeed(&mut shell::program(
        "cargo",
        &["check", "--features", "libtorch", "--bin", "train"],
    ))?;
    Ok(Outcome::Counted(Tally::one(true)))
}

/// In release, so that the page's own build finds the dependencies made.
fn test_in_browser() -> Result<Outcome, String> {
    let driver = match browser_driver() {
        Ok(driver) => driver,
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    tools::ensure_wasm_target()?;
    tools::ensure_wasm_bindgen()?;
    test(
        &[
            "test",
            "--release",
            "--target",
            "wasm32-unknown-unknown",
            "--no-default-features",
            "--features",
            "web",
            "--test",
            "web",
            "--test",
            "portable",
            "--test",
            "preprocess_text",
        ],
        &[
            ("CHROMEDRIVER", &driver),
            ("WASM_BINDGEN_TEST_TIMEOUT", "300"),
        ],
    )
}

fn build_page() -> Result<Outcome, String> {
    page::build()?;
    let mut tally = Tally::one(true);
    for (what, held) in page::weigh()? {
        println!("{} {what}", if held { "ok" } else { "FAILED" });
        tally += Tally::one(held);
    }
    Ok(Outcome::Counted(tally))
}

fn test_page() -> Result<Outcome, String> {
    match browser_driver() {
        Err(reason) => Ok(Outcome::Skipped(reason)),
        Ok(_) if !shell::root().join("dist/index.html").exists() => Ok(Outcome::Skipped(
            "no page in dist/, run the step `page` first".to_owned(),
        )),
        Ok(driver) => drive_page(&driver),
    }
}

/// What lacks something is passed by, and said so; what is measured in time runs alone.
fn drive_page(driver: &str) -> Result<Outcome, String> {
    let mut missing = Vec::new();
    if let Err(reason) = tools::ensure_axe() {
        missing.push(("axe_finds_nothing", reason));
    }
    if env::var_os("KAPPASCOPE_RANDOM_B32").is_none() {
        let reason = "KAPPASCOPE_RANDOM_B32 is not set".to_owned();
        missing.push(("while_a_large_image_encoder", reason));
    }
    let mut tally = Tally::default();
    let mut others = vec!["--skip", TIMED];
    for (name, reason) in &missing {
        println!("skipped: {name}: {reason}");
        tally.skipped += 1;
        others.extend(["--skip", name]);
    }
    for only in [&others[..], &["--test-threads=1", TIMED]] {
        let arguments = [&["test", "--test", "e2e", "--", "--ignored"], only].concat();
        tally += counted(&arguments, &[("CHROMEDRIVER", driver)])?;
    }
    Ok(Outcome::Counted(tally))
}

/// A command of Cargo's that counts as one test.
fn cargo(arguments: &[&str]) -> Result<Outcome, String> {
    shell::succeed(&mut shell::program("cargo", arguments))?;
    Ok(Outcome::Counted(Tally::one(true)))
}

/// A command of Cargo's whose tests are counted one by one.
fn test(arguments: &[&str], variables: &[(&str, &str)]) -> Result<Outcome, String> {
    counted(arguments, variables).map(Outcome::Counted)
}

fn counted(arguments: &[&str], variables: &[(&str, &str)]) -> Result<Tally, String> {
    let mut command = shell::program("cargo", arguments);
    command.envs(variables.iter().copied());
    let finished = shell::show_and_keep(&mut command)?;
    report::skipped(&finished.stdout).for_each(|line| println!("{line}"));
    Ok(report::tally(&finished.stdout, finished.succeeded))
}

/// The path of `chromedriver`, or why the browser tests cannot run here.
fn browser_driver() -> Result<String, String> {
    if shell::find_program(&["chromium", "chromium-browser", "google-chrome", "chrome"]).is_none() {
        return Err("no Chromium or Chrome on the path".to_owned());
    }
    let named = env::var("CHROMEDRIVER").ok();
    let found =
        || shell::find_program(&["chromedriver"]).map(|path| path.to_string_lossy().into_owned());
    named
        .or_else(found)
        .ok_or_else(|| "no chromedriver on the path".to_owned())
}
