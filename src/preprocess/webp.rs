//! Sizes that the chunks of a `WebP` file claim, checked before the `image` crate's decoder allocates memory for them.

use super::budget::{DecodeBudget, Excess};

/// Refuses pictures within the file that are larger than the budget, and Exif that is.
///
/// The decoder checks the size of the canvas alone, and asks for the memory that a chunk claims to need.
pub(super) fn check(bytes: &[u8], budget: &DecodeBudget) -> Result<(), Excess> {
    check_chunks(bytes.get(12..).unwrap_or_default(), budget)
}

fn check_chunks(mut bytes: &[u8], budget: &DecodeBudget) -> Result<(), Excess> {
    while let Some((&[a, b, c, d, s0, s1, s2, s3], rest)) = bytes.split_first_chunk::<8>() {
        let length = u32::from_le_bytes([s0, s1, s2, s3]);
        let rounded = usize::try_from(length)
            .unwrap_or(usize::MAX)
            .saturating_add(1)
            & !1;
        let (content, behind) = rest.split_at(rounded.min(rest.len()));
        match &[a, b, c, d] {
            b"EXIF" if u64::from(length) > budget.metadata_bytes => {
                let most = budget.metadata_bytes;
                return Err(Excess::Metadata { most });
            }
            b"VP8 " => check_size(lossy_size(content), budget)?,
            b"VP8L" => check_size(lossless_size(content), budget)?,
            // A frame of an animation: where it lies, then chunks.
            b"ANMF" => check_chunks(content.get(16..).unwrap_or_default(), budget)?,
            _ => {}
        }
        bytes = behind;
    }
    Ok(())
}

/// A size that cannot be read is left to the decoder.
fn check_size(size: Option<(u32, u32)>, budget: &DecodeBudget) -> Result<(), Excess> {
    let (width, height) = size.unwrap_or((1, 1));
    budget.check_size(u64::from(width), u64::from(height))
}

fn lossy_size(content: &[u8]) -> Option<(u32, u32)> {
    let &[w0, w1, h0, h1] = content.get(6..10)? else {
        return None;
    };
    let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
    Some((side(w0, w1), side(h0, h1)))
}

fn lossless_size(content: &[u8]) -> Option<(u32, u32)> {
    let (header, _) = content.get(1..)?.split_first_chunk::<4>()?;
    let header = u32::from_le_bytes(*header);
    let side = |bits: u32| (bits & 0x3fff) + 1;
    Some((side(header), side(header >> 14)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(name: &[u8; 4], length: u32, content: &[u8]) -> Vec<u8> {
        [name, &length.to_le_bytes()[..], content].concat()
    }

    fn file(chunks: &[u8]) -> Vec<u8> {
        [b"RIFF\0\0\0\0WEBP", chunks].concat()
    }

    #[test]
    fn a_picture_within_a_small_canvas_may_not_be_large() {
        let lossy = chunk(
            b"VP8 ",
            10,
            &[0, 0, 0, 0x9d, 1, 0x2a, 0xff, 0x3f, 0xff, 0x3f],
        );
        let lossless = chunk(b"VP8L", 6, &[0x2f, 0xff, 0xff, 0xff, 0x0f, 0]);
        let frame = chunk(b"ANMF", 34, &[&[0; 16][..], &lossy].concat());
        for (chunk, name) in [(lossy, "lossy"), (lossless, "lossless"), (frame, "a frame")] {
            let bytes = file(&[chunk_of_canvas(), chunk].concat());
            let found = check(&bytes, &DecodeBudget::FULL);
            assert!(
                matches!(found, Err(Excess::Pixels { .. })),
                "{name}: {found:?}"
            );
        }
    }

    fn chunk_of_canvas() -> Vec<u8> {
        chunk(b"VP8X", 10, &[0; 10])
    }

    #[test]
    fn exif_may_not_claim_gigabytes() {
        let bytes = file(&chunk(b"EXIF", u32::MAX, b"II"));
        let found = check(&bytes, &DecodeBudget::FULL);
        assert!(matches!(found, Err(Excess::Metadata { .. })), "{found:?}");
    }
}
