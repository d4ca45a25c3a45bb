//! `cargo xtask bench`: how soon the page opens, and comparisons with other programs, which are fetched when they are
//! asked for.

use std::env;

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

/// Our engines beside onnxruntime-web in one browser; `steps` are those of `tests/e2e/bench.rs`, all but the GPU's
/// where there are none.
pub(crate) fn browser(steps: &[&str]) -> Result<(), String> {
    browser_on("software", steps)
}

/// `train` on CUDA beside `PyTorch`, then the WebGPU engine beside onnxruntime-web, on a real GPU.
///
/// # Errors
///
/// There is no NVIDIA GPU, the browser offers none, or a program that is compared with is missing.
pub(crate) fn gpu() -> Result<(), String> {
    let query = ["--query-gpu=name", "--format=csv,noheader"];
    shell::output_of("nvidia-smi", &query)
        .ok_or("no NVIDIA GPU: nvidia-smi does not answer, so nothing was measured")?;
    train_on("cuda")?;
    browser_on("real", &["gpu"])
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
    train_on("cpu")
}

/// The same on this device. What is compared is built first, so that no build is timed.
fn train_on(device: &str) -> Result<(), String> {
    export()?;
    let features = if device == "cpu" {
        String::new()
    } else {
        format!(" --features {device}")
    };
    shell::succeed(&mut shell::cargo(&format!(
        "build --release --bin train{features}"
    )))?;
    shell::succeed(&mut shell::cargo(&format!(
        "bench --no-run --bench fit --bench scenes{features}"
    )))?;
    let compare = ["benches/train/compare.py", FOLDER, "--device", device];
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
