//! Number of a GIF's frames (one or more), from its blocks alone: no pixel is unpacked.

/// Whether a GIF has a second frame; a damaged one counts, as there is something after the first.
pub(super) fn has_second_frame(bytes: &[u8]) -> bool {
    let header = bytes.get(..13);
    let Some(mut at) = header.map(|header| 13 + colour_table_bytes(header[10])) else {
        return false;
    };
    let mut n_frames = 0;
    while let Some(&kind) = bytes.get(at) {
        at = match kind {
            // An extension: its label, then its data.
            0x21 => at + 2,
            0x2c => {
                n_frames += 1;
                let Some(&flags) = bytes.get(at + 9) else {
                    return n_frames > 1;
                };
                // A descriptor of ten bytes, its colours, and the width of the first code.
                at + 11 + colour_table_bytes(flags)
            }
            _ => return n_frames > 1,
        };
        // The data lie in blocks that begin with their length; the last is empty.
        while let Some(&length @ 1..) = bytes.get(at) {
            at += 1 + usize::from(length);
        }
        at += 1;
    }
    n_frames > 1
}

fn colour_table_bytes(flags: u8) -> usize {
    if flags & 0x80 == 0 {
        return 0;
    }
    3 << (1 + (flags & 7))
}
