//! What the page is built with: found on the machine, or installed at the version this project was built with.

use std::fs;

use super::shell;

const WASM_TARGET: &str = "wasm32-unknown-unknown";
const TRUNK_VERSION: &str = "0.21.14";
const AXE_VERSION: &str = "4.14.1";

/// Sees to everything that building the page needs.
pub(crate) fn ensure_page_tools() -> Result<(), String> {
    ensure_wasm_target()?;
    ensure_wasm_bindgen()?;
    ensure("trunk", "trunk", TRUNK_VERSION, &["--locked"])
}

/// Sees to the `wasm32-unknown-unknown` target.
pub(crate) fn ensure_wasm_target() -> Result<(), String> {
    let sysroot =
        shell::output_of("rustc", &["--print", "sysroot"]).ok_or("rustc was not found")?;
    if fs::exists(format!("{sysroot}/lib/rustlib/{WASM_TARGET}")).unwrap_or(false) {
        return Ok(());
    }
    println!("adding the target {WASM_TARGET}");
    shell::succeed(&mut shell::program(
        "rustup",
        &["target", "add", WASM_TARGET],
    ))
}

/// Sees to wasm-bindgen's programs at exactly the version that the crate is locked to.
pub(crate) fn ensure_wasm_bindgen() -> Result<(), String> {
    let lock = fs::read_to_string(shell::root().join("Cargo.lock"))
        .map_err(|e| format!("Cargo.lock: {e}"))?;
    let version = locked_version(&lock, "wasm-bindgen")
        .ok_or("Cargo.lock names no version of wasm-bindgen")?;
    // Without `--locked`: the lock file of this release names a version that was withdrawn.
    ensure("wasm-bindgen", "wasm-bindgen-cli", version, &[])
}

/// Sees to axe-core, which looks for obstacles to assistive technology in the built page.
pub(crate) fn ensure_axe() -> Result<(), String> {
    if shell::root()
        .join("node_modules/axe-core/axe.min.js")
        .exists()
    {
        return Ok(());
    }
    if shell::find_program(&["npm"]).is_none() {
        return Err("no npm on the path to fetch axe-core with".to_owned());
    }
    let package = format!("axe-core@{AXE_VERSION}");
    shell::succeed(&mut shell::program(
        "npm",
        &[
            "install",
            "--silent",
            "--no-save",
            "--no-package-lock",
            &package,
        ],
    ))
}

fn ensure(program: &str, package: &str, version: &str, flags: &[&str]) -> Result<(), String> {
    let found = shell::output_of(program, &["--version"]);
    if found
        .as_deref()
        .is_some_and(|text| text.split_whitespace().any(|word| word == version))
    {
        return Ok(());
    }
    println!("installing {package} {version}; this takes some minutes, once");
    let folder = shell::tools_folder();
    let mut install = shell::program(
        "cargo",
        &[
            "install",
            "--quiet",
            package,
            "--version",
            version,
            "--force",
            "--root",
        ],
    );
    // Its own temporary build folder: the project's would keep the tool's intermediate files for ever.
    install
        .arg(&folder)
        .args(flags)
        .env_remove("CARGO_TARGET_DIR");
    shell::succeed(&mut install)
}

fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, after) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    after.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locked_version_is_that_of_the_whole_name() {
        let lock = "[[package]]\nname = \"wasm-bindgen-futures\"\nversion = \"0.4.1\"\n\n[[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(
            locked_version(lock, "wasm-bindgen"),
            Some("0.2.130"),
            "wasm-bindgen itself"
        );
        assert_eq!(
            locked_version(lock, "leptos"),
            None,
            "a package that is not there"
        );
    }
}
