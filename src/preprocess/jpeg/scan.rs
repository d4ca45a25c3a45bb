//! Scans: the coefficients of some components, all at once or bit by bit.

use super::bits::{Bits, Huffman};
use super::frame::Frame;
use super::headers::{Headers, ZIGZAG};
use super::refusal::Refusal;

const BROKEN: Refusal = Refusal::Damaged("a scan header is broken");

/// Band of coefficients that a scan holds, and the bits of them that it adds.
#[derive(Debug, Clone, Copy)]
struct ScanPart {
    progressive: bool,
    first: usize,
    last: usize,
    /// Bits that earlier scans have left open, or 0 if there was none.
    high: u32,
    /// Bits that this scan leaves open.
    low: u32,
}

/// A component in a scan, with its tables.
#[derive(Debug)]
struct ScanComponent<'a> {
    i_component: usize,
    dc: Option<&'a Huffman>,
    ac: Option<&'a Huffman>,
}

/// The bits of a scan, and what carries over from block to block until a restart.
#[derive(Debug)]
struct ScanReader<'a> {
    part: ScanPart,
    bits: Bits<'a>,
    predictions: [i32; 4],
    /// Blocks, this one included, that have nothing more in their band.
    end_of_band_run: i32,
}

impl Headers<'_> {
    /// Reads one scan and returns where its bits end.
    pub(super) fn read_scan(
        &mut self,
        header: &[u8],
        bytes: &[u8],
        at: usize,
    ) -> Result<usize, Refusal> {
        let Some(mut frame) = self.frame.take() else {
            return Err(Refusal::Damaged("a scan precedes its frame"));
        };
        let (&n_members, rest) = header.split_first().ok_or(BROKEN)?;
        let split = rest.split_at_checked(2 * usize::from(n_members));
        let (selectors, rest) = split.ok_or(BROKEN)?;
        let part = ScanPart::parse(rest, frame.progressive).ok_or(BROKEN)?;
        let members = selectors.chunks_exact(2);
        let members = members.map(|selector| self.member(selector, part, &mut frame));
        let members = members.collect::<Result<Vec<_>, _>>()?;
        let too_many = if part.first > 0 { 2 } else { 5 };
        if members.is_empty() || members.len() >= too_many {
            return Err(BROKEN);
        }
        let n_blocks = members.iter().map(|member| {
            let component = &frame.components[member.i_component];
            component.coefficients.len() as u64
        });
        let mut budget = self.budget;
        budget.visit(64 * n_blocks.sum::<u64>())?;
        let mut reader = ScanReader {
            part,
            bits: Bits::new(bytes, at),
            predictions: [0; 4],
            end_of_band_run: 0,
        };
        reader.read_units(&mut frame, &members, self.restart_interval);
        let end = reader.bits.at;
        self.budget = budget;
        self.frame = Some(frame);
        Ok(end)
    }

    /// The component that a selector names, whose quantisation table is now settled, with the tables it needs.
    fn member(
        &self,
        selector: &[u8],
        part: ScanPart,
        frame: &mut Frame,
    ) -> Result<ScanComponent<'_>, Refusal> {
        let mut components = frame.components.iter();
        let i_component = components.position(|component| component.id == selector[0]);
        let i_component = i_component.ok_or(BROKEN)?;
        let component = &mut frame.components[i_component];
        if component.quantisation.is_none() {
            let table = self.quantisation.get(component.quantisation_slot);
            component.quantisation = *table.ok_or(BROKEN)?;
        }
        let dc = self.dc.get(usize::from(selector[1] >> 4));
        let ac = self.ac.get(usize::from(selector[1] & 15));
        let member = ScanComponent {
            i_component,
            dc: dc.and_then(Option::as_ref),
            ac: ac.and_then(Option::as_ref),
        };
        let needs_dc = part.first == 0 && part.high == 0;
        let needs_ac = !part.progressive || part.first > 0;
        if needs_dc && member.dc.is_none() || needs_ac && member.ac.is_none() {
            return Err(Refusal::Damaged("a Huffman table is missing"));
        }
        Ok(member)
    }
}

impl ScanPart {
    /// Reads the end of a scan header; in a sequential picture every scan holds everything.
    fn parse(content: &[u8], progressive: bool) -> Option<Self> {
        let &[first, last, approximation, ..] = content else {
            return None;
        };
        if !progressive {
            return Some(Self {
                progressive,
                first: 0,
                last: 63,
                high: 0,
                low: 0,
            });
        }
        Some(Self {
            progressive,
            first: usize::from(first).min(63),
            last: usize::from(last).min(63),
            high: u32::from(approximation >> 4),
            low: u32::from(approximation & 15).min(13),
        })
    }
}

