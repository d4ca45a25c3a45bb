//! The program `train` on files that lie, lead out of their folder or run code: exit code 2, a reason, nothing written.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]

use std::io::Write as _;
use std::process::Command;

use kappascope::train::exit::BAD_INPUT;

/// The words of a command.
type Words = &'static [&'static str];

const IMPORT: Words = &["import", "in/model.pt", "--out", "out"];
const SCORE: Words = &["score", "--model", "in", "--caption", "a red star"];
const WEBDATASET: Words = &[
    "embed",
    "--world",
    "webdataset",
    "--root",
    "in",
    "--out",
    "out",
];
const CAPTIONS: Words = &[
    "embed", "--world", "captions", "--root", "in", "--out", "out",
];
const KARPATHY: Words = &[
    "embed",
    "--world",
    "coco-karpathy",
    "--root",
    "in",
    "--out",
    "out",
];

/// A file, the command that reads it, and what is said of it.
struct Case {
    file: &'static str,
    bytes: Vec<u8>,
    words: Words,
    says: &'static str,
}

/// An archive of `torch.save` with this pickle.
fn torch(pickle: &[u8]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default();
    let stored = stored.compression_method(zip::CompressionMethod::Stored);
    zip.start_file("x/data.pkl", stored).expect("a new member");
    zip.write_all(pickle).expect("memory does not fail");
    zip.finish().expect("an archive").into_inner()
}

/// An archive whose one member claims so many bytes.
fn tar(n_bytes: u64) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_path("1.png").expect("a short name");
    header.set_size(n_bytes);
    header.set_cksum();
    let mut builder = tar::Builder::new(Vec::new());
    let appended = builder.append(&header, &b"star"[..]);
    appended.expect("memory does not fail");
    builder.into_inner().expect("memory does not fail")
}

/// The manifest of the scenes, whose tokenizer lies elsewhere.
fn manifest(tokenizer: &str) -> Vec<u8> {
    let manifest = include_str!("../public/models/scenes/manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_str(manifest).expect("a manifest");
    manifest["tokenizer"]["file"] = tokenizer.into();
    manifest.to_string().into_bytes()
}

fn cases() -> Vec<Case> {
    let case = |words, file, bytes: &[u8], says| Case {
        file,
        bytes: bytes.to_vec(),
        words,
        says,
    };
    let whole = torch(b"}.");
    let karpathy =
        br#"{"images": [{"filename": "/etc/passwd", "split": "train", "sentences": []}]}"#;
    let nested = [br#"{"name": "#, &[b'['; 300_000][..]].concat();
    let header = [&u64::MAX.to_le_bytes()[..], b"{}"].concat();
    vec![
        case(
            IMPORT,
            "model.pt",
            &torch(b"cos\nsystem\n(S'touch out'\ntR."),
            "os.system",
        ),
        case(
            IMPORT,
            "model.pt",
            &torch(&vec![b']'; 2_000_000]),
            "goes on after 1000000 steps",
        ),
        case(
            IMPORT,
            "model.pt",
            &whole[..whole.len() / 2],
            "not a whole zip archive",
        ),
        case(
            IMPORT,
            "model.pt",
            &header,
            "not a safetensors file: a header of",
        ),
        case(WEBDATASET, "0.tar", &tar(4)[..300], "0.tar: no tar archive"),
        case(
            WEBDATASET,
            "0.tar",
            &tar(1 << 62),
            "in/0.tar: no tar archive",
        ),
        case(
            CAPTIONS,
            "captions.csv",
            b"image,caption\n../secret.png,a star\n",
            "../secret.png",
        ),
        case(KARPATHY, "dataset_coco.json", karpathy, "/etc/passwd"),
        case(
            SCORE,
            "manifest.json",
            &manifest("../secret.png"),
            "below the manifest's folder",
        ),
        case(SCORE, "manifest.json", &nested, "manifest: "),
    ]
}

#[test]
fn hostile_files_end_the_program_with_the_code_of_bad_input_and_a_reason() {
    for case in cases() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let put = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.path().join(name), bytes).expect("the folder is the test's own");
        };
        std::fs::create_dir(folder.path().join("in")).expect("a folder");
        put("secret.png", b"nobody's business");
        put(&format!("in/{}", case.file), &case.bytes);
        let mut train = Command::new(env!("CARGO_BIN_EXE_train"));
        let ended = train.args(case.words).current_dir(folder.path()).output();
        let ended = ended.expect("the program starts");
        let said = String::from_utf8_lossy(&ended.stderr);
        let what = format!("{:?}, {} was expected: {said}", case.words, case.says);
        assert_eq!(ended.status.code(), Some(i32::from(BAD_INPUT)), "{what}");
        assert!(
            said.starts_with("error: ") && said.contains(case.says),
            "{what}"
        );
        let n_entries = std::fs::read_dir(folder.path())
            .expect("it is there")
            .count();
        assert_eq!(n_entries, 2, "something was written: {what}");
    }
}
