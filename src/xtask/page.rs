//! The built page: making it, serving it, and what it may weigh.

use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::{shell, tools};

/// Budget of a program of the page: its gzipped size, and the crates that must not or must be in it.
///
/// The crates' names stand in the locations of their panics, so they are found where their code is linked.
struct Budget {
    program: &'static str,
    /// What the name of its file begins and ends with; between them the hash of its content may stand.
    file: [&'static str; 2],
    gzipped_bytes: usize,
    without: &'static [&'static str],
    /// Shows that the search would find the others.
    with: &'static [&'static str],
}

const BUDGETS: [Budget; 4] = [
    Budget {
        program: "app",
        file: ["app-", "_bg.wasm"],
        // What the page opens with: the wall and the matrix, and all that keeps them at work. The supervisor of the
        // engines and the published corruptions cost 60 kB together; see to it that what is added is worth its bytes.
        gzipped_bytes: 396_000,
        without: &["burn-", "cubecl-", "htmlize"],
        with: &["leptos"],
    },
    Budget {
        program: "app, later",
        file: ["app-", "_later.wasm"],
        // The other views with what they alone need, 10 to 20 kB each; the panel of the models 50, the charts of the
        // evidence 13, the teacher's page with its questions, the formulas and the findings 21.
        gzipped_bytes: 344_000,
        without: &["burn-", "cubecl-", "htmlize"],
        with: &["kappascope"],
    },
    Budget {
        program: "engine_cpu",
        file: ["engine_cpu", "_bg.wasm"],
        // The towers of photographs with their heads and adapters cost 60 kB, the kernel and what writes it 19, holding
        // manifests to the page's hash and removing what they no longer list 8, fetching the next file ahead, keeping
        // both built-in models and fetching nothing unasked 10, the published picture of OpenAI's image encoder 10,
        // captions without filled rows 5. Hugging Face's tokenizers were 490, tables of Unicode 90, Burn's products 60,
        // chains of tensors for other devices 40.
        gzipped_bytes: 750_000,
        without: &[
            "burn-linalg",
            "cubecl-wgpu",
            "leptos",
            "regex-",
            "unicode-normalization",
        ],
        with: &["burn-", "htmlize"],
    },
    Budget {
        program: "engine_gpu",
        file: ["engine_gpu", "_bg.wasm"],
        // The towers of photographs cost 70 kB, the hashes and answers of the hub 10, the published picture 10,
        // kernels of our own 14. Burn's products were 1,030, Hugging Face's tokenizers 490, operators for the CPU 180:
        // one call of `Tensor::matmul`, of a convolution or of Burn's `Initializer` would bring the products back.
        gzipped_bytes: 2_360_000,
        without: &[
            "burn-flex",
            "burn-linalg",
            "leptos",
            "regex-",
            "unicode-normalization",
        ],
        with: &["burn-", "cubecl-"],
    },
];

/// Folders of models in the page, and the bytes that each may have with all that lies beside its weights.
const MODELS: [(&str, u64); 2] = [("models/photos", 26_000_000), ("models/scenes", 8_000_000)];

/// Builds the page into `dist/`.
pub(crate) fn build() -> Result<(), String> {
    tools::ensure_page_tools()?;
    shell::succeed(&mut trunk(&["build", "--release", "--locked=true"]))
}

/// Builds the page and serves it until it is stopped.
pub(crate) fn serve(port: &str) -> Result<(), String> {
    let number = port.parse::<u16>();
    let number = number.map_err(|_| format!("port {port}: expected a number below 65536"))?;
    TcpListener::bind(("127.0.0.1", number))
        .map_err(|e| format!("port {port}: {e}; choose another with --port"))?;
    tools::ensure_page_tools()?;
    println!(
        "building the page; the first time takes some minutes, for the WebGPU engine most of all"
    );
    let mut server = trunk(&[
        "serve",
        "--release",
        "--locked=true",
        "--address",
        "127.0.0.1",
        "--port",
        port,
    ]);
    let server = server.spawn();
    let mut server = server.map_err(|e| format!("trunk cannot be started: {e}"))?;
    while TcpStream::connect(("127.0.0.1", number)).is_err() {
        if let Ok(Some(status)) = server.try_wait() {
            return Err(format!("trunk stopped: {status}"));
        }
        thread::sleep(Duration::from_millis(200));
    }
    println!("Kappascope is at http://127.0.0.1:{port}/ (Ctrl-C stops it)");
    let status = server.wait().map_err(|e| format!("trunk was lost: {e}"))?;
    let stopped = || format!("trunk stopped: {status}");
    status.success().then_some(()).ok_or_else(stopped)
}

