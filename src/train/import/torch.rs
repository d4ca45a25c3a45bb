//! `PyTorch`'s zip archives: `torch.save` since 1.6 and `torch.jit.save`, of which `OpenAI`'s own files are one.
//!
//! An archive holds `NAME/data.pkl`, which describes the tensors, and `NAME/data/KEY` with the values of each storage.
//!
//! The crate `pytorch-reader` reads many more files, but not these two as they must be read here: it refuses modules of
//! `TorchScript`, passes over calls that no tensor needs, and takes the last of two tensors of one name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::pickle::{self, PickleLeaves, PickledTensor};
use super::tensor_file::{TensorFile, unreadable};
use crate::error::{Error, Result, refuse, refuse_if};
use crate::weights::original::{Entry, n_values};

/// Largest pickle that is read; that of ViT-B/32 has 0.1 MB.
const MAX_PICKLE_BYTES: u64 = 16 << 20;

/// The member that describes the tensors.
const PICKLE_MEMBER: &str = "data.pkl";

/// Open zip archive, with the tensors that its pickle describes.
#[derive(Debug)]
pub(super) struct TorchArchive {
    path: PathBuf,
    zip: ZipArchive<BufReader<File>>,
    /// Path of the folder that holds `data.pkl`, with the slash.
    root: String,
    entries: BTreeMap<String, Entry>,
    leaves: PickleLeaves,
}

impl TorchArchive {
    /// Reads the archive's directory and its pickle.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let invalid = |reason: String| Error::Weights(format!("{}: {reason}", path.display()));
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        let zip = ZipArchive::new(BufReader::new(file));
        let mut zip = zip.map_err(|error| invalid(format!("not a whole zip archive: {error}")))?;
        let root = root(&zip).map_err(invalid)?;
        let pickle = member(
            &mut zip,
            &format!("{root}{PICKLE_MEMBER}"),
            MAX_PICKLE_BYTES,
        );
        let pickle = pickle.map_err(invalid)?;
        let leaves = pickle::read(&pickle).map_err(|error| invalid(error.to_string()))?;
        let mut archive = Self {
            path: path.to_owned(),
            zip,
            root,
            entries: BTreeMap::new(),
            leaves,
        };
        let entries = archive.check();
        archive.entries = entries.map_err(|error| invalid(error.to_string()))?;
        Ok(archive)
    }

    /// Every tensor must lie within its storage, and every storage in its member.
    fn check(&mut self) -> Result<BTreeMap<String, Entry>> {
        let mut entries = BTreeMap::new();
        for (name, tensor) in &self.leaves.tensors {
            let storage = &tensor.storage;
            let invalid = |reason: String| Error::Weights(format!("{name}: {reason}"));
            let member_name = format!("{}data/{}", self.root, storage.key);
            let member = self.zip.by_name(&member_name);
            let member = member.map_err(|error| invalid(format!("{member_name}: {error}")))?;
            let (stored, found) = (member.compressed_size(), member.size());
            refuse_if!(
                stored != found,
                "{name}: {member_name} has {stored} bytes in the archive, expected all {found}, stored as they are"
            );
            let (n, each) = (storage.n_values, storage.dtype.bytes());
            let is_whole = each
                .checked_mul(n)
                .is_some_and(|bytes| bytes as u64 == found);
            refuse_if!(
                !is_whole,
                "{name}: {member_name} has {found} bytes, expected {n} values of {each} bytes"
            );
            check_extent(name, tensor)?;
            let (dtype, shape) = (storage.dtype, tensor.shape.clone());
            entries.insert(name.clone(), Entry { dtype, shape });
        }
        Ok(entries)
    }
}

impl TensorFile for TorchArchive {
    fn entries(&self) -> &BTreeMap<String, Entry> {
        &self.entries
    }

