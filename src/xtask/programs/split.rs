//! The page's program in two: what the page opens with, and what `src/bin/app.rs` has come later.
//!
//! Trunk builds one program. What the compiler made of it is split, and the parts are put where trunk put the whole.

use std::fs;
use std::path::Path;

use super::reorder::with_like_beside_like;
use crate::xtask::dist::file::{path_error, paths_in, read, text, write};
use crate::xtask::dist::sha256::{base64, sha256, short_hex};
use crate::xtask::shell;

/// What the compiler made of the page, in its target folder.
const COMPILED: &str = "wasm32-unknown-unknown/page/app.wasm";
/// Names that the splitter gives to the part that comes later, and to the script that loads it.
const LATER: &str = "split_later.wasm";
const LOADER: &str = "__wasm_split.js";

/// Puts the program's two parts in place of the whole that trunk has just built.
pub(super) fn split(staged: &Path) -> Result<(), String> {
    let parts = shell::target_folder().join("split");
    if parts.exists() {
        fs::remove_dir_all(&parts).map_err(|e| path_error(&parts, &e))?;
    }
    let compiled = shell::target_folder().join(COMPILED);
    let mut splitter = shell::program("wasm-split-cli", &["--out-name", "app"]);
    shell::succeed(splitter.args([&compiled, &parts]))?;
    let mut bindgen = shell::program("wasm-bindgen", &["--target", "web", "--no-typescript"]);
    bindgen.args(["--remove-name-section", "--remove-producers-section"]);
    // The other part imports the table of functions.
    bindgen.arg("--keep-lld-exports");
    bindgen.arg("--out-dir").arg(&parts);
    shell::succeed(bindgen.arg(parts.join("app.wasm")))?;
    replace(staged, &parts)
}

/// Replaces the program that was staged by its parts, named by their content, and has the page ask for these.
fn replace(staged: &Path, parts: &Path) -> Result<(), String> {
    let built = paths_in(staged)?;
    let whole = built.iter().find_map(|path| {
        let name = path.strip_prefix("app-")?;
        name.strip_suffix("_bg.wasm")
    });
    let whole = whole.ok_or("dist: expected app-…_bg.wasm")?;
    let program = |file: &str| {
        let program = with_like_beside_like(&read(&parts.join(file))?);
        program.map_err(|e| format!("{file}: {e}"))
    };
    let (first, later) = (program("app_bg.wasm")?, program(LATER)?);
    let name = short_hex(&sha256(&[&*first, &*later].concat()));
    let files = [
        (format!("app-{name}_bg.wasm"), first),
        (
            format!("app-{name}.js"),
            script(&text(&parts.join("app.js"))?, &name).into_bytes(),
        ),
        (
            format!("app-{name}_parts.js"),
            loader(&text(&parts.join(LOADER))?, &name, &later)?.into_bytes(),
        ),
    ];
    for ending in ["_bg.wasm", ".js"] {
        let path = staged.join(format!("app-{whole}{ending}"));
        fs::remove_file(&path).map_err(|e| path_error(&path, &e))?;
    }
    let mut page = text(&staged.join("index.html"))?.replace(whole, &name);
    page = page.replacen(
        "</head>",
        &format!("<link rel=\"modulepreload\" href=\"./app-{name}_parts.js\" crossorigin=\"anonymous\" integrity=\"\"></head>"),
        1,
    );
    for (file, content) in &files {
        page = with_integrity(&page, file, content)?;
        write(&staged.join(file), content)?;
    }
    write(&staged.join(format!("app-{name}_later.wasm")), &later)?;
    write(&staged.join("index.html"), page.as_bytes())
}

/// The script of the first part, with the names of files that stand beside it.
fn script(bound: &str, name: &str) -> String {
    // Elsewhere the loader's name is that of a module in the program, which stays.
    bound
        .replace(
            &format!("from \"./{LOADER}\""),
            &format!("from \"./app-{name}_parts.js\""),
        )
        .replace("app_bg.wasm", &format!("app-{name}_bg.wasm"))
}

/// The script that loads the other part, which takes only what was built.
fn loader(script: &str, name: &str, later: &[u8]) -> Result<String, String> {
    let asked = format!("new URL(\"./{LATER}\", import.meta.url)");
    if !script.contains(&asked) {
        return Err(format!("{LOADER}: expected {asked}"));
    }
    let hash = base64(&sha256(later));
    let asking = format!(
        "new URL(\"./app-{name}_later.wasm\", import.meta.url), {{ integrity: \"sha256-{hash}\" }}"
    );
    Ok(script
        .replace(&asked, &asking)
        .replace("\"./app.js\"", &format!("\"./app-{name}.js\"")))
}

/// The page with the hash of a file's content in the element that links it.
fn with_integrity(page: &str, file: &str, content: &[u8]) -> Result<String, String> {
    let missing = || format!("index.html: expected a link of {file} with its integrity");
    let link = format!("href=\"./{file}\"");
    let (before, after) = page.split_once(&link).ok_or_else(missing)?;
    let (between, after) = after.split_once("integrity=\"").ok_or_else(missing)?;
    let (_, after) = after.split_once('"').ok_or_else(missing)?;
    let hash = base64(&sha256(content));
    Ok(format!(
        "{before}{link}{between}integrity=\"sha256-{hash}\"{after}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_ask_for_each_other_by_their_names() {
        let bound = "import * as import1 from \"./__wasm_split.js\"\nnew URL('app_bg.wasm', here); \
            ({ \"./__wasm_split.js\": import1 })";
        let expected = "import * as import1 from \"./app-1_parts.js\"\nnew URL('app-1_bg.wasm', here); \
            ({ \"./__wasm_split.js\": import1 })";
        assert_eq!(script(bound, "1"), expected, "the first part");
        let asking = "import { initSync } from \"./app.js\"; fetch(new URL(\"./split_later.wasm\", import.meta.url))";
        let expected = format!(
            "import {{ initSync }} from \"./app-1.js\"; fetch(new URL(\"./app-1_later.wasm\", import.meta.url), \
             {{ integrity: \"sha256-{}\" }})",
            base64(&sha256(b"later"))
        );
        assert_eq!(
            loader(asking, "1", b"later"),
            Ok(expected),
            "what loads the other"
        );
        let refused = loader("", "1", b"later");
        assert!(refused.is_err(), "another splitter's: {refused:?}");
    }

    #[test]
    fn the_page_accepts_what_was_built() {
        let page = "<link href=\"./app-1.js\" integrity=\"old\"><link href=\"./app-1_bg.wasm\" integrity=\"old\">";
        let hash = base64(&sha256(b"one"));
        let expected = page.replacen("old", &format!("sha256-{hash}"), 1);
        assert_eq!(
            with_integrity(page, "app-1.js", b"one"),
            Ok(expected),
            "the first link"
        );
        let missing = with_integrity(page, "app-2.js", b"one");
        assert!(missing.is_err(), "no such link: {missing:?}");
    }
}
