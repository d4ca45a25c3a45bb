//! Description of a scene by a caption, and whether a scene fits it.
//!
//! Every word narrows a set of values ("round" leaves circle and ring), so a description is a few bit masks.

use super::scene::{Colour, Ground, Light, N_CELLS, Object, Scene, Shape, Size, Texture};

/// A set of attribute values, one bit for each value's index.
pub type Mask = u16;

/// The mask that allows `n` values.
pub const fn full(n: usize) -> Mask {
    Mask::MAX >> (Mask::BITS as usize - n)
}

/// Whether a mask allows the value at an index.
pub const fn has(mask: Mask, index: usize) -> bool {
    mask & (1 << index) != 0
}

/// Constraints on one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObjectDescription {
    /// Allowed shapes, one bit for each of [`Shape::ALL`].
    pub shapes: Mask,
    /// Allowed colours, one bit for each of [`Colour::ALL`].
    pub colours: Mask,
    /// Allowed sizes, one bit for each of [`Size::ALL`].
    pub sizes: Mask,
    /// Allowed textures, one bit for each of [`Texture::ALL`].
    pub textures: Mask,
    /// Allowed cells of the 3 × 3 grid, one bit each, row by row from the top left.
    pub cells: Mask,
}

impl ObjectDescription {
    /// Any object at all.
    pub const ANY: Self = Self {
        shapes: full(Shape::ALL.len()),
        colours: full(Colour::ALL.len()),
        sizes: full(Size::ALL.len()),
        textures: full(Texture::ALL.len()),
        cells: full(N_CELLS),
    };

    /// Whether an object satisfies every constraint.
    pub fn fits(&self, object: &Object) -> bool {
        has(self.shapes, object.shape.index())
            && has(self.colours, object.colour.index())
            && has(self.sizes, object.size.index())
            && has(self.textures, object.texture.index())
            && has(self.cells, object.cell())
    }

    /// Number of the five attributes that are constrained.
    pub fn n_constraints(&self) -> usize {
        [
            self.shapes != Self::ANY.shapes,
            self.colours != Self::ANY.colours,
            self.sizes != Self::ANY.sizes,
            self.textures != Self::ANY.textures,
            self.cells != Self::ANY.cells,
        ]
        .into_iter()
        .filter(|&constrained| constrained)
        .count()
    }
}

/// Relation of two described objects: the side of the second on which the first lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Grid column further left.
    LeftOf,
    /// Grid column further right.
    RightOf,
    /// Grid row further up.
    Above,
    /// Grid row further down.
    Below,
}

impl Relation {
    /// All four relations, in the order declared.
    pub const ALL: [Self; 4] = [Self::LeftOf, Self::RightOf, Self::Above, Self::Below];

    /// Whether a cell stands in this relation to another.
    pub const fn holds(self, cell: usize, other: usize) -> bool {
        match self {
            Self::LeftOf => cell % 3 < other % 3,
            Self::RightOf => cell % 3 > other % 3,
            Self::Above => cell / 3 < other / 3,
            Self::Below => cell / 3 > other / 3,
        }
    }
}

/// Claim of a caption about the objects.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Claim {
    /// Distinct objects that fit these descriptions, whatever else there is; empty where nothing is claimed.
    Exists(Vec<ObjectDescription>),
    /// Two distinct objects that fit and stand in a relation.
    Related(ObjectDescription, Relation, ObjectDescription),
    /// The number of objects that fit is within these bounds.
    Count(ObjectDescription, CountRange),
}

/// Inclusive bounds on a number of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CountRange {
    /// Least number of objects, itself allowed.
    pub least: usize,
    /// Greatest number of objects, itself allowed.
    pub most: usize,
}

impl CountRange {
    /// Whether a number lies within the bounds.
    pub const fn contains(self, n: usize) -> bool {
        self.least <= n && n <= self.most
    }
}

/// The meaning of a caption.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Description {
    /// Claim about the objects.
    pub claim: Claim,
    /// Allowed grounds, one bit for each of [`Ground::ALL`].
    pub grounds: Mask,
    /// Allowed lights, one bit for each of [`Light::ALL`].
    pub lights: Mask,
}

impl Description {
    /// "A picture": fits every scene.
    ///
    /// # Examples
    /// ```
    /// use kappascope::scenes::{Compositions, Description, Scene};
    /// use rand::{SeedableRng as _, rngs::ChaCha8Rng};
    /// let scene = Scene::sample(Compositions::All, &mut ChaCha8Rng::seed_from_u64(1));
    /// assert!(Description::anything().fits(&scene));
    /// ```
    pub fn anything() -> Self {
        Self::of(Claim::Exists(Vec::new()))
    }

    /// A claim about the objects, on any ground in any light.
    pub fn of(claim: Claim) -> Self {
        Self {
            claim,
            grounds: full(Ground::ALL.len()),
            lights: full(Light::ALL.len()),
        }
    }