    fn read(&mut self, name: &str) -> Result<Vec<f32>> {
        let invalid =
            |reason: String| Error::Weights(format!("{}: {name}: {reason}", self.path.display()));
        let Some(tensor) = self.leaves.tensors.get(name) else {
            refuse!("{name}: missing");
        };
        let storage = &tensor.storage;
        let member_name = format!("{}data/{}", self.root, storage.key);
        let bytes = member(&mut self.zip, &member_name, u64::MAX).map_err(invalid)?;
        let values = storage.dtype.decode(name, &bytes)?;
        Ok(gather(values, tensor))
    }

    fn integer(&self, name: &str) -> Option<usize> {
        let number = self.leaves.integers.get(name)?;
        usize::try_from(*number).ok()
    }
}

/// The folder of the one `data.pkl`.
fn root(zip: &ZipArchive<BufReader<File>>) -> Result<String, String> {
    let names = zip.file_names();
    let roots = names.filter_map(|name| Some(name.ok()?.strip_suffix(PICKLE_MEMBER)?.to_owned()));
    let mut roots = roots.filter(|root| root.ends_with('/') && root.matches('/').count() == 1);
    match (roots.next(), roots.next()) {
        (Some(root), None) => Ok(root),
        (None, _) => Err("no data.pkl in the archive, expected a file of torch.save".to_owned()),
        (Some(_), Some(_)) => Err("several data.pkl in the archive, expected one".to_owned()),
    }
}

/// The bytes of a member, which must be stored as it is; the crate checks its CRC.
fn member(
    zip: &mut ZipArchive<BufReader<File>>,
    name: &str,
    max_bytes: u64,
) -> Result<Vec<u8>, String> {
    let mut member = zip
        .by_name(name)
        .map_err(|error| format!("{name}: {error}"))?;
    let size = member.size();
    if size > max_bytes {
        return Err(format!(
            "{name}: {size} bytes, expected at most {max_bytes}"
        ));
    }
    let mut bytes = Vec::new();
    let read = member.read_to_end(&mut bytes);
    read.map_err(|error| format!("{name}: {error}"))?;
    let found = bytes.len();
    if found as u64 != size {
        return Err(format!("{name}: {found} bytes, expected {size}"));
    }
    Ok(bytes)
}

/// A tensor may show a part of its storage, but never more values than it has.
pub(super) fn check_extent(name: &str, tensor: &PickledTensor) -> Result<()> {
    let PickledTensor {
        storage,
        offset,
        shape,
        strides,
    } = tensor;
    let (n_values, n_stored) = (n_values(name, shape)?, storage.n_values);
    let last = shape
        .iter()
        .zip(strides)
        .try_fold(*offset, |last, (size, stride)| {
            size.saturating_sub(1)
                .checked_mul(*stride)?
                .checked_add(last)
        });
    let fits = shape.len() == strides.len()
        && n_values <= n_stored
        && (n_values == 0 || last.is_some_and(|last| last < n_stored));
    refuse_if!(
        !fits,
        "{name}: shape {shape:?} with strides {strides:?} from {offset} leaves its storage of {n_stored} values"
    );
    Ok(())
}

/// The tensor's values in row-major order.
pub(super) fn gather(values: Vec<f32>, tensor: &PickledTensor) -> Vec<f32> {
    let PickledTensor {
        offset,
        shape,
        strides,
        ..
    } = tensor;
    let n_values: usize = shape.iter().product();
    if is_contiguous(shape, strides) && *offset == 0 && n_values == values.len() {
        return values;
    }
    let position = |index: usize| {
        let (mut rest, mut position) = (index, *offset);
        for (size, stride) in shape.iter().zip(strides).rev() {
            position += rest % size * stride;
            rest /= size;
        }
        position
    };
    (0..n_values).map(|index| values[position(index)]).collect()
}

fn is_contiguous(shape: &[usize], strides: &[usize]) -> bool {
    let mut expected = 1;
    shape.iter().zip(strides).rev().all(|(size, stride)| {
        let fits = *size == 1 || *stride == expected;
        expected *= size;
        fits
    })
}
