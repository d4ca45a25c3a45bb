//! The scene: objects on a ground, as plain data, and the prior from which random scenes are drawn.
//!
//! The prior is deliberately uneven (red is common, purple is rare), so that captions of equal length carry
//! different amounts of information.

use rand::{Rng, RngExt as _};
use serde::{Deserialize, Serialize};

/// Declares an attribute: its values, their order and their prior weights.
macro_rules! attribute {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $weight:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$value_doc])* $value),+ }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$value),+];
            /// Prior weight of each value, in the same order.
            pub const WEIGHTS: &'static [f64] = &[$($weight),+];

            /// Position in [`Self::ALL`], from 0, and the bit of the value in a mask.
            pub const fn index(self) -> usize {
                self as usize
            }

            /// Draws a value from the prior.
            pub fn sample<R: Rng + ?Sized>(rng: &mut R) -> Self {
                Self::ALL[sample_index(Self::WEIGHTS, rng)]
            }
        }
    };
}

attribute! {
    /// Outline of an object.
    Shape {
        /// Filled disc of the object's radius.
        Circle = 4.0,
        /// Axis-aligned square, its sides 1.76 radii long.
        Square = 4.0,
        /// Triangle that points up.
        Triangle = 3.0,
        /// Five-pointed star, one tip up.
        Star = 2.0,
        /// Upright plus sign, two radii wide and high.
        Cross = 1.0,
        /// Disc with a hole.
        Ring = 2.0,
    }
}

attribute! {
    /// Paint of an object.
    Colour {
        /// Red, one of the warm colours.
        Red = 4.0,
        /// Orange, one of the warm colours.
        Orange = 2.0,
        /// Yellow, one of the warm colours.
        Yellow = 3.0,
        /// Green, one of the cool colours.
        Green = 3.0,
        /// Blue, one of the cool colours.
        Blue = 4.0,
        /// Purple, one of the cool colours.
        Purple = 1.0,
        /// Pink, one of the warm colours.
        Pink = 1.0,
        /// Black, the one paint that is not colourful.
        Black = 3.0,
    }
}

attribute! {
    /// Size of an object.
    Size {
        /// Radius 0.095 of the picture's side.
        Small = 3.0,
        /// Radius 0.13 of the picture's side.
        Medium = 4.0,
        /// Radius 0.165 of the picture's side.
        Large = 2.0,
    }
}

attribute! {
    /// Fill of an object.
    Texture {
        /// One flat colour, without a pattern.
        Solid = 5.0,
        /// Diagonal stripes of two colours, equally wide.
        Striped = 3.0,
        /// A lattice of dots.
        Dotted = 2.0,
    }
}

attribute! {
    /// Ground that the objects lie on.
    Ground {
        /// White, one of the pale grounds.
        White = 4.0,
        /// Grey, the one ground that is not pale.
        Grey = 3.0,
        /// Beige, one of the pale grounds.
        Beige = 2.0,
        /// Mint green, one of the pale grounds.
        Mint = 1.0,
    }
}

attribute! {
    /// Light on the scene.
    Light {
        /// Full light: every channel as it is painted.
        Bright = 3.0,
        /// Half light: every channel at half its value.
        Dim = 1.0,
    }
}

/// Greatest number of objects in a scene.
pub const MAX_OBJECTS: usize = 4;
/// Prior weight of one, two, three and four objects.
pub const COUNT_WEIGHTS: [f64; MAX_OBJECTS] = [6.0, 6.0, 5.0, 3.0];
/// Cells of the 3 × 3 grid on which objects are placed, row by row.
pub const N_CELLS: usize = 9;
/// Greatest distance of an object from its cell's centre along each axis, as a share of the picture's side.
pub const JITTER: f32 = 0.02;

impl Size {
    /// Radius as a share of the picture's side.
    pub const fn radius(self) -> f32 {
        match self {
            Self::Small => 0.095,
            Self::Medium => 0.13,
            Self::Large => 0.165,
        }
    }
}

/// One object of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// Outline that the object fills.
    pub shape: Shape,
    /// Paint; stripes and dots add a second colour made from it.
    pub colour: Colour,
    /// Size, which sets the outline's radius.
    pub size: Size,
    /// Fill of the outline: flat, striped or dotted.
    pub texture: Texture,
    /// Centre from the left, as a share of the picture's side.
    pub x: f32,
    /// Centre from the top, as a share of the picture's side.
    pub y: f32,
}

impl Object {
    /// The grid cell that holds the centre, row by row from the top left.
    pub fn cell(&self) -> usize {
        third(self.y) * 3 + third(self.x)
    }
}

/// Third of the side that a coordinate lies in; coordinates outside of the picture count to the nearest.
fn third(coordinate: f32) -> usize {
    if coordinate < 1.0 / 3.0 {
        0
    } else if coordinate < 2.0 / 3.0 {
        1
    } else {
        2
    }
}

/// Objects on a lit ground.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// One to [`MAX_OBJECTS`] objects, painted in order.
    pub objects: Vec<Object>,
    /// Ground of one colour, behind all objects.
    pub ground: Ground,
    /// Light on objects and ground alike.
    pub light: Light,
}