/// Compares each program of the built page with its budget; returns what was checked, and whether it held.
pub(crate) fn weigh() -> Result<Vec<(String, bool)>, String> {
    let mut results = Vec::new();
    for budget in &BUDGETS {
        let program = budget.program;
        let wasm = read_program(budget)?;
        let gzipped_bytes = gzipped_bytes(&wasm)?;
        let (kib, limit) = (gzipped_bytes / 1024, budget.gzipped_bytes / 1024);
        let weight = format!("{program} weighs {kib} KiB gzipped, at most {limit}");
        results.push((weight, gzipped_bytes <= budget.gzipped_bytes));
        let missing = budget.with.iter().filter(|name| !contains(&wasm, name));
        let missing = missing.map(|name| format!("lacks {name}"));
        let present = budget.without.iter().filter(|name| contains(&wasm, name));
        let present = present.map(|name| format!("holds {name}"));
        let wrong: Vec<String> = present.chain(missing).collect();
        let crates = format!(
            "{program} holds only the crates it should {}",
            wrong.join(", ")
        );
        results.push((crates, wrong.is_empty()));
    }
    for (folder, limit) in MODELS {
        let bytes = folder_bytes(&shell::root().join("dist").join(folder));
        let weight = format!(
            "{folder} has {} MB, at most {}",
            bytes / 1_000_000,
            limit / 1_000_000
        );
        results.push((weight, bytes <= limit));
    }
    Ok(results)
}

/// Writes what each program of the built page weighs to `benches/results/`.
pub(crate) fn write_weights() -> Result<(), String> {
    let mut rows = Vec::new();
    for budget in &BUDGETS {
        let wasm = read_program(budget)?;
        let (bytes, gzipped) = (wasm.len(), gzipped_bytes(&wasm)?);
        let (program, limit) = (budget.program, budget.gzipped_bytes);
        rows.push(format!(
            "  {{\n    \"name\": \"{program}\",\n    \"bytes\": {bytes},\n    \"gzipped_bytes\": {gzipped},\n    \
             \"budget_gzipped_bytes\": {limit}\n  }}"
        ));
        println!("{program}: {gzipped} bytes gzipped, at most {limit}");
    }
    let path = shell::root().join("benches/results/page.json");
    let json = format!("[\n{}\n]\n", rows.join(",\n"));
    fs::write(&path, json).map_err(|e| format!("{}: {e}", path.display()))
}

/// Bytes of the files in a folder; 0 where there is none.
fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.metadata().ok());
    files
        .filter(fs::Metadata::is_file)
        .map(|file| file.len())
        .sum()
}

/// Trunk with its own colours: it reads `NO_COLOR=1` as an option that wants `true` or `false`, and stops.
fn trunk(arguments: &[&str]) -> Command {
    let mut command = shell::program("trunk", arguments);
    command.env_remove("NO_COLOR");
    command
}

fn read_program(budget: &Budget) -> Result<Vec<u8>, String> {
    let entries = fs::read_dir(shell::root().join("dist")).map_err(|e| format!("dist: {e}"))?;
    let [beginning, ending] = budget.file;
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(beginning) && name.ends_with(ending)
    };
    let found = entries.flatten().map(|entry| entry.path()).find(is_it);
    let path = found.ok_or_else(|| format!("dist: expected {beginning}…{ending}"))?;
    fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))
}

fn gzipped_bytes(bytes: &[u8]) -> Result<usize, String> {
    let wrong = |e: std::io::Error| format!("gzip: {e}");
    let mut gzip = Command::new("gzip");
    gzip.args(["-9", "-c"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut gzip = gzip.spawn().map_err(wrong)?;
    let mut input = gzip.stdin.take().ok_or("gzip takes no input")?;
    thread::scope(|scope| {
        // Written from beside, or both sides would wait once the pipe back is full.
        let writer = scope.spawn(move || input.write_all(bytes));
        let output = gzip.wait_with_output().map_err(wrong)?;
        let written = writer
            .join()
            .map_err(|_| "gzip's input was lost".to_owned())?;
        written.map_err(wrong)?;
        Ok(output.stdout.len())
    })
}

/// Whether these bytes hold a text.
pub(crate) fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_gzips_to_little() {
        let size = gzipped_bytes(&vec![7; 1_000_000]).expect("gzip runs");
        let is_little = (100..5_000).contains(&size);
        assert!(is_little, "a million equal bytes became {size}");
    }

    #[test]
    fn the_bytes_of_a_folder_are_those_of_its_files() {
        let bytes = folder_bytes(&shell::root().join("public/gallery-photos"));
        assert!((100_000..600_000).contains(&bytes), "{bytes} bytes");
        let nothing = folder_bytes(&shell::root().join("no such folder"));
        assert_eq!(nothing, 0, "of nothing");
    }

    #[test]
    fn text_is_found_between_bytes() {
        assert!(contains(b"\0\x01burn-flex\xff", "burn-"), "it is there");
        assert!(
            !contains(b"\0\x01burn", "burn-"),
            "only a part of it is there"
        );
    }
}
