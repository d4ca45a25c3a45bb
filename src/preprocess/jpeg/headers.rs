//! Segments before a scan: tables, the frame, and the coding of colours.

use super::bits::Huffman;
use super::frame::Frame;
use super::refusal::Refusal;
use crate::preprocess::budget::DecodeBudget;

/// The place in natural order of each coefficient in the order of the file.
pub(super) const ZIGZAG: [usize; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
    13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59,
    52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// State set by the segments before a scan.
#[derive(Debug, Default)]
pub(super) struct Headers<'a> {
    /// Rest of the budget, less the samples that scans have visited.
    pub(super) budget: DecodeBudget,
    /// Size of the file in bytes.
    n_bytes: usize,
    pub(super) quantisation: [Option<[u16; 64]>; 4],
    pub(super) dc: [Option<Huffman>; 4],
    pub(super) ac: [Option<Huffman>; 4],
    pub(super) restart_interval: usize,
    pub(super) frame: Option<Frame>,
    jfif: bool,
    adobe_transform: Option<u8>,
    pub(super) exif: Option<&'a [u8]>,
}

/// Colour space of the components, from which they become red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColourSpace {
    Grey,
    Rgb,
    YCbCr,
    Cmyk,
    Ycck,
}

impl<'a> Headers<'a> {
    /// Nothing is set yet, for a file of `n_bytes`.
    pub(super) fn new(budget: DecodeBudget, n_bytes: usize) -> Self {
        Self {
            budget,
            n_bytes,
            ..Self::default()
        }
    }

    pub(super) fn read_segment(&mut self, marker: u8, content: &'a [u8]) -> Result<(), Refusal> {
        match marker {
            0xC0..=0xC2 if self.frame.is_some() => {
                return Err(Refusal::Damaged("it has two frames"));
            }
            0xC0..=0xC2 => {
                let frame = Frame::parse(content, marker == 0xC2, &self.budget)?;
                self.frame = Some(frame.with_coefficients(&self.budget, self.n_bytes)?);
            }
            0xC4 => self.read_huffman_tables(content)?,
            0xC3 | 0xC5..=0xC7 => {
                return Err(Refusal::Unsupported("lossless or hierarchical coding"));
            }
            0xC9..=0xCF => return Err(Refusal::Unsupported("arithmetic coding")),
            0xDB => self.read_quantisation_tables(content)?,
            0xDD if content.len() >= 2 => {
                self.restart_interval = usize::from(u16::from_be_bytes([content[0], content[1]]));
            }
            0xE0 if content.starts_with(b"JFIF\0") => self.jfif = true,
            0xE1 if self.exif.is_none() => self.exif = content.strip_prefix(b"Exif\0\0"),
            0xEE if content.starts_with(b"Adobe") && content.len() >= 12 => {
                self.adobe_transform = Some(content[11]);
            }
            _ => {}
        }
        Ok(())
    }

    fn read_huffman_tables(&mut self, mut content: &[u8]) -> Result<(), Refusal> {
        const BROKEN: Refusal = Refusal::Damaged("a Huffman table is broken");
        while let Some((&[class_and_slot, ref counts @ ..], rest)) =
            content.split_first_chunk::<17>()
        {
            let n_values = counts.iter().map(|&count| usize::from(count)).sum();
            let (values, rest) = rest.split_at_checked(n_values).ok_or(BROKEN)?;
            let is_dc = class_and_slot >> 4 == 0;
            let tables = if is_dc { &mut self.dc } else { &mut self.ac };
            let slot = tables.get_mut(usize::from(class_and_slot & 15));
            *slot.ok_or(BROKEN)? = Some(Huffman::new(counts, values).ok_or(BROKEN)?);
            content = rest;
        }
        Ok(())
    }

    fn read_quantisation_tables(&mut self, mut content: &[u8]) -> Result<(), Refusal> {
        const BROKEN: Refusal = Refusal::Damaged("a quantisation table is broken");
        while let Some((&precision_and_slot, rest)) = content.split_first() {
            let bytes_each = 1 + usize::from(precision_and_slot >> 4 != 0);
            let (values, rest) = rest.split_at_checked(64 * bytes_each).ok_or(BROKEN)?;
            let mut table = [0; 64];
            for (value, &place) in values.chunks_exact(bytes_each).zip(&ZIGZAG) {
                let bytes = value.iter();
                table[place] = bytes.fold(0, |total, &byte| total << 8 | u16::from(byte));
            }
            let slot = self
                .quantisation
                .get_mut(usize::from(precision_and_slot & 15));
            *slot.ok_or(BROKEN)? = Some(table);
            content = rest;
        }
        Ok(())
    }

    /// libjpeg's guess, which Pillow relies on.
    pub(super) fn colour_space(&self) -> ColourSpace {
        let components = self.frame.iter().flat_map(|frame| &frame.components);
        let ids: Vec<u8> = components.map(|component| component.id).collect();
        match (ids.as_slice(), self.adobe_transform) {
            ([_], _) => ColourSpace::Grey,
            ([_, _, _, _], Some(2)) => ColourSpace::Ycck,
            ([_, _, _, _], _) => ColourSpace::Cmyk,
            (_, Some(0)) if !self.jfif => ColourSpace::Rgb,
            (b"RGB", None) if !self.jfif => ColourSpace::Rgb,
            _ => ColourSpace::YCbCr,
        }
    }
}
