//! Where a picture lies, and how it is read when its time comes.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};

use crate::preprocess::{RgbPixels, decode};

/// Where a picture lies; it is read when it is embedded, and not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picture {
    /// A picture file.
    File(PathBuf),
    /// A picture file inside an archive that is not compressed.
    Slice {
        /// The archive.
        archive: Arc<Path>,
        /// Where the file begins.
        offset: u64,
        /// Its length.
        n_bytes: usize,
    },
    /// A plane of bytes for red, one for green, one for blue.
    Planes {
        /// The file.
        file: Arc<Path>,
        /// Where the red plane begins.
        offset: u64,
        /// Pixels in a row and in a column.
        side: usize,
        /// What follows what.
        order: PlaneOrder,
    },
}

/// How the pixels of a plane follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneOrder {
    /// Row by row.
    Rows,
    /// Column by column.
    Columns,
}

impl Picture {
    /// The picture file that should be there and is not.
    #[must_use]
    pub fn missing_file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => (!path.is_file()).then_some(path.as_path()),
            Self::Slice { .. } | Self::Planes { .. } => None,
        }
    }

    /// Reads and decodes it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no picture.
    pub fn read(&self) -> Result<RgbPixels> {
        match self {
            Self::File(path) => {
                let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
                let picture = decode(&bytes).with_context(|| path.display().to_string())?;
                Ok(picture.rgb)
            }
            Self::Slice {
                archive,
                offset,
                n_bytes,
            } => {
                let bytes = slice(archive, *offset, *n_bytes)?;
                let picture = decode(&bytes)
                    .with_context(|| format!("{} at byte {offset}", archive.display()))?;
                Ok(picture.rgb)
            }
            Self::Planes {
                file,
                offset,
                side,
                order,
            } => Ok(interleaved(
                &slice(file, *offset, 3 * side * side)?,
                *side,
                *order,
            )),
        }
    }
}

fn slice(path: &Path, offset: u64, n_bytes: usize) -> Result<Vec<u8>> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = vec![0; n_bytes];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    read().with_context(|| format!("{}: {n_bytes} bytes from byte {offset}", path.display()))
}

/// Planes become pixels, row by row.
fn interleaved(planes: &[u8], side: usize, order: PlaneOrder) -> RgbPixels {
    let n_pixels = side * side;
    let pixels = (0..3 * n_pixels)
        .map(|at| {
            let (channel, pixel) = (at % 3, at / 3);
            let in_plane = match order {
                PlaneOrder::Rows => pixel,
                PlaneOrder::Columns => (pixel % side) * side + pixel / side,
            };
            planes[channel * n_pixels + in_plane]
        })
        .collect();
    RgbPixels {
        width: side,
        height: side,
        pixels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_become_pixels_row_by_row() {
        // Red 1 2 / 3 4, green 10 times that, blue 100 and the same.
        let planes = [1, 2, 3, 4, 10, 20, 30, 40, 101, 102, 103, 104];
        let rows = interleaved(&planes, 2, PlaneOrder::Rows).pixels;
        let columns = interleaved(&planes, 2, PlaneOrder::Columns).pixels;
        assert_eq!(
            rows,
            [1, 10, 101, 2, 20, 102, 3, 30, 103, 4, 40, 104],
            "row by row"
        );
        assert_eq!(
            columns,
            [1, 10, 101, 3, 30, 103, 2, 20, 102, 4, 40, 104],
            "column by column"
        );
    }

    #[test]
    fn a_picture_that_cannot_be_read_is_named() {
        let error = Picture::File(PathBuf::from("nowhere/1.jpg"))
            .read()
            .expect_err("no such file");
        assert!(format!("{error:#}").contains("nowhere/1.jpg"), "{error:#}");
    }
}
