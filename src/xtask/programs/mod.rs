//! What becomes of the programs that trunk has built: the page's is split in two, and all are made smaller to send.

mod likeness;
mod reorder;
mod split;

use std::env;
use std::path::Path;

use super::dist::file::{read, write};

/// The engines, which trunk names by their programs alone.
const ENGINES: [&str; 2] = ["engine_cpu_bg.wasm", "engine_gpu_bg.wasm"];

/// Finishes the programs that trunk has just built; trunk does so after each build.
pub(crate) fn finish() -> Result<(), String> {
    let staged = env::var_os("TRUNK_STAGING_DIR");
    let staged = staged.ok_or("TRUNK_STAGING_DIR: expected trunk to say where the page is")?;
    let staged = Path::new(&staged);
    split::split(staged)?;
    for engine in ENGINES {
        let path = staged.join(engine);
        let program = reorder::with_like_beside_like(&read(&path)?);
        let program = program.map_err(|e| format!("{engine}: {e}"))?;
        write(&path, &program)?;
    }
    Ok(())
}
