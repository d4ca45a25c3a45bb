//! The licences of everything in the release, as one text.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::file::{path_error, text};
use crate::xtask::shell;

/// The crates that are linked into the page's programs: the features of both engines, which include the page's.
const TREE: &str = "tree --locked --edges normal,no-proc-macro --target wasm32-unknown-unknown --no-default-features \
    --features web,webgpu --prefix none --format {p}|{l}|{r}";
/// Beginnings of the names of files with the terms of a crate.
const TERMS: [&str; 6] = [
    "LICENSE",
    "LICENCE",
    "COPYING",
    "COPYRIGHT",
    "NOTICE",
    "UNLICENSE",
];
/// Terms of the picture by which engines know `OpenAI`'s image encoder.
const PUBLISHED_TERMS: &str = "src/inference/vit_b_32.LICENSE";
const HEAD: &str = "\
Kappascope is made of the work of many. This file names it and holds its terms.

Kappascope itself: MIT OR Apache-2.0; both texts are below.
The model of scenes, its drawings, recorded answers and lessons: as Kappascope.
The model of photographs: models/photos/NOTICE and models/photos/LICENSE-APACHE.
Photographs: gallery-photos/CREDITS and gallery-photos/CREDITS-wall.
Rust's standard library: MIT OR Apache-2.0, https://github.com/rust-lang/rust

The programs of the page hold these packages:
";

/// A package: its name and version, its licence, where it comes from, and the texts beside its sources.
struct Package {
    name: String,
    license: String,
    repository: String,
    terms: Vec<String>,
}

/// Names and terms of everything in the page.
pub(super) fn text_of_all() -> Result<String, String> {
    let words: Vec<&str> = TREE.split_whitespace().collect();
    let tree = shell::output_of("cargo", &words).ok_or("cargo tree does not answer")?;
    let folders = registry_folders()?;
    let lines: BTreeSet<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    let mut packages = Vec::new();
    for line in lines {
        let parts: Vec<&str> = line.split('|').collect();
        let [package, license, repository] = parts[..] else {
            return Err(format!("cargo tree: expected three parts in {line}"));
        };
        let words: Vec<&str> = package.split(' ').collect();
        let [name, version, ..] = words[..] else {
            return Err(format!(
                "cargo tree: expected a name and a version in {package}"
            ));
        };
        if name == env!("CARGO_PKG_NAME") {
            continue;
        }
        let name = format!("{name}-{}", version.trim_start_matches('v'));
        let folder = folders
            .iter()
            .map(|folder| folder.join(&name))
            .find(|folder| folder.is_dir());
        let folder =
            folder.ok_or_else(|| format!("{name}: its sources are not in Cargo's registry"))?;
        packages.push(Package {
            terms: terms_in(&folder)?,
            license: license.to_owned(),
            repository: repository.to_owned(),
            name,
        });
    }
    let own = ["LICENSE-MIT", "LICENSE-APACHE", PUBLISHED_TERMS];
    let [mit, apache, published] = own.map(|name| text(&shell::root().join(name)));
    packages.push(Package {
        name: "CLIP.png, a square of it".to_owned(),
        license: "MIT".to_owned(),
        repository: "https://github.com/openai/CLIP".to_owned(),
        terms: vec![published?],
    });
    packages.push(Package {
        name: "kappascope".to_owned(),
        license: "MIT OR Apache-2.0".to_owned(),
        repository: "this page".to_owned(),
        terms: vec![mit?, apache?],
    });
    Ok(written(&packages))
}

/// One list of the packages, then each text once, under the names of those whose it is.
fn written(packages: &[Package]) -> String {
    let mut text = HEAD.to_owned();
    let mut holders: BTreeMap<String, (&str, Vec<&str>)> = BTreeMap::new();
    for Package {
        name,
        license,
        repository,
        terms,
    } in packages
    {
        text += &format!("* {name}: {license}, {repository}\n");
        for terms in terms {
            // Copies differ in their line breaks and spaces.
            let words: Vec<&str> = terms.split_whitespace().collect();
            holders
                .entry(words.join(" "))
                .or_insert((terms, Vec::new()))
                .1
                .push(name);
        }
    }
    for (terms, names) in holders.values() {
        text += &format!(
            "\n{}\n{}\n\n{}\n",
            "=".repeat(80),
            names.join(", "),
            terms.trim()
        );
    }
    text
}

/// The texts with terms beside a crate's sources.
fn terms_in(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|e| path_error(folder, &e))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let has_terms = |path: &PathBuf| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_uppercase();
        path.is_file() && TERMS.iter().any(|beginning| name.starts_with(beginning))
    };
    let mut paths: Vec<PathBuf> = paths.filter(has_terms).collect();
    paths.sort();
    let read = |path: &PathBuf| fs::read(path).map_err(|e| path_error(path, &e));
    paths
        .iter()
        .map(|path| read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
        .collect()
}

/// Folders in which Cargo unpacks the sources of packages.
fn registry_folders() -> Result<Vec<PathBuf>, String> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let sources = home
        .ok_or("neither CARGO_HOME nor HOME is set")?
        .join("registry/src");
    let entries = fs::read_dir(&sources).map_err(|e| path_error(&sources, &e))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_only_in_spaces_are_written_once() {
        let package = |name: &str, terms: &str| Package {
            name: name.to_owned(),
            license: "MIT".to_owned(),
            repository: "https://example.org".to_owned(),
            terms: vec![terms.to_owned()],
        };
        let all = [
            package("a-1", "Do what\nyou like."),
            package("b-2", "Do what you like.\n"),
        ];
        let text = written(&all);
        assert_eq!(text.matches("you like.").count(), 1, "{text}");
        assert!(text.contains("\na-1, b-2\n\nDo what"), "{text}");
        assert!(text.contains("* b-2: MIT, https://example.org\n"), "{text}");
    }
}
