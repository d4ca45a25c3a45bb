//! `cargo xtask format`, and the step that checks formatting.

use std::fs;
use std::path::{Path, PathBuf};

use super::shell;

/// Folder of the views' components. Their modules are declared by the table of views, a macro, and `cargo fmt` passes
/// over what a macro declares.
const VIEWS: &str = "src/ui/views";

/// Formats every file of the crate.
pub(crate) fn write() -> Result<(), String> {
    run(&[])
}

/// Fails if a file of the crate is not formatted.
pub(crate) fn check() -> Result<(), String> {
    run(&["--check"]).map_err(|failed| format!("{failed}; `cargo xtask format` formats"))
}

fn run(options: &[&str]) -> Result<(), String> {
    shell::succeed(shell::program("cargo", &["fmt"]).args(options))?;
    let mut rustfmt = shell::program("rustfmt", &["--edition", "2024"]);
    shell::succeed(rustfmt.args(options).args(components()?))
}

/// Files below which the components of the views lie, one for each view.
fn components() -> Result<Vec<PathBuf>, String> {
    let folder = shell::root().join(VIEWS);
    let failed = |error| format!("{VIEWS}: {error}");
    let mut roots = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if !path.ends_with("mod.rs") {
            roots.push(root_of(path));
        }
    }
    roots.sort();
    Ok(roots)
}

/// The file of a module that is a file or a folder.
fn root_of(path: PathBuf) -> PathBuf {
    let inside = Path::new(&path).join("mod.rs");
    if inside.exists() { inside } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_view_s_component_is_formatted() {
        let roots = components().expect("the folder of views");
        let is_a_root = |name: &str| roots.iter().any(|root| root.ends_with(name));
        assert!(is_a_root("ladder.rs"), "a file: {roots:?}");
        assert!(is_a_root("teach/mod.rs"), "a folder: {roots:?}");
        assert!(roots.iter().all(|root| root.is_file()), "{roots:?}");
    }
}