    /// Whether a scene fits.
    pub fn fits(&self, scene: &Scene) -> bool {
        has(self.grounds, scene.ground.index())
            && has(self.lights, scene.light.index())
            && self.claim.fits(&scene.objects)
    }

    /// Number of attributes that are constrained: each object's, ground, light, and one for a count or a relation.
    pub fn n_constraints(&self) -> usize {
        let ground = usize::from(self.grounds != full(Ground::ALL.len()));
        let light = usize::from(self.lights != full(Light::ALL.len()));
        let objects = match &self.claim {
            Claim::Exists(objects) => objects.iter().map(ObjectDescription::n_constraints).sum(),
            Claim::Related(a, _, b) => a.n_constraints() + 1 + b.n_constraints(),
            Claim::Count(object, _) => object.n_constraints() + 1,
        };
        ground + light + objects
    }
}

impl Claim {
    fn fits(&self, objects: &[Object]) -> bool {
        match self {
            Self::Exists(descriptions) => n_assignments(descriptions, objects, &|_| true) > 0,
            Self::Related(a, relation, b) => {
                n_assignments(&[*a, *b], objects, &|cells| {
                    relation.holds(cells[0], cells[1])
                }) > 0
            }
            Self::Count(description, range) => range.contains(
                objects
                    .iter()
                    .filter(|object| description.fits(object))
                    .count(),
            ),
        }
    }
}

/// Number of ways to give each description an object of its own, so that the chosen objects' cells are accepted.
pub(super) fn n_assignments(
    descriptions: &[ObjectDescription],
    objects: &[Object],
    accept: &dyn Fn(&[usize]) -> bool,
) -> usize {
    let mut chosen = Vec::with_capacity(descriptions.len());
    extend(descriptions, objects, &mut chosen, accept)
}

fn extend(
    descriptions: &[ObjectDescription],
    objects: &[Object],
    chosen: &mut Vec<usize>,
    accept: &dyn Fn(&[usize]) -> bool,
) -> usize {
    let Some((first, rest)) = descriptions.split_first() else {
        let cells: Vec<usize> = chosen.iter().map(|&i| objects[i].cell()).collect();
        return usize::from(accept(&cells));
    };
    let mut n = 0;
    for (i, object) in objects.iter().enumerate() {
        if !chosen.contains(&i) && first.fits(object) {
            chosen.push(i);
            n += extend(rest, objects, chosen, accept);
            chosen.pop();
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(shape: Shape, colour: Colour, cell: usize) -> Object {
        let centre = [1.0 / 6.0, 0.5, 5.0 / 6.0];
        Object {
            shape,
            colour,
            size: Size::Small,
            texture: Texture::Solid,
            x: centre[cell % 3],
            y: centre[cell / 3],
        }
    }

    fn scene(objects: Vec<Object>) -> Scene {
        Scene {
            objects,
            ground: Ground::White,
            light: Light::Bright,
        }
    }

    fn shaped(shape: Shape) -> ObjectDescription {
        ObjectDescription {
            shapes: 1 << shape.index(),
            ..ObjectDescription::ANY
        }
    }

    #[test]
    fn one_object_cannot_serve_for_two() {
        let star = shaped(Shape::Star);
        let two_stars = Description::of(Claim::Exists(vec![star, star]));
        let one = scene(vec![object(Shape::Star, Colour::Red, 0)]);
        let two = scene(vec![
            object(Shape::Star, Colour::Red, 0),
            object(Shape::Star, Colour::Blue, 4),
        ]);
        assert!(!two_stars.fits(&one), "one star passed for two");
        assert!(two_stars.fits(&two), "two stars were not found");
    }

    #[test]
    fn relations_look_at_the_right_objects() {
        let above = Description::of(Claim::Related(
            shaped(Shape::Star),
            Relation::Above,
            shaped(Shape::Ring),
        ));
        let yes = scene(vec![
            object(Shape::Ring, Colour::Red, 7),
            object(Shape::Star, Colour::Red, 2),
        ]);
        let no = scene(vec![
            object(Shape::Ring, Colour::Red, 2),
            object(Shape::Star, Colour::Red, 7),
        ]);
        assert!(above.fits(&yes), "star above ring was not seen");
        assert!(!above.fits(&no), "star below ring passed for above");
    }

    #[test]
    fn counts_are_exact() {
        let red = ObjectDescription {
            colours: 1 << Colour::Red.index(),
            ..ObjectDescription::ANY
        };
        let two = Description::of(Claim::Count(red, CountRange { least: 2, most: 2 }));
        let objects: Vec<_> = (0..3)
            .map(|cell| object(Shape::Circle, Colour::Red, cell))
            .collect();
        assert!(
            two.fits(&scene(objects[..2].to_vec())),
            "two red things were not counted"
        );
        assert!(!two.fits(&scene(objects)), "three passed for two");
    }
}
