//! The release as a folder: what of the built page is in it, under which names, and what is added.

use std::fs;
use std::path::Path;

use super::file::{Listed, REGISTRATION, path_error, paths_in, read, text};
use super::index;
use super::licences;
use super::sha256::{base64, sha256, short_hex};
use crate::xtask::{page, shell};

/// Folder of the release.
const RELEASE: &str = "dist-release";
/// Files of the release that the built page does not have.
const ADDED: [&str; 4] = ["app.webmanifest", "icon.png", REGISTRATION, SERVICE_WORKER];
const SERVICE_WORKER: &str = "service-worker.js";
/// Programs and scripts whose names the build leaves without their content.
const UNHASHED: [&str; 5] = [
    "engine_cpu.js",
    "engine_cpu_bg.wasm",
    "engine_gpu.js",
    "engine_gpu_bg.wasm",
    REGISTRATION,
];
/// Files that the page does not need to open: they are kept when they are first used. Weights engines keep themselves.
const ON_DEMAND: [&str; 6] = [
    "engine_",
    "models/",
    "evidence/",
    "LICENSES.txt",
    "gallery-photos/CREDITS",
    "icon.png",
];
/// Models that a developer has imported lie beside those of the page, and are not part of it.
const IMPORTED: &str = "models/clip-";
/// Mark that trunk leaves where it did not fill something in.
const PLACEHOLDER: &str = "{{__";

/// Builds the page and writes the release.
pub(crate) fn build() -> Result<(), String> {
    page::build()?;
    write()
}

/// Writes the release of the page as it lies in `dist/`.
pub(crate) fn write() -> Result<(), String> {
    let (built, added) = (
        shell::root().join("dist"),
        shell::root().join("public/release"),
    );
    let folder = shell::root().join(RELEASE);
    let files = release(&built, &added, &folder, &licences::text_of_all()?)?;
    let bytes: usize = files.iter().map(|(_, n_bytes)| n_bytes).sum();
    println!(
        "{RELEASE}/ holds {} files, {} MB",
        files.len(),
        bytes / 1_000_000
    );
    Ok(())
}

/// Writes the release of a built page into a folder, in place of what was there; its files with their sizes.
fn release(
    built: &Path,
    added: &Path,
    folder: &Path,
    licences: &str,
) -> Result<Vec<(Listed, usize)>, String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|e| path_error(folder, &e))?;
    }
    let mut files = Vec::new();
    for path in paths_in(built)? {
        let is_left_out =
            path == "index.html" || path.ends_with("_loader.js") || path.starts_with(IMPORTED);
        if !is_left_out {
            files.push(put(folder, &path, &read(&built.join(&path))?)?);
        }
    }
    for name in ADDED.into_iter().filter(|name| *name != SERVICE_WORKER) {
        files.push(put(folder, name, &read(&added.join(name))?)?);
    }
    files.push(put(folder, "LICENSES.txt", licences.as_bytes())?);
    let listed: Vec<Listed> = files.iter().map(|(listed, _)| listed.clone()).collect();
    let html = index::released(&text(&built.join("index.html"))?, &listed)?;
    files.push(put(folder, "index.html", html.as_bytes())?);
    let worker = service_worker(&text(&added.join(SERVICE_WORKER))?, &files)?;
    put(folder, SERVICE_WORKER, worker.as_bytes())?;
    Ok(files)
}

/// Writes a file of the release under its name there.
fn put(folder: &Path, built: &str, content: &[u8]) -> Result<(Listed, usize), String> {
    let is_text = [".html", ".js", ".css"]
        .iter()
        .any(|ending| built.ends_with(ending));
    if is_text && page::contains(content, PLACEHOLDER) {
        return Err(format!(
            "{built} holds {PLACEHOLDER}, which only `trunk serve` fills in"
        ));
    }
    let digest = sha256(content);
    let path = match UNHASHED.contains(&built) {
        true => named_by_content(built, &short_hex(&digest)),
        false => built.to_owned(),
    };
    let to = folder.join(&path);
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(|e| path_error(parent, &e))?;
    }
    fs::write(&to, content).map_err(|e| path_error(&to, &e))?;
    let (built, hash) = (built.to_owned(), base64(&digest));
    Ok((Listed { built, path, hash }, content.len()))
}

