//! A small random CLIP as it lies at the hub and beside the page, a small `SigLIP`, and what the native program
//! makes of them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use kappascope::device::cpu;
use kappascope::inference::{ImageEncoding, Session};
use kappascope::preprocess::decode;
use kappascope::train::export::bundle;
use kappascope::train::import::{CheckpointSource as Source, Import, import};
use kappascope::weights::original::tokenizer::byte_level_json;
use kappascope::weights::shard::Precision as Dtype;

/// Where the server has it as a hub would.
pub const HUB: &str = "/hub/test/tiny/resolve/abc";
/// Start, end and the 512 symbols of bytes.
const START_TOKEN_ID: u32 = 512;
/// The files of a model at the hub.
pub const FILES: [&str; 3] = ["model.safetensors", "config.json", "tokenizer.json"];

/// A picture of the gallery, in the place of a photograph.
pub fn picture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("public/gallery/lone-red-star.png")
}

/// The model's files by name.
fn file(name: &str) -> Vec<u8> {
    if name == "tokenizer.json" {
        return byte_level_json(START_TOKEN_ID).into_bytes();
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    fs::read(folder.join(name)).expect("a fixture")
}

/// The model as it lies at the hub, by path.
pub fn hub_files() -> HashMap<String, Vec<u8>> {
    let named = |name: &str| (format!("{HUB}/{name}"), file(name));
    FILES.map(named).into()
}

/// The model's files in a folder, as a visitor has them.
pub fn write_files(folder: &Path) -> Vec<PathBuf> {
    let write = |name: &str| {
        let path = folder.join(name);
        fs::write(&path, file(name)).expect("a file for the test");
        path
    };
    FILES.map(write).into()
}

/// The model as `train import` writes it.
pub fn import_into(folder: &Path, dtype: Dtype) {
    let files = folder.with_extension("files");
    fs::create_dir_all(&files).expect("a folder for the test");
    write_files(&files);
    let source = Source::Local(files.join("model.safetensors"));
    import_from(source, Some(files.join("tokenizer.json")), dtype, folder);
}

/// A model of ViT-B/32's shapes with random weights.
pub fn import_random(folder: &Path, seed: u64) {
    import_from(Source::Random { seed }, None, Dtype::F16, folder);
}

/// The small `SigLIP` of the fixtures, whose activation no other model has.
pub fn import_siglip(folder: &Path) {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/siglip");
    import_from(Source::Local(files), None, Dtype::F32, folder);
}

fn import_from(source: Source, tokenizer: Option<PathBuf>, dtype: Dtype, folder: &Path) {
    let job = Import {
        source,
        out: folder.to_owned(),
        precision: dtype,
        tokenizer,
        golden_picture: None,
        replace: true,
        command: String::new(),
    };
    import(&job).expect("a model folder");
}

/// The model as it lies beside the page, by path.
pub fn files_beside(folder: &Path, place: &str) -> HashMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a model folder").flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let named = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let path = format!("/models/{place}/{}", name.to_string_lossy());
        (path, fs::read(entry.path()).expect("a file"))
    };
    files.map(named).collect()
}

/// The native program with the model, its weights rounded to this.
pub fn session(folder: &Path, dtype: Dtype) -> Session {
    let out = folder.join("model");
    import_into(&out, dtype);
    open(&out)
}

/// The native program with the model of this folder.
pub fn open(folder: &Path) -> Session {
    bundle::open(folder, &cpu()).expect("an open model")
}

/// Cosines of captions with the picture, by the native program.
pub fn cosines(session: &Session, captions: &[String]) -> Vec<f64> {
    let bytes = fs::read(picture()).expect("a picture");
    let rgb = decode(&bytes).expect("a PNG").rgb;
    let image: ImageEncoding = pollster::block_on(session.encode_image(&rgb)).expect("it runs");
    let texts = pollster::block_on(session.encode_text(captions)).expect("it runs");
    texts
        .iter()
        .map(|text| text.compare(&image).cosine)
        .collect()
}
