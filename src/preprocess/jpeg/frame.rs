//! The frame: the picture's size and its components' coefficients.

use super::refusal::Refusal;

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

/// One colour plane.
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
    /// 64 a block, in natural order.
    pub(super) coefficients: Vec<[i16; 64]>,
}

impl Frame {
    pub(super) fn parse(content: &[u8], progressive: bool) -> Result<Self, Refusal> {
        const BROKEN: Refusal = Refusal::Damaged("its frame header is broken");
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
        if !matches!(n_components, 1 | 3 | 4) {
            return Err(Refusal::Unsupported("other than 1, 3 or 4 components"));
        }
        let (specifications, _) = specifications.as_chunks::<3>();
        let specifications = &specifications[..usize::from(n_components)];
        let samplings = specifications.iter().map(sampling);
        let is_wrong = |sampling| !(1..=4).contains(&sampling);
        if samplings.clone().any(|(h, v)| is_wrong(h) || is_wrong(v)) {
            return Err(BROKEN);
        }
        let h_max = samplings.clone().map(|(h, _)| h).max().unwrap_or(1);
        let v_max = samplings.clone().map(|(_, v)| v).max().unwrap_or(1);
        let (units_wide, units_high) = (width.div_ceil(8 * h_max), height.div_ceil(8 * v_max));
        let component = |(specification, (h, v)): (&[u8; 3], (usize, usize))| Component {
            id: specification[0],
            h,
            v,
            quantisation_slot: usize::from(specification[2]),
            quantisation: None,
            width: (width * h).div_ceil(h_max),
            height: (height * v).div_ceil(v_max),
            blocks_wide: units_wide * h,
            coefficients: vec![[0; 64]; units_wide * h * units_high * v],
        };
        let components = specifications
            .iter()
            .zip(samplings)
            .map(component)
            .collect();
        Ok(Self {
            width,
            height,
            progressive,
            h_max,
            v_max,
            units_wide,
            units_high,
            components,
        })
    }
}

/// Horizontal and vertical sampling of a component.
fn sampling(specification: &[u8; 3]) -> (usize, usize) {
    let [_, sampling, _] = *specification;
    (usize::from(sampling >> 4), usize::from(sampling & 15))
}
