//! `cargo xtask test`: every check there is, one line for each step, and one line that sums them up.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use super::report::{self, Tally};
use super::{dist, format, page, shell, tools};

/// Tests that read the public data beside the project, by a part of their names.
const SHARED_DATA: &str = "shared_data";
/// Tests of the page that measure time.
const TIMED: &str = "targets::";
/// Tests of the page that take many minutes; run by hand.
const SOAK: &str = "soak::";
/// The comparison with another program, which `cargo xtask bench` runs.
const COMPARED: &str = "bench::";
/// The variable that is set in GitHub's workflows alone.
const GITHUB: &str = "GITHUB_ACTIONS";

/// Outcome of a step.
enum Outcome {
    Counted(Tally),
    Skipped(String),
}

/// A step: its name, what it does for people, and the check.
type NamedStep = (&'static str, &'static str, fn() -> Result<Outcome, String>);

/// Steps of `cargo xtask test` in the order in which they run, the cheapest first.
const STEPS: [NamedStep; 12] = [
    ("format", "formatting", formatting),
    ("xtask", "these commands' own lints and tests", xtask),
    (
        "deny",
        "advisories, licences and sources of the dependencies",
        deny,
    ),
    ("lint-native", "lints of the native program", lint_native),
    ("doc", "documentation", document),
    ("lint-web", "lints of the page", lint_web),
    ("native", "native tests", test_native),
    ("cuda", "the program for an NVIDIA GPU compiles", check_cuda),
    (
        "libtorch",
        "the program that trains through libtorch compiles",
        check_libtorch,
    ),
    (
        "browser",
        "tests inside a headless browser",
        test_in_browser,
    ),
    ("page", "the release of the page and its weight", build_page),
    (
        "e2e",
        "the built page, driven in a headless browser",
        test_page,
    ),
];
/// Options of cargo for the browser, with the features of the page and its workers.
const WEB: &str = "--release --target wasm32-unknown-unknown --no-default-features --features web";
/// The tests that run in a browser.
const WEB_TESTS: &str = "--test web --test portable --test preprocess_text --test hostile_files";

/// Runs the steps named, or all of them; the last line it prints is `N passed, N failed, N skipped`.
pub(crate) fn run(names: &[&str]) -> ExitCode {
    let is_unknown = |name: &&&str| STEPS.iter().all(|step| step.0 != **name);
    if let Some(unknown) = names.iter().find(is_unknown) {
        println!("no step {unknown}: expected one of {}", step_names());
        return ExitCode::FAILURE;
    }
    let mut sum = Tally::default();
    let is_asked_for = |step: &&NamedStep| names.is_empty() || names.contains(&step.0);
    for step in STEPS.iter().filter(is_asked_for) {
        sum += run_step(step);
    }
    let (passed, failed, skipped) = (sum.passed, sum.failed, sum.skipped);
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    ExitCode::from(u8::from(failed > 0))
}

pub(crate) fn step_names() -> String {
    STEPS.map(|step| step.0).join(", ")
}

fn run_step(&(name, what, check): &NamedStep) -> Tally {
    println!("== {name}: {what}");
    let start = Instant::now();
    let outcome = check();
    let seconds = start.elapsed().as_secs();
    match outcome {
        Ok(Outcome::Counted(tally)) => {
            let (passed, failed) = (tally.passed, tally.failed);
            let verdict = if failed == 0 { "ok" } else { "FAILED" };
            println!("== {name}: {verdict}, {passed} passed, {failed} failed in {seconds} s");
            tally
        }
        Ok(Outcome::Skipped(reason)) => {
            println!("== {name}: skipped: {reason}");
            let skipped = 1;
            Tally {
                skipped,
                ..Tally::default()
            }
        }
        Err(message) => {
            println!("== {name}: FAILED in {seconds} s: {message}");
            Tally::one(false)
        }
    }
}

fn formatting() -> Result<Outcome, String> {
    format::check()?;
    Ok(Outcome::Counted(Tally::one(true)))
}

fn xtask() -> Result<Outcome, String> {
    const ONLY: &str = "--no-default-features --features xtask --lib";
    cargo(&format!("clippy {ONLY} --bin xtask -- -D warnings"))?;
    test(&format!("test {ONLY} -- xtask::"), &[])
}

fn deny() -> Result<Outcome, String> {
    if let Err(reason) = tools::ensure_cargo_deny() {
        return passed_by(reason, env::var_os(GITHUB)).map(Outcome::Skipped);
    }
    shell::succeed(&mut shell::cargo("deny check bans licenses sources"))?;
    let mut tally = Tally::one(true);
    tally += advisories()?;
    Ok(Outcome::Counted(tally))
}

/// The published advisories, which are fetched each time.
fn advisories() -> Result<Tally, String> {
    if let Err(reason) = shell::succeed(&mut shell::cargo("deny fetch db")) {
        let reason = passed_by(reason, env::var_os(GITHUB))?;
        println!("skipped: advisories: {reason}");
        let skipped = 1;
        return Ok(Tally {
            skipped,
            ..Tally::default()
        });
    }
    shell::succeed(&mut shell::cargo("deny check --disable-fetch advisories"))?;
    Ok(Tally::one(true))
}

