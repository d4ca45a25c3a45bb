//! The frame: the picture's size and its components' coefficients.

use super::refusal::Refusal;
use crate::preprocess::budget::{DecodeBudget, filled};

/// The picture as its frame header describes it.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) progressive: bool,
    /// Greatest horizontal and vertical sampling of any component.
    pub(super) h_max: usize,
    pub(super) v_max: usize,
    /// Minimum coded units (one group of blocks of every component) in a row, and rows of them.
    pub(super) units_wide: usize,
    pub(super) units_high: usize,
    pub(super) components: Vec<Component>,
}

/// Colour plane: its sampling, its size and its coefficients.
#[derive(Debug)]
pub(super) struct Component {
    pub(super) id: u8,
    pub(super) h: usize,
    pub(super) v: usize,
    pub(super) quantisation_slot: usize,
    /// The table that was in the slot when the component's first scan began.
    pub(super) quantisation: Option<[u16; 64]>,
    /// Samples that belong to the picture.
    pub(super) width: usize,
    pub(super) height: usize,
    /// Blocks in a row, with those that only fill up a unit.
    pub(super) blocks_wide: usize,
    /// Rows of blocks, with those that only fill up a unit.
    pub(super) blocks_high: usize,
    /// 64 a block, in natural order.
    pub(super) coefficients: Vec<[i16; 64]>,
}

const BROKEN: Refusal = Refusal::Damaged("its frame header is broken");

/// A component in a frame header: its id, its horizontal and vertical sampling, and the slot of its quantisation table.
struct Specification {
    id: u8,
    h: usize,
    v: usize,
    slot: usize,
}

impl Frame {
    /// The frame, as yet without coefficients.
    pub(super) fn parse(
        content: &[u8],
        progressive: bool,
        budget: &DecodeBudget,
    ) -> Result<Self, Refusal> {
        let &[
            precision,
            y1,
            y0,
            x1,
            x0,
            n_components,
            ref specifications @ ..,
        ] = content
        else {
            return Err(BROKEN);
        };
        let size = |high, low| usize::from(u16::from_be_bytes([high, low]));
        let (width, height) = (size(x1, x0), size(y1, y0));
        if precision != 8 {
            return Err(Refusal::Unsupported("samples of other than 8 bits"));
        }
        if width == 0 || height == 0 || specifications.len() < 3 * usize::from(n_components) {
            return Err(BROKEN);
        }
        budget.check_size(width as u64, height as u64)?;
        if !matches!(n_components, 1 | 3 | 4) {
            return Err(Refusal::Unsupported("other than 1, 3 or 4 components"));
        }
        let specifications = &specifications.as_chunks::<3>().0[..usize::from(n_components)];
        let specifications = specifications.iter().map(Specification::parse);
        let specifications = specifications.collect::<Result<Vec<_>, _>>()?;
        let h_max = specifications.iter().map(|s| s.h).max().unwrap_or(1);
        let v_max = specifications.iter().map(|s| s.v).max().unwrap_or(1);
        let mut frame = Self {
            width,
            height,
            progressive,
            h_max,
            v_max,
            units_wide: width.div_ceil(8 * h_max),
            units_high: height.div_ceil(8 * v_max),
            components: Vec::new(),
        };
        frame.components = specifications.iter().map(|s| frame.component(s)).collect();
        Ok(frame)
    }

    /// The frame with room for its coefficients, unless that is more than the budget or the file can fill.
    pub(super) fn with_coefficients(
        mut self,
        budget: &DecodeBudget,
        n_bytes: usize,
    ) -> Result<Self, Refusal> {
        let samples = |component: &Component| 64 * component.n_blocks() as u64;
        let n_samples = self.components.iter().map(samples).sum::<u64>();
        let largest = self.components.iter().map(samples).max().unwrap_or(0);
        let n_pixels = self.width as u64 * self.height as u64;
        // Coefficients of 16 bits with the first plane that is made of them, then all planes with the pixels.
        let memory = (2 * n_samples + largest).max(n_samples + 3 * n_pixels);
        budget.check_memory(memory)?;
        // A block takes one bit at least, but for those that only fill up a unit.
        let shown = |component: &Component| {
            component.width.div_ceil(8) as u64 * component.height.div_ceil(8) as u64
        };
        if self.components.iter().map(shown).sum::<u64>() > 8 * n_bytes as u64 {
            return Err(Refusal::Damaged("it is too short for its size"));
        }
        for component in &mut self.components {
            component.coefficients = filled([0; 64], component.n_blocks())?;
        }
        Ok(self)
    }

    fn component(&self, &Specification { id, h, v, slot }: &Specification) -> Component {
        let blocks_wide = self.units_wide * h;
        Component {
            id,
            h,
            v,
            quantisation_slot: slot,
            quantisation: None,
            width: (self.width * h).div_ceil(self.h_max),
            height: (self.height * v).div_ceil(self.v_max),
            blocks_wide,
            blocks_high: self.units_high * v,
            coefficients: Vec::new(),
        }
    }
}

impl Component {
    /// Blocks, with those that only fill up a unit.
    fn n_blocks(&self) -> usize {
        self.blocks_wide * self.blocks_high
    }
}

impl Specification {
    fn parse(&[id, sampling, slot]: &[u8; 3]) -> Result<Self, Refusal> {
        let (h, v) = (usize::from(sampling >> 4), usize::from(sampling & 15));
        let is_known = (1..=4).contains(&h) && (1..=4).contains(&v);
        let slot = usize::from(slot);
        is_known.then_some(Self { id, h, v, slot }).ok_or(BROKEN)
    }
}
