//! A model as a folder: opening one natively, and the records that go into it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::device::Device;
use crate::error::Error;
use crate::inference::{CPU_TOLERANCE, SelfTest, Session, Source};
use crate::model::parameters::{NamedTensor, Parameters, TensorRecord};
use crate::train::files::read_manifest;
use crate::weights::manifest::{FileEntry, Manifest};

/// Files beside a manifest.
#[derive(Debug)]
pub struct FolderSource(PathBuf);

impl Source for FolderSource {
    async fn read(&self, entry: &FileEntry) -> crate::error::Result<Vec<u8>> {
        let path = self.0.join(&entry.file);
        std::fs::read(&path).map_err(|error| Error::Io {
            path: path.display().to_string(),
            reason: error.to_string(),
        })
    }
}

/// Opens a model folder and tests it against its golden values.
///
/// # Errors
///
/// Files are missing or differ from the manifest, or the golden values are not met.
pub fn open(folder: &Path, device: &Device) -> Result<Session> {
    Ok(open_tested(folder, device)?.0)
}

/// Opens a model folder; returns it with the outcome of its self-test on the golden values.
///
/// # Errors
///
/// As [`open`].
pub fn open_tested(folder: &Path, device: &Device) -> Result<(Session, SelfTest)> {
    let session = open_untested(read_manifest(folder)?, folder, device)?;
    let golden = session.manifest().golden.as_ref();
    let golden = golden.context("the manifest holds no golden values")?;
    let golden = std::fs::read(folder.join(&golden.image.file))?;
    let test = pollster::block_on(session.self_test(&golden, CPU_TOLERANCE))?;
    let (error, tolerance) = (test.max_relative_error, test.tolerance);
    anyhow::ensure!(
        test.passed(),
        "the model's golden values are missed by {error:.1e} of their size, {tolerance:.0e} is allowed"
    );
    Ok((session, test))
}

/// Opens a model whose golden values are not known yet.
pub(in crate::train) fn open_untested(
    manifest: Manifest,
    folder: &Path,
    device: &Device,
) -> Result<Session> {
    let source = FolderSource(folder.to_owned());
    let session = Session::open(manifest, &source, device, |_, _, _| {});
    Ok(pollster::block_on(session)?)
}

/// A module's parameters on the host, in the layout of its file.
///
/// # Errors
///
/// The device fails.
pub fn records(module: &impl Parameters) -> Result<Vec<TensorRecord>> {
    let on_host = |tensor: NamedTensor| {
        Ok(TensorRecord {
            values: tensor.values.into_data().try_into_vec::<f32>()?,
            name: tensor.name,
            shape: tensor.shape,
        })
    };
    module.named_tensors().into_iter().map(on_host).collect()
}
