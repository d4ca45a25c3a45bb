//! Public data that is not part of the project, in the folder that the variable `KAPPASCOPE_SHARED_DATA` names.
//!
//! Tests that read it are `#[ignore]`d modules named `shared_data`, which `cargo xtask test` runs where the variable is
//! set and counts as skipped where it is not.

use std::path::PathBuf;

/// A file or folder of the public data.
pub(crate) fn shared(path: &str) -> PathBuf {
    let folder = std::env::var_os("KAPPASCOPE_SHARED_DATA");
    let folder = folder.expect("KAPPASCOPE_SHARED_DATA names the folder of public data");
    PathBuf::from(folder).join(path)
}