/// The name of a program with the first digits of its hash: `engine_cpu_bg.wasm` as
/// `engine_cpu_bg-0123456789abcdef.wasm`.
fn named_by_content(name: &str, hash: &str) -> String {
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    format!("{stem}-{hash}.{ending}")
}

/// The service worker with the list of what it keeps.
fn service_worker(source: &str, files: &[(Listed, usize)]) -> Result<String, String> {
    // The page itself is asked for by the name of its folder; parts of weights are kept by the engines.
    let path = |listed: &Listed| match &*listed.path {
        "index.html" => String::new(),
        path => path.to_owned(),
    };
    let kept = files.iter().map(|(listed, _)| listed);
    let kept = kept.filter(|listed| !listed.path.ends_with(".safetensors"));
    let all: Vec<String> = kept
        .clone()
        .map(|listed| format!("  {:?}: {:?}", path(listed), listed.hash))
        .collect();
    let shell: Vec<String> = kept
        .filter(|listed| {
            !ON_DEMAND
                .iter()
                .any(|beginning| listed.path.starts_with(beginning))
        })
        .map(|listed| format!("  {:?}", path(listed)))
        .collect();
    let lists = [
        (
            "const FILES = {};",
            format!("const FILES = {{\n{}\n}};", all.join(",\n")),
        ),
        (
            "const SHELL = [];",
            format!("const SHELL = [\n{}\n];", shell.join(",\n")),
        ),
    ];
    let mut filled = source.to_owned();
    for (empty, full) in lists {
        if !filled.contains(empty) {
            return Err(format!("{SERVICE_WORKER}: expected {empty}"));
        }
        filled = filled.replace(empty, &full);
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const PAGE: &str = "<html><head><meta charset=\"utf-8\"></head><body></body></html>";
    const ENGINES: [&str; 4] = [
        "engine_cpu.js",
        "engine_cpu_bg.wasm",
        "engine_gpu.js",
        "engine_gpu_bg.wasm",
    ];

    /// A folder that is removed when the test ends.
    struct ReleaseFolder(PathBuf);

    impl Drop for ReleaseFolder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).ok();
        }
    }

    /// A page as the build leaves it, in a folder that is removed when the test ends.
    fn built(test: &str, engine: &str) -> ReleaseFolder {
        let name = format!("kappascope-{test}-{}", std::process::id());
        let folder = ReleaseFolder(std::env::temp_dir().join(name));
        let write = |path: &str, content: &str| {
            let path = folder.0.join("dist").join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder for the test");
            fs::write(path, content).expect("a file for the test");
        };
        write("index.html", PAGE);
        ENGINES.iter().for_each(|name| write(name, engine));
        write("app-123_bg.wasm", "app");
        write("app-123.js", "app");
        write("app-123_later.wasm", "app");
        write("app-123_parts.js", "app");
        write("engine_cpu_loader.js", "loader");
        write("models/clip-vit-b-32/manifest.json", "{}");
        for world in ["photos", "scenes"] {
            write(&format!("models/{world}/manifest.json"), "{}");
            write(&format!("models/{world}/text.safetensors"), "weights");
        }
        folder
    }

    fn released(folder: &ReleaseFolder) -> Vec<Listed> {
        let added = shell::root().join("public/release");
        let to = folder.0.join("release");
        let files = release(&folder.0.join("dist"), &added, &to, "terms").expect("a release");
        files.into_iter().map(|(listed, _)| listed).collect()
    }

    #[test]
    fn engines_are_named_by_their_content_and_nothing_of_a_developer_s_is_released() {
        let folder = built("names", "one");
        let files = released(&folder);
        let named = |name: &str| {
            let found = files.iter().find(|listed| listed.built == name);
            found.map(|listed| listed.path.clone())
        };
        let hash = short_hex(&sha256(b"one"));
        let program = named("engine_cpu_bg.wasm");
        assert_eq!(
            program,
            Some(format!("engine_cpu_bg-{hash}.wasm")),
            "the program"
        );
        assert_eq!(named("engine_cpu_loader.js"), None, "trunk's loader");
        assert_eq!(
            named("models/clip-vit-b-32/manifest.json"),
            None,
            "an imported model"
        );
        let on_disk = paths_in(&folder.0.join("release")).expect("a folder");
        assert_eq!(
            on_disk.len(),
            files.len() + 1,
            "and the service worker: {on_disk:?}"
        );
    }

    #[test]
    fn the_service_worker_lists_every_file_but_weights_and_opens_with_few() {
        let folder = built("worker", "one");
        let files = released(&folder);
        let worker =
            text(&folder.0.join("release").join(SERVICE_WORKER)).expect("a service worker");
        let (all, shell) = worker.split_once("const SHELL").expect("two lists");
        for listed in files {
            let name = match &*listed.path {
                "index.html" => "\"\"".to_owned(),
                path => format!("\"{path}\""),
            };
            let is_weights = name.ends_with(".safetensors\"");
            assert_eq!(
                all.contains(&format!("{name}: {:?}", listed.hash)),
                !is_weights,
                "{name}"
            );
            let opens = ["\"\"", "app", "registration", "favicon"];
            let is_shell = opens
                .iter()
                .any(|part| name == *part || name.contains(part));
            assert_eq!(shell.contains(&format!("  {name}")), is_shell, "{name}");
        }
    }

    #[test]
    fn another_engine_makes_another_page_and_another_service_worker() {
        let read = |folder: &ReleaseFolder, name: &str| {
            text(&folder.0.join("release").join(name)).expect(name)
        };
        let (one, two) = (built("first", "one"), built("second", "two"));
        released(&one);
        released(&two);
        for name in ["index.html", SERVICE_WORKER] {
            assert_ne!(read(&one, name), read(&two, name), "{name}");
        }
    }

    #[test]
    fn no_address_leaves_the_page_s_folder() {
        let folder = built("addresses", "one");
        for listed in released(&folder) {
            assert!(!listed.address().starts_with(['/', '.']), "{listed:?}");
        }
        let html = text(&folder.0.join("release/index.html")).expect("a page");
        for part in ["href=\"/", "src=\"/", "content=\"/"] {
            assert!(!html.contains(part), "{part} in {html}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_container_has_browsers_keep_what_is_named_by_its_content() {
        let recipe = text(&shell::root().join("Caddyfile")).expect("a file of the repository");
        let (_, pattern) = recipe
            .split_once("@named path_regexp ")
            .expect("a rule about names");
        let pattern = pattern.lines().next().unwrap_or_default();
        let others = format!("@unnamed not path_regexp {pattern}\n");
        assert!(recipe.contains(&others), "all others: {recipe}");
        let is_kept = |path: &str| {
            let script = "printf '%s' \"$0\" | grep -E -e \"$1\"";
            shell::output_of("sh", &["-c", script, path, pattern]).is_some()
        };
        let hash = short_hex(&sha256(b"one"));
        for name in UNHASHED.map(|name| named_by_content(name, &hash)) {
            assert!(is_kept(&format!("/{name}")), "{name}");
        }
        for of_trunk in [
            "/app-HASH_bg.wasm",
            "/app-HASH_later.wasm",
            "/app-HASH_parts.js",
            "/style-HASH.css",
        ] {
            let of_trunk = of_trunk.replace("HASH", &hash);
            assert!(is_kept(&of_trunk), "{of_trunk}");
        }
        for name in ["", "index.html", SERVICE_WORKER, "app.webmanifest"]
            .into_iter()
            .chain(UNHASHED)
        {
            assert!(!is_kept(&format!("/{name}")), "{name}");
        }
    }

    #[test]
    fn what_trunk_did_not_fill_in_is_refused() {
        let folder = built("placeholder", "{{__TRUNK_ADDRESS__}}");
        let to = folder.0.join("release");
        let added = shell::root().join("public/release");
        let refused = release(&folder.0.join("dist"), &added, &to, "terms");
        assert!(
            refused.is_err_and(|reason| reason.contains("engine_cpu.js")),
            "it is named"
        );
    }
}
