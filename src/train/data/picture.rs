//! Place of a picture on the disk, and the reading of its pixels when it is embedded.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};

use crate::preprocess::{RgbPixels, decode};
use crate::train::files::{check_length, read_limited};

/// Place of a picture, which is read when it is embedded, and not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picture {
    /// A picture file of its own, by its path.
    File(PathBuf),
    /// A picture file inside an archive that is not compressed.
    Slice {
        /// Path of the archive.
        archive: Arc<Path>,
        /// Byte of the archive at which the file begins.
        offset: u64,
        /// Length of the file in bytes.
        n_bytes: usize,
    },
    /// A plane of bytes for red, one for green, one for blue.
    Planes {
        /// Path of the file.
        file: Arc<Path>,
        /// Byte of the file at which the red plane begins.
        offset: u64,
        /// Pixels in a row and in a column.
        side: usize,
        /// Whether rows or columns of pixels follow each other.
        order: PlaneOrder,
    },
}

/// Order of the pixels of a plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneOrder {
    /// The pixels of a row follow each other.
    Rows,
    /// The pixels of a column follow each other.
    Columns,
}

impl Picture {
    /// Planes that begin at a byte of a file.
    pub(super) fn planes(file: &Arc<Path>, offset: u64, side: usize, order: PlaneOrder) -> Self {
        let file = file.clone();
        Self::Planes {
            file,
            offset,
            side,
            order,
        }
    }

    /// The picture file that should be there and is not.
    #[must_use]
    pub fn missing_file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => (!path.is_file()).then_some(path.as_path()),
            Self::Slice { .. } | Self::Planes { .. } => None,
        }
    }

    /// Pixels of the picture, read from its file or archive and decoded.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a picture.
    pub fn read(&self) -> Result<RgbPixels> {
        let (bytes, place) = match self {
            Self::File(path) => (read_limited(path)?, path.display().to_string()),
            Self::Slice {
                archive,
                offset,
                n_bytes,
            } => {
                let place = format!("{} at byte {offset}", archive.display());
                (slice(archive, *offset, *n_bytes)?, place)
            }
            Self::Planes {
                file,
                offset,
                side,
                order,
            } => {
                let planes = slice(file, *offset, 3 * side * side)?;
                return Ok(interleaved(&planes, *side, *order));
            }
        };
        Ok(decode(&bytes).context(place)?.rgb)
    }
}

fn slice(path: &Path, offset: u64, n_bytes: usize) -> Result<Vec<u8>> {
    let read = || -> Result<Vec<u8>> {
        check_length(n_bytes as u64)?;
        let mut file = File::open(path)?;
        // The archive states this length, so memory for it is allocated only once it is known to be right.
        let n_left = file.metadata()?.len().saturating_sub(offset);
        if n_left < n_bytes as u64 {
            return Err(Error::from(ErrorKind::UnexpectedEof).into());
        }
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
    let sample = |at: usize| {
        let (channel, pixel) = (at % 3, at / 3);
        let in_plane = match order {
            PlaneOrder::Rows => pixel,
            PlaneOrder::Columns => (pixel % side) * side + pixel / side,
        };
        planes[channel * n_pixels + in_plane]
    };
    RgbPixels {
        width: side,
        height: side,
        pixels: (0..3 * n_pixels).map(sample).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::place::tests::{Folder, refused};
    use crate::train::files::MAX_FILE_BYTES;

    #[test]
    fn planes_become_pixels_row_by_row() {
        // Red 1 2 / 3 4, green 10 times that, blue 100 and the same.
        let planes = [1, 2, 3, 4, 10, 20, 30, 40, 101, 102, 103, 104];
        let rows = interleaved(&planes, 2, PlaneOrder::Rows).pixels;
        let columns = interleaved(&planes, 2, PlaneOrder::Columns).pixels;
        let by_row = [1, 10, 101, 2, 20, 102, 3, 30, 103, 4, 40, 104];
        assert_eq!(rows, by_row, "row by row");
        let by_column = [1, 10, 101, 3, 30, 103, 2, 20, 102, 4, 40, 104];
        assert_eq!(columns, by_column, "column by column");
    }

    #[test]
    fn a_part_larger_than_its_archive_takes_no_memory() {
        let picture = Picture::Slice {
            archive: Path::new(file!()).into(),
            offset: 10,
            n_bytes: usize::MAX / 4,
        };
        refused(picture.read(), "from byte 10");
    }

    #[test]
    fn a_file_without_blocks_is_refused_by_its_length() {
        let folder = Folder::new();
        let path = folder.put("1.png", "");
        let file = File::options().write(true).open(&path);
        let sized = file.and_then(|file| file.set_len(MAX_FILE_BYTES + 1));
        sized.expect("a file without blocks");
        let part = Picture::Slice {
            archive: path.as_path().into(),
            offset: 0,
            n_bytes: 256_000_001,
        };
        for picture in [Picture::File(path), part] {
            refused(
                picture.read(),
                "256000001 bytes, expected at most 256000000",
            );
        }
    }

    #[test]
    fn a_picture_that_cannot_be_read_is_named() {
        let picture = Picture::File(PathBuf::from("nowhere/1.jpg"));
        refused(picture.read(), "nowhere/1.jpg");
    }
}
