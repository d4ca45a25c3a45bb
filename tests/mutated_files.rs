//! Known files, changed at random, and files that once broke a reader: every reader ends soon, in bounded memory,
//! without a panic.
//!
//! The changes depend on the reader, the file and a number alone, so a failure names what repeats it.
//! `KAPPASCOPE_MUTATIONS` says how many changes each file goes through. The allocator of this file counts.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]

#[path = "support/counting_allocator.rs"]
mod counting_allocator;
#[path = "support/outside_input.rs"]
mod outside_input;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use counting_allocator::cost_of;
use outside_input::TARGETS;
use rand::{Rng as _, RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

/// How many changes a file goes through, if nothing else is said.
const N_MUTATIONS: u64 = 300;
/// Long for any of these files, also on a busy machine.
const SOON: Duration = Duration::from_secs(20);
/// More than any file of this size needs; a reader of pickles keeps objects that it does not need, too.
const PEAK_BYTES: usize = 400_000_000;
/// Files longer than this are cut: what is changed lies at their beginning.
const MAX_BYTES: usize = 64_000;
/// Numbers that sizes and offsets go wrong at.
const EDGES: [u64; 8] = [
    0,
    1,
    0x7f,
    0xff,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 62,
    u64::MAX,
];

/// Files that a reader begins with: those of `tests/corpus/NAME/`, and fixtures of other tests.
fn seeds(target: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixtures: &[&str] = match target {
        "picture" => &[
            "preprocess/rgba.png",
            "preprocess/palette_4_bit.png",
            "preprocess/animated.png",
            "preprocess/rgb_16.png",
            "preprocess/progressive.jpg",
            "preprocess/restarts.jpg",
            "preprocess/orientation_6.jpg",
            "preprocess/cmyk.jpg",
            "preprocess/quarter_colour.jpg",
            "preprocess/lossy.webp",
            "preprocess/alpha.webp",
            "preprocess/animated.webp",
            "preprocess/lossless.webp",
            "preprocess/animated.gif",
            "preprocess/transparent.gif",
            "preprocess/rgb.bmp",
        ],
        "safetensors" => &["import/expected.safetensors", "import/model.safetensors"],
        "manifest" => &["../../public/models/scenes/manifest.json"],
        "checkpoint" => &[
            "import/pytorch_model.bin",
            "import/tiny.pt",
            "import/expected.safetensors",
        ],
        "tokenizer" => &["photos/text/tokenizer.json", "preprocess/small_bpe.json"],
        _ => &[],
    };
    let fixtures = fixtures
        .iter()
        .map(|name| root.join("tests/fixtures").join(name));
    let corpus = entries(&format!("tests/corpus/{target}"));
    let mut seeds: Vec<PathBuf> = fixtures.chain(corpus).collect();
    seeds.sort();
    seeds
}

/// What lies in a folder of the repository, in order of the names; nothing where there is no such folder.
fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// The bytes of a file, changed in a few places.
fn mutated(seed: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..rng.random_range(1..=6) {
        let at = rng.random_range(0..=bytes.len());
        let end = bytes.len().min(at + rng.random_range(0..=40_usize));
        match rng.random_range(0..8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            1 if at < bytes.len() => bytes[at] = rng.next_u32().to_le_bytes()[0],
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let again = bytes[at..end].repeat(rng.random_range(1..=4));
                bytes.splice(at..at, again);
            }
            5 => put(&mut bytes, at, EDGES[rng.random_range(0..EDGES.len())], rng),
            6 => put_digits(&mut bytes, at, rng),
            _ => {
                let from = rng.random_range(0..=bytes.len());
                let piece = bytes[from..bytes.len().min(from + 64)].to_vec();
                let end = bytes.len().min(at + piece.len());
                bytes.splice(at..end, piece);
            }
        }
    }
    bytes
}

/// Writes a number of one to eight bytes, the low or the high one first, over those that are there.
fn put(bytes: &mut [u8], at: usize, number: u64, rng: &mut ChaCha8Rng) {
    let width = 1 << rng.random_range(0..4);
    let mut number = number.to_le_bytes()[..width].to_vec();
    if rng.random::<bool>() {
        number.reverse();
    }
    for (byte, new) in bytes.iter_mut().skip(at).zip(number) {
        *byte = new;
    }
}