/// Reason to skip a check that lacks something; an error on GitHub, where everything can be installed.
fn passed_by(reason: String, github: Option<OsString>) -> Result<String, String> {
    match github {
        Some(_) => Err(reason),
        None => Ok(reason),
    }
}

fn lint_native() -> Result<Outcome, String> {
    cargo("clippy --all-targets -- -D warnings")
}

fn document() -> Result<Outcome, String> {
    let mut command = shell::cargo("doc --no-deps --lib");
    one(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn lint_web() -> Result<Outcome, String> {
    tools::ensure_wasm_target()?;
    cargo(&format!(
        "clippy {WEB},webgpu --lib --bins {WEB_TESTS} -- -D warnings"
    ))
}

/// The tests of the built page are left to [`test_page`], which has one; those of the shared data run where it is.
fn test_native() -> Result<Outcome, String> {
    const ALL: &str = "test --no-fail-fast -- --skip built_page::";
    if env::var_os("KAPPASCOPE_SHARED_DATA").is_none() {
        return test(ALL, &[]);
    }
    let mut tally = counted(&format!("{ALL} --skip {SHARED_DATA}"), &[])?;
    tally += counted(
        &format!("test --no-fail-fast -- --ignored {SHARED_DATA}"),
        &[],
    )?;
    Ok(Outcome::Counted(tally))
}

/// Checked only: it needs no CUDA to compile, but a GPU to run. `DOCS_RS` keeps a dependency from downloading LLVM,
/// which only linking needs.
fn check_cuda() -> Result<Outcome, String> {
    let mut command = shell::cargo("check --features cuda --bin train");
    one(command.env("DOCS_RS", "1"))
}

fn check_libtorch() -> Result<Outcome, String> {
    if env::var_os("LIBTORCH").is_none() {
        let reason = "LIBTORCH names no folder with libtorch 2.9".to_owned();
        return Ok(Outcome::Skipped(reason));
    }
    cargo("check --features libtorch --bin train")
}

/// Tests in a browser, built in release so that the page's own build finds its dependencies compiled.
fn test_in_browser() -> Result<Outcome, String> {
    let driver = match browser_driver() {
        Ok(driver) => driver,
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    tools::ensure_wasm_target()?;
    tools::ensure_wasm_bindgen()?;
    let variables = [
        ("CHROMEDRIVER", &*driver),
        ("WASM_BINDGEN_TEST_TIMEOUT", "300"),
    ];
    test(&format!("test {WEB} {WEB_TESTS}"), &variables)
}

fn build_page() -> Result<Outcome, String> {
    dist::build()?;
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
        Ok(_) if !shell::root().join("dist-release/index.html").exists() => Ok(Outcome::Skipped(
            "no page in dist-release/, run the step `page` first".to_owned(),
        )),
        Ok(driver) => drive_page(&driver),
    }
}

/// The end-to-end tests: those that lack something are skipped and counted; those that measure time run alone.
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
    let mut others = format!("--skip {TIMED} --skip {SOAK} --skip {COMPARED}");
    for (name, reason) in &missing {
        println!("skipped: {name}: {reason}");
        tally.skipped += 1;
        others += &format!(" --skip {name}");
    }
    for only in [others, format!("--test-threads=1 {TIMED}")] {
        let line = format!("test --test e2e -- --ignored {only}");
        tally += counted(&line, &[("CHROMEDRIVER", driver)])?;
    }
    Ok(Outcome::Counted(tally))
}

/// A command that counts as one test.
fn one(command: &mut Command) -> Result<Outcome, String> {
    shell::succeed(command)?;
    Ok(Outcome::Counted(Tally::one(true)))
}

/// A command of Cargo's that counts as one test.
fn cargo(line: &str) -> Result<Outcome, String> {
    one(&mut shell::cargo(line))
}

/// A command of Cargo's whose tests are counted one by one.
fn test(line: &str, variables: &[(&str, &str)]) -> Result<Outcome, String> {
    counted(line, variables).map(Outcome::Counted)
}

fn counted(line: &str, variables: &[(&str, &str)]) -> Result<Tally, String> {
    let mut command = shell::cargo(line);
    command.envs(variables.iter().copied());
    let finished = shell::show_and_keep(&mut command)?;
    report::skipped(&finished.stdout).for_each(|line| println!("{line}"));
    Ok(report::tally(&finished.stdout, finished.succeeded))
}

/// The path of `chromedriver`, or why the browser tests cannot run here.
pub(crate) fn browser_driver() -> Result<String, String> {
    if shell::find_program(&["chromium", "chromium-browser", "google-chrome", "chrome"]).is_none() {
        return Err("no Chromium or Chrome on the path".to_owned());
    }
    let named = env::var("CHROMEDRIVER").ok();
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let found = || shell::find_program(&["chromedriver"]).map(text);
    let driver = named.or_else(found);
    driver.ok_or_else(|| "no chromedriver on the path".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_check_lacks_is_a_failure_on_github_alone() {
        let lacks = || "no program".to_owned();
        let elsewhere = passed_by(lacks(), None);
        assert_eq!(elsewhere, Ok(lacks()), "elsewhere");
        let on_github = passed_by(lacks(), Some("true".into()));
        assert_eq!(on_github, Err(lacks()), "on GitHub");
    }
}