/// Compositions of colour, shape and texture that a scene may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compositions {
    /// All compositions: the world as it is.
    All,
    /// The compositions that training shows.
    Seen,
}

/// Whether a composition is held out of all training scenes: 12 of the 144 triples, spread over all values.
pub fn is_held_out(shape: Shape, colour: Colour, texture: Texture) -> bool {
    (shape.index() * 5 + colour.index() * 7 + texture.index() * 4) % 12 == 11
}

impl Scene {
    /// Draws a scene from the prior.
    pub fn sample<R: Rng + ?Sized>(compositions: Compositions, rng: &mut R) -> Self {
        let n_objects = 1 + sample_index(&COUNT_WEIGHTS, rng);
        Self::sample_with_count(n_objects, compositions, rng)
    }

    /// Draws a scene with a given number of objects from the prior.
    pub fn sample_with_count<R: Rng + ?Sized>(
        n_objects: usize,
        compositions: Compositions,
        rng: &mut R,
    ) -> Self {
        let cells = sample_cells(n_objects, rng);
        let objects = cells
            .into_iter()
            .map(|cell| sample_object(cell, compositions, rng))
            .collect();
        Self {
            objects,
            ground: Ground::sample(rng),
            light: Light::sample(rng),
        }
    }

    /// Whether any object has a composition that training never showed.
    pub fn has_held_out(&self) -> bool {
        let is_held_out = |o: &Object| is_held_out(o.shape, o.colour, o.texture);
        self.objects.iter().any(is_held_out)
    }
}

fn sample_object<R: Rng + ?Sized>(cell: usize, compositions: Compositions, rng: &mut R) -> Object {
    let (x, y) = jittered_centre(cell, rng);
    loop {
        let (shape, colour) = (Shape::sample(rng), Colour::sample(rng));
        let texture = Texture::sample(rng);
        if compositions == Compositions::All || !is_held_out(shape, colour, texture) {
            return Object {
                shape,
                colour,
                size: Size::sample(rng),
                texture,
                x,
                y,
            };
        }
    }
}

/// A point near the centre of a grid cell.
pub fn jittered_centre<R: Rng + ?Sized>(cell: usize, rng: &mut R) -> (f32, f32) {
    let centre = |third: usize| [1.0 / 6.0, 0.5, 5.0 / 6.0][third];
    let (x, y): (f32, f32) = (centre(cell % 3), centre(cell / 3));
    (
        x + rng.random_range(-JITTER..=JITTER),
        y + rng.random_range(-JITTER..=JITTER),
    )
}

/// Draws distinct grid cells in random order.
pub fn sample_cells<R: Rng + ?Sized>(n_cells: usize, rng: &mut R) -> Vec<usize> {
    let mut cells: Vec<usize> = (0..N_CELLS).collect();
    for i in 0..n_cells.min(N_CELLS) {
        let j = rng.random_range(i..N_CELLS);
        cells.swap(i, j);
    }
    cells.truncate(n_cells);
    cells
}

/// Draws an index in proportion to the weights.
pub fn sample_index<R: Rng + ?Sized>(weights: &[f64], rng: &mut R) -> usize {
    let mut rest = rng.random::<f64>() * weights.iter().sum::<f64>();
    for (i, weight) in weights.iter().enumerate() {
        rest -= weight;
        if rest < 0.0 {
            return i;
        }
    }
    weights.len() - 1
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng as _, rngs::ChaCha8Rng};

    use super::*;

    #[test]
    fn twelve_compositions_are_held_out_and_no_value_is_lost() {
        let mut held_out = Vec::new();
        for &shape in Shape::ALL {
            for &colour in Colour::ALL {
                for &texture in Texture::ALL {
                    if is_held_out(shape, colour, texture) {
                        held_out.push((shape, colour, texture));
                    }
                }
            }
        }
        assert_eq!(held_out.len(), 12, "held out: {held_out:?}");
        for &shape in Shape::ALL {
            let n = held_out.iter().filter(|h| h.0 == shape).count();
            assert!(n <= 6, "{shape:?} loses {n} of its 24 compositions");
        }
    }

    #[test]
    fn objects_stay_in_distinct_cells() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..500 {
            let scene = Scene::sample(Compositions::Seen, &mut rng);
            let mut cells: Vec<_> = scene.objects.iter().map(Object::cell).collect();
            cells.sort_unstable();
            cells.dedup();
            let n_objects = scene.objects.len();
            assert_eq!(cells.len(), n_objects, "objects share a cell: {scene:?}");
            let has_held_out = scene.has_held_out();
            assert!(!has_held_out, "{scene:?} holds a held-out composition");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_scene() {
        let draw = |seed| Scene::sample(Compositions::All, &mut ChaCha8Rng::seed_from_u64(seed));
        assert_eq!(draw(7), draw(7), "sampling is not repeatable");
        assert_ne!(draw(7), draw(8), "the seed changes nothing");
    }
}