/// Writes another number over the first that is written in digits from there on.
fn put_digits(bytes: &mut Vec<u8>, at: usize, rng: &mut ChaCha8Rng) {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = bytes.iter().skip(at).position(is_digit).map(|n| n + at) else {
        return;
    };
    let n_digits = bytes[start..]
        .iter()
        .take_while(|byte| is_digit(byte))
        .count();
    let number = match rng.random_range(0..3) {
        0 => EDGES[rng.random_range(0..EDGES.len())].to_string(),
        1 => "-1".to_owned(),
        _ => "1e308".to_owned(),
    };
    bytes.splice(start..start + n_digits, number.into_bytes());
}

/// Runs a reader on the files that it begins with and on what becomes of them, and on those that were found.
fn replay(name: &str) {
    let (_, read) = TARGETS
        .iter()
        .find(|target| target.0 == name)
        .expect("a target");
    for path in entries(&format!("tests/found/{name}")) {
        let bytes = std::fs::read(&path).expect("a file that was found");
        run_within_limits(*read, &bytes, &path.display().to_string());
    }
    let n = std::env::var("KAPPASCOPE_MUTATIONS");
    let n = n.map_or(N_MUTATIONS, |n| n.parse().expect("a number of changes"));
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{name}: no file to begin with");
    for path in seeds {
        let mut seed = std::fs::read(&path).expect("a file of the corpus");
        seed.truncate(MAX_BYTES);
        for i in 0..=n {
            let mut rng = ChaCha8Rng::seed_from_u64(i);
            let bytes = match i {
                0 => seed.clone(),
                _ => mutated(&seed, &mut rng),
            };
            let what = format!("{name}, change {i} of {}", path.display());
            let is_read = run_within_limits(*read, &bytes, &what);
            assert!(
                is_read || i > 0,
                "{what}: no file of its kind to begin with"
            );
        }
    }
}

/// Whether a reader took a file; it may refuse it, within the limits on time and memory and without a panic.
fn run_within_limits(read: fn(&[u8]) -> bool, bytes: &[u8], what: &str) -> bool {
    let (cost, outcome) = cost_of(|| catch_unwind(AssertUnwindSafe(|| read(bytes))));
    let Ok(is_read) = outcome else {
        panic!("{what}: a panic in the reader");
    };
    let (time, peak) = (cost.time, cost.peak_bytes);
    assert!(
        time < SOON,
        "{what}: took {time:?}, expected {SOON:?} at most"
    );
    assert!(
        peak < PEAK_BYTES,
        "{what}: took {peak} bytes, expected {PEAK_BYTES} at most"
    );
    is_read
}

macro_rules! replays {
    ($($test:ident: $target:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            replay($target);
        })*

        #[test]
        fn no_target_is_left_out() {
            let replayed = [$($target),*];
            assert_eq!(replayed.to_vec(), TARGETS.map(|target| target.0), "in the same order");
        }
    };
}

replays! {
    pictures_that_were_changed_are_read_or_refused: "picture",
    safetensors_that_were_changed_are_read_or_refused: "safetensors",
    manifests_that_were_changed_are_read_or_refused: "manifest",
    adapters_that_were_changed_are_read_or_refused: "adapter",
    checkpoints_that_were_changed_are_read_or_refused: "checkpoint",
    configs_that_were_changed_are_read_or_refused: "config",
    tokenizers_that_were_changed_are_read_or_refused: "tokenizer",
    links_that_were_changed_are_read_or_passed_over: "link",
    captions_that_were_changed_are_read_or_refused: "caption",
    data_sets_that_were_changed_are_read_or_refused: "data",
    arrays_that_were_changed_are_read_or_refused: "npy",
}

/// Program in place of cargo-fuzz, which notes how it is called: `npy` works for a second and ends well, any other target
/// fails at once.
#[cfg(unix)]
const CARGO_FUZZ: &str = r##"
echo "$@" >>calls
if [ "$1" = build ]; then exit; fi
echo "an input" >"$3/new"
echo "#57	NEW    cov: 3 ft: 3 corp: 1/1b" >&2
spent=0m0
while [ "$2" = npy ]; do
    case $spent in 0m0* | 0m1.0*) ;; *) break ;; esac
    i=0
    while [ "$i" -lt 20000 ]; do i=$((i + 1)); done
    times >spent
    read -r spent rest <spent
