//! Tools that build and check the page: found on the machine, or installed at the version that this project was built
//! with.

use std::fs;

use super::shell;

const WASM_TARGET: &str = "wasm32-unknown-unknown";
const TRUNK_VERSION: &str = "0.21.14";
const SPLITTER: &str = "wasm_split_cli_support";
const SPLITTER_VERSION: &str = "0.2.4";
const CARGO_DENY_VERSION: &str = "0.19.9";
const AXE_VERSION: &str = "4.14.1";

/// Installs everything that building the page needs, where it is missing.
pub(crate) fn ensure_page_tools() -> Result<(), String> {
    ensure_wasm_target()?;
    ensure_wasm_bindgen()?;
    ensure_splitter()?;
    ensure("trunk", "trunk", TRUNK_VERSION, &["--locked"])
}

/// Installs the target `wasm32-unknown-unknown` if it is missing.
pub(crate) fn ensure_wasm_target() -> Result<(), String> {
    let sysroot = shell::output_of("rustc", &["--print", "sysroot"]);
    let sysroot = sysroot.ok_or("rustc was not found")?;
    if fs::exists(format!("{sysroot}/lib/rustlib/{WASM_TARGET}")).unwrap_or(false) {
        return Ok(());
    }
    println!("adding the target {WASM_TARGET}");
    shell::succeed(&mut shell::program(
        "rustup",
        &["target", "add", WASM_TARGET],
    ))
}

/// Installs wasm-bindgen's programs at exactly the version that the crate is locked to, where they are missing.
pub(crate) fn ensure_wasm_bindgen() -> Result<(), String> {
    let lock = fs::read_to_string(shell::root().join("Cargo.lock"));
    let lock = lock.map_err(|e| format!("Cargo.lock: {e}"))?;
    let version = locked_version(&lock, "wasm-bindgen");
    let version = version.ok_or("Cargo.lock names no version of wasm-bindgen")?;
    // Without `--locked`: the lock file of this release names a version that was withdrawn.
    ensure("wasm-bindgen", "wasm-bindgen-cli", version, &[])
}

/// Installs `wasm-split-cli` where it is missing. It does not say its own version, but cargo does.
fn ensure_splitter() -> Result<(), String> {
    let root = shell::tools_folder();
    let arguments = ["install", "--list", "--root", &root.to_string_lossy()];
    let installed = shell::output_of("cargo", &arguments).unwrap_or_default();
    if installed.contains(&format!("{SPLITTER} v{SPLITTER_VERSION}:")) {
        return Ok(());
    }
    let flags = ["--locked", "--features", "build-binary"];
    install(SPLITTER, SPLITTER_VERSION, &flags)
}

/// Installs cargo-deny where it is missing, which checks the dependencies against `deny.toml`.
pub(crate) fn ensure_cargo_deny() -> Result<(), String> {
    ensure(
        "cargo-deny",
        "cargo-deny",
        CARGO_DENY_VERSION,
        &["--locked"],
    )
}

/// Installs axe-core where it is missing, which finds obstacles to assistive technology in the built page.
pub(crate) fn ensure_axe() -> Result<(), String> {
    let axe = shell::root().join("node_modules/axe-core/axe.min.js");
    if axe.exists() {
        return Ok(());
    }
    if shell::find_program(&["npm"]).is_none() {
        return Err("no npm on the path to fetch axe-core with".to_owned());
    }
    let package = format!("axe-core@{AXE_VERSION}");
    let arguments = [
        "install",
        "--silent",
        "--no-save",
        "--no-package-lock",
        &package,
    ];
    shell::succeed(&mut shell::program("npm", &arguments))
}

fn ensure(program: &str, package: &str, version: &str, flags: &[&str]) -> Result<(), String> {
    let found = shell::output_of(program, &["--version"]).unwrap_or_default();
    if found.split_whitespace().any(|word| word == version) {
        return Ok(());
    }
    install(package, version, flags)
}

fn install(package: &str, version: &str, flags: &[&str]) -> Result<(), String> {
    println!("installing {package} {version}; this takes some minutes, once");
    let arguments = [
        "install",
        "--quiet",
        package,
        "--version",
        version,
        "--force",
        "--root",
    ];
    let mut install = shell::program("cargo", &arguments);
    install.arg(shell::tools_folder()).args(flags);
    // Its own temporary build folder: the project's would keep the tool's intermediate files for ever.
    install.env_remove("CARGO_TARGET_DIR");
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
        let lock = "[[package]]\nname = \"wasm-bindgen-futures\"\nversion = \"0.4.1\"\n\n\
            [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        let version = locked_version(lock, "wasm-bindgen");
        assert_eq!(version, Some("0.2.130"), "wasm-bindgen itself");
        let none = locked_version(lock, "leptos");
        assert_eq!(none, None, "a package that is not there");
    }
}
