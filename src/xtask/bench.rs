//! `cargo xtask bench`: how soon the page opens, and comparisons with other programs, which are fetched when they are
//! asked for.

use std::env;
use std::fs;

use super::{checks, shell};

/// Package that the page's engines are compared with, at the version that the results are of.
const ONNXRUNTIME_WEB: &str = "onnxruntime-web@1.30.0";
/// Folder of the package and the models; nothing in it is kept in the repository.
const FOLDER: &str = "runs/bench-browser";
/// The test that drives the browser.
const TEST: &str = "test --test e2e -- --ignored --nocapture bench::";
/// The tests that open the release, type, drag and drop, one after the other.
const START: &str =
    "test --test e2e -- --ignored --nocapture --test-threads 1 targets::built_page::";

/// Steps of a fit that are timed on a GPU.
const N_STEPS: &str = "200";
/// File of fits on a GPU.
const CUDA_RESULTS: &str = "benches/results/cuda.json";

/// Our engines beside onnxruntime-web in one browser; `steps` are those of `tests/e2e/bench.rs`, all but the GPU's
/// where there are none.
pub(crate) fn browser(steps: &[&str]) -> Result<(), String> {
    browser_on("software", steps)
}

/// Fits on CUDA beside `PyTorch`'s, then the WebGPU engine beside onnxruntime-web, on a real GPU.
///
/// # Errors
///
/// There is no NVIDIA GPU, the browser offers none, or a program that is compared with is missing.
pub(crate) fn gpu() -> Result<(), String> {
    let query = ["--query-gpu=name", "--format=csv,noheader"];
    let name = shell::output_of("nvidia-smi", &query)
        .ok_or("no NVIDIA GPU: nvidia-smi does not answer, so nothing was measured")?;
    let bench = format!("bench --features cuda --bench fit -- --device cuda --steps {N_STEPS}");
    let ours = steps_per_second(&mut shell::cargo(&bench))?;
    let fit = ["benches/fit.py", "--device", "cuda", "--steps", N_STEPS];
    let theirs = steps_per_second(&mut shell::program(&python(), &fit))?;
    let rows = cuda_results(&name, ours, theirs);
    let path = shell::root().join(CUDA_RESULTS);
    fs::write(path, rows).map_err(|error| format!("{CUDA_RESULTS}: {error}"))?;
    browser_on("real", &["gpu"])
}

/// Rate that a benchmark of fits prints.
fn steps_per_second(benchmark: &mut std::process::Command) -> Result<f64, String> {
    let line = format!("{benchmark:?}");
    let finished = shell::show_and_keep(benchmark)?;
    rate_in(&finished.stdout)
        .filter(|_| finished.succeeded)
        .ok_or_else(|| format!("{line} failed, or printed no steps/s"))
}

/// The number before "steps/s by the clock".
fn rate_in(printed: &str) -> Option<f64> {
    let (before, _) = printed.split_once(" steps/s by the clock")?;
    before.rsplit(' ').next()?.parse().ok()
}

/// The table of `benches/results/`, as JSON.
fn cuda_results(gpu: &str, ours: f64, theirs: f64) -> String {
    format!(
        "[\n  {{\"name\": \"fit, 512 numbers a feature, batch 2048, CUDA\", \"gpu\": {gpu:?}, \"ours\": {ours:.2}, \
         \"theirs\": {theirs:.2}, \"unit\": \"steps/s\", \"ratio\": {:.3}}}\n]\n",
        ours / theirs
    )
}

/// The comparison in a browser whose WebGPU adapter is `software` or `real`.
fn browser_on(gpu: &str, steps: &[&str]) -> Result<(), String> {
    let driver = checks::browser_driver()?;
    if !shell::root().join("dist/engine_cpu.js").exists() {
        return Err("no page in dist/: cargo xtask build".to_owned());
    }
    if shell::find_program(&["npm"]).is_none() {
        return Err(format!(
            "no npm on the path to fetch {ONNXRUNTIME_WEB} with"
        ));
    }
    let install = ["install", "--silent", "--no-save", "--no-package-lock"];
    let mut npm = shell::program("npm", &install);
    shell::succeed(npm.args(["--prefix", FOLDER, ONNXRUNTIME_WEB]))?;
    export()?;
    let mut test = shell::cargo(TEST);
    test.env("CHROMEDRIVER", driver)
        .env("KAPPASCOPE_BENCH_BROWSER", shell::root().join(FOLDER))
        .env("KAPPASCOPE_BENCH_STEPS", steps.join(" "))
        .env("KAPPASCOPE_GPU", gpu);
    shell::succeed(&mut test)
}

/// Times until the release paints and answers, at a first and at a second visit, and until it follows the visitor.
pub(crate) fn start() -> Result<(), String> {
    let driver = checks::browser_driver()?;
    if !shell::root().join("dist-release/index.html").exists() {
        return Err("no page in dist-release/: cargo xtask dist".to_owned());
    }
    let mut test = shell::cargo(START);
    test.env("CHROMEDRIVER", driver)
        .env("KAPPASCOPE_BENCH_START", "1");
    shell::succeed(&mut test)
}

/// `train` beside `PyTorch` and onnxruntime, with all cores.
pub(crate) fn train() -> Result<(), String> {
    export()?;
    shell::succeed(&mut shell::cargo("build --release --bin train"))?;
    let compare = ["benches/train/compare.py", FOLDER];
    shell::succeed(&mut shell::program(&python(), &compare))
}

/// Writes the models that both sides run.
fn export() -> Result<(), String> {
    let models = format!("{FOLDER}/models");
    let mut export = shell::program(&python(), &["benches/browser/export.py", &models]);
    let exported = shell::succeed(&mut export);
    exported.map_err(|error| format!("{error}; PYTHON names another Python than python3"))
}

fn python() -> String {
    env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_benchmarks_of_fits_print_their_rate_alike() {
        for (printed, expected) in [
            (
                "cuda: 12.500 steps/s by the clock\ncuda: 3 steps per second of a core\n",
                Some(12.5),
            ),
            ("PyTorch 2.9.0: 10.000 steps/s by the clock\n", Some(10.0)),
            ("no CUDA device", None),
        ] {
            assert_eq!(rate_in(printed), expected, "{printed}");
        }
        let results = cuda_results("H100", 12.5, 10.0);
        for part in [
            r#""gpu": "H100", "ours": 12.50, "#,
            r#""theirs": 10.00, "unit": "steps/s", "ratio": 1.250}"#,
        ] {
            assert!(results.contains(part), "{part} in {results}");
        }
    }
}