done
if [ "$2" = npy ]; then echo "Done 1234 runs in 3 second(s)" >&2; exit; fi
echo "artifact_prefix='/fuzz/artifacts/'; Test unit written to /fuzz/artifacts/crash-abc" >&2
exit 77
"##;

#[cfg(unix)]
#[test]
fn the_fuzzer_begins_with_all_files_of_a_target_and_its_outcome_is_written_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let place = |name: &str| scratch.path().join(name);
    let read = |name: &str| std::fs::read_to_string(place(name)).expect("the script wrote it");
    for folder in [
        "fuzz",
        "tests/corpus/npy",
        "tests/found/npy",
        "tests/corpus/picture",
        "tests/fixtures/preprocess",
    ] {
        std::fs::create_dir_all(place(folder)).expect("the folder is the test's own");
    }
    for name in ["fuzz/all.sh", "fuzz/one.sh", "Cargo.lock"] {
        std::fs::copy(root.join(name), place(name)).expect("a file of the repository");
    }
    std::fs::write(place("cargo-fuzz"), CARGO_FUZZ).expect("the folder is the test's own");
    let mut script = std::process::Command::new("sh");
    script
        .arg(place("fuzz/all.sh"))
        .args(["3", "npy", "picture"]);
    script.env("CARGO_FUZZ", "sh ./cargo-fuzz").env("JOBS", "2");
    let output = script.output().expect("a shell");
    assert!(!output.status.success(), "a target failed: {output:?}");
    let calls = read("calls");
    let mut calls: Vec<&str> = calls
        .lines()
        .map(|l| l.split(" -- ").next().unwrap_or(l))
        .collect();
    calls.sort_unstable();
    let expected = [
        "build npy",
        "build picture",
        "run npy fuzz/corpus/npy tests/corpus/npy tests/found/npy",
        "run picture fuzz/corpus/picture tests/corpus/picture tests/fixtures/preprocess",
    ];
    assert_eq!(
        calls, expected,
        "the folder that grows, and those with seeds"
    );
    assert_eq!(
        read("fuzz/Cargo.lock"),
        read("Cargo.lock"),
        "the same versions"
    );
    let log = read("fuzz/log.md");
    for (target, outcome) in [
        ("| npy | 3 | 1 |", "| 1234 | 1 | nothing found |"),
        ("| picture |", "| 0 | 57 | 1 | crash-abc |"),
    ] {
        let mut lines = log.lines();
        let is_there = lines.any(|line| line.contains(target) && line.ends_with(outcome));
        assert!(is_there, "{target} … {outcome} in {log}");
    }
}

#[test]
fn every_target_has_a_program_of_the_fuzzer_and_files_to_begin_with() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    let manifest = read("fuzz/Cargo.toml");
    for (name, _) in TARGETS {
        let program = format!("fuzz_targets/{name}.rs");
        let bin = format!("[[bin]]\nname = \"{name}\"\npath = \"{program}\"\n");
        assert!(
            manifest.contains(&bin),
            "{name}: no [[bin]] in fuzz/Cargo.toml"
        );
        let calls = read(&format!("fuzz/{program}")).contains("outside_input::");
        assert!(calls, "fuzz/{program}: calls no reader of outside_input.rs");
        let n_files = entries(&format!("tests/corpus/{name}")).len();
        assert!(n_files > 0, "tests/corpus/{name}: no file to begin with");
    }
    let found = [entries("tests/corpus"), entries("tests/found")].concat();
    assert!(found.len() > TARGETS.len(), "some files were found");
    for folder in found {
        let is_known = TARGETS.iter().any(|(name, _)| folder.ends_with(name));
        assert!(is_known, "{}: no target of that name", folder.display());
    }
    let n_programs = manifest.matches("[[bin]]").count();
    assert_eq!(n_programs, TARGETS.len(), "programs in fuzz/Cargo.toml");
}
