//! Tensors → files that no host of static pages refuses.

use std::path::Path;

use anyhow::Result;

use crate::model::parameters::TensorRecord;
use crate::train::files::put;
use crate::weights::manifest::{Part, Shard};
use crate::weights::shard::{Precision, describe, file_entry, write};

/// Greatest size of a file in bytes: the page has one in memory while it loads a model, and `GitHub` Pages refuse more
/// than 100 MB.
pub(super) const MAX_SHARD_BYTES: usize = 32_000_000;

/// Bytes of each file left for its header, of which a tensor takes some 150.
const HEADER_BYTES: usize = 1_000_000;

/// Writes the tensors of one part of a model to files, as many as it takes.
#[derive(Debug)]
pub(super) struct ShardWriter<'a> {
    folder: &'a Path,
    stem: &'static str,
    part: Part,
    precision: Precision,
    max_bytes: usize,
    pending: Vec<TensorRecord>,
    pending_bytes: usize,
    shards: Vec<Shard>,
}

impl<'a> ShardWriter<'a> {
    /// Files will be called `STEM-1.safetensors` and so on.
    pub(super) fn new(
        folder: &'a Path,
        stem: &'static str,
        part: Part,
        precision: Precision,
    ) -> Self {
        Self {
            folder,
            stem,
            part,
            precision,
            max_bytes: MAX_SHARD_BYTES - HEADER_BYTES,
            pending: Vec::new(),
            pending_bytes: 0,
            shards: Vec::new(),
        }
    }

    /// Takes a tensor; one that is larger than a file is cut by rows.
    pub(super) fn push(&mut self, record: TensorRecord) -> Result<()> {
        let bytes = self.precision.tensor_bytes(&record.name, &record.shape);
        if bytes > self.max_bytes && record.shape.len() >= 2 {
            let row_bytes = bytes.div_ceil(record.shape[0]);
            let n_rows = (self.max_bytes / row_bytes).max(1);
            return pieces(record, n_rows)
                .into_iter()
                .try_for_each(|piece| self.push(piece));
        }
        if self.pending_bytes + bytes > self.max_bytes {
            self.flush()?;
        }
        self.pending.push(record);
        self.pending_bytes += bytes;
        Ok(())
    }

    /// Writes what is left and returns the manifest's entries.
    pub(super) fn finish(mut self) -> Result<Vec<Shard>> {
        self.flush()?;
        Ok(self.shards)
    }

    fn flush(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let file = format!("{}-{}.safetensors", self.stem, self.shards.len() + 1);
        let bytes = write(&self.pending, self.precision)?;
        put(&self.folder.join(&file), &bytes)?;
        self.shards.push(Shard {
            part: self.part,
            entry: file_entry(&file, &bytes),
            tensors: describe(&bytes)?,
        });
        self.pending.clear();
        self.pending_bytes = 0;
        Ok(())
    }
}

/// A tensor in groups of `n_rows` rows, the last one perhaps smaller.
fn pieces(record: TensorRecord, n_rows: usize) -> Vec<TensorRecord> {
    let row_width: usize = record.shape[1..].iter().product();
    let piece = |values: &[f32]| {
        let mut shape = record.shape.clone();
        shape[0] = values.len() / row_width;
        TensorRecord {
            name: record.name.clone(),
            shape,
            values: values.to_vec(),
        }
    };
    record
        .values
        .chunks(n_rows * row_width)
        .map(piece)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::shard::{join, read};

    #[test]
    fn tensors_fill_files_and_a_large_one_is_cut_by_rows() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let folder = folder.path();
        let record = |name: &str, n_rows: u8| TensorRecord {
            name: name.to_owned(),
            shape: vec![n_rows.into(), 2],
            values: (0..2 * n_rows).map(f32::from).collect(),
        };
        let records = vec![record("a", 2), record("b", 5), record("c", 1)];
        let mut writer = ShardWriter::new(folder, "text", Part::Text, Precision::F32);
        // Two rows of two values.
        writer.max_bytes = 16;
        for record in records.clone() {
            writer.push(record).expect("written");
        }
        let shards = writer.finish().expect("written");
        let files: Vec<_> = shards.iter().map(|shard| &*shard.entry.file).collect();
        let expected = [1, 2, 3, 4].map(|index| format!("text-{index}.safetensors"));
        assert_eq!(files, expected, "the last row of b shares its file with c");
        let read = files.iter().flat_map(|file| {
            let bytes = std::fs::read(folder.join(file)).expect("the file");
            read(&bytes).expect("safetensors")
        });
        assert_eq!(join(read.collect()), Ok(records), "put together again");
    }
}