impl ScanReader<'_> {
    /// Reads every unit of a scan; in a scan of one component a unit is one block, and padding blocks are left out.
    fn read_units(
        &mut self,
        frame: &mut Frame,
        members: &[ScanComponent<'_>],
        restart_interval: usize,
    ) {
        let (units_wide, units_high) = match members {
            [member] => {
                let component = &frame.components[member.i_component];
                (component.width.div_ceil(8), component.height.div_ceil(8))
            }
            _ => (frame.units_wide, frame.units_high),
        };
        let alone = members.len() == 1;
        for i_unit in 0..units_wide * units_high {
            if restart_interval > 0 && i_unit > 0 && i_unit % restart_interval == 0 {
                self.bits.restart();
                (self.predictions, self.end_of_band_run) = ([0; 4], 0);
            }
            let (x, y) = (i_unit % units_wide, i_unit / units_wide);
            for (i_member, member) in members.iter().enumerate() {
                let component = &mut frame.components[member.i_component];
                let (h, v) = if alone {
                    (1, 1)
                } else {
                    (component.h, component.v)
                };
                for place in 0..h * v {
                    let (row, column) = (y * v + place / h, x * h + place % h);
                    let block = &mut component.coefficients[row * component.blocks_wide + column];
                    self.read_block(block, member, i_member);
                }
            }
        }
    }

    fn read_block(&mut self, block: &mut [i16; 64], member: &ScanComponent<'_>, i_member: usize) {
        let part = self.part;
        if part.first == 0 {
            if part.high > 0 {
                block[0] |= to_i16(self.bits.take(1) << part.low);
            } else if let Some(table) = member.dc {
                let n_bits = u32::from(self.bits.symbol(table)).min(16);
                let prediction = &mut self.predictions[i_member];
                *prediction = prediction.wrapping_add(self.bits.take_signed(n_bits));
                block[0] = to_i16(prediction.wrapping_shl(part.low));
            }
        }
        let Some(table) = member.ac else { return };
        match (part.progressive, part.first, part.high) {
            (false, ..) => self.read_band(block, table, 1),
            (true, 0, _) => {}
            (true, first, 0) => self.read_band(block, table, first),
            (true, ..) => self.refine_band(block, table),
        }
    }

    /// Reads the coefficients of a band for the first time (or, in a sequential picture, the only one).
    fn read_band(&mut self, block: &mut [i16; 64], table: &Huffman, first: usize) {
        if self.end_of_band_run > 0 {
            self.end_of_band_run -= 1;
            return;
        }
        let mut k = first;
        while k <= self.part.last {
            let symbol = self.bits.symbol(table);
            let (run, n_bits) = (u32::from(symbol >> 4), u32::from(symbol & 15));
            if n_bits == 0 && run < 15 {
                // In a sequential picture the run is always 0, and so is what carries over.
                if self.part.progressive {
                    self.end_of_band_run = (1 << run) - 1 + self.bits.take(run);
                }
                return;
            }
            k += run as usize;
            if n_bits > 0 {
                let value = self.bits.take_signed(n_bits) << self.part.low;
                let Some(&place) = ZIGZAG.get(k) else { return };
                block[place] = to_i16(value);
            }
            k += 1;
        }
    }

    /// Adds one bit to the coefficients of a band, and reads those that become non-zero by it.
    fn refine_band(&mut self, block: &mut [i16; 64], table: &Huffman) {
        let ScanPart {
            first, last, low, ..
        } = self.part;
        let (bit, bits) = (1_i16 << low, &mut self.bits);
        let mut k = first;
        while k <= last && self.end_of_band_run == 0 {
            let symbol = bits.symbol(table);
            let run = u32::from(symbol >> 4);
            let mut new = 0;
            if symbol & 15 > 0 {
                new = if bits.take(1) == 1 { bit } else { -bit };
            } else if run < 15 {
                self.end_of_band_run = (1 << run) + bits.take(run);
                break;
            }
            k = refine_until(block, k..last + 1, run, bit, bits);
            if new != 0 && k <= last {
                block[ZIGZAG[k]] = new;
            }
            k += 1;
        }
        if self.end_of_band_run > 0 {
            refine_until(block, k..last + 1, 64, bit, bits);
            self.end_of_band_run -= 1;
        }
    }
}

/// Refines non-zero coefficients up to the zero that follows `n_zeros` zeros, and returns its place in the band.
fn refine_until(
    block: &mut [i16; 64],
    band: std::ops::Range<usize>,
    n_zeros: u32,
    bit: i16,
    bits: &mut Bits<'_>,
) -> usize {
    let mut n_left = n_zeros;
    for k in band.clone() {
        let coefficient = &mut block[ZIGZAG[k]];
        if *coefficient == 0 {
            if n_left == 0 {
                return k;
            }
            n_left -= 1;
        } else if bits.take(1) == 1 && *coefficient & bit == 0 {
            *coefficient = coefficient.wrapping_add(if *coefficient > 0 { bit } else { -bit });
        }
    }
    band.end
}

/// Coefficients of valid pictures fit; others may become anything.
#[expect(
    clippy::cast_possible_truncation,
    reason = "only damaged pictures have more bits"
)]
fn to_i16(value: i32) -> i16 {
    value as i16
}
