//! The scene of the studio: objects on a ground that a visitor edits, short enough for a link.

use std::fmt;

use crate::scenes::Scene;
use crate::scenes::scene::{
    Colour, Ground, JITTER, Light, MAX_OBJECTS, Object, Shape, Size, Texture,
};
use crate::scenes::vocabulary::{Attribute, term_for};

/// Positions are kept in thousandths of the picture's side, so that a link brings back exactly what was drawn.
const SIDE: u16 = 1000;
/// Digits of an object in a link: four attributes and two positions.
const N_DIGITS: usize = 10;
/// Greatest error of positions in thousandths, as a share of the side.
const ROUNDING: f32 = 0.001;
/// Centres of the cells along an axis, as shares of the side.
const CENTRES: [f32; 3] = [1.0 / 6.0, 0.5, 5.0 / 6.0];
/// Places of new objects, in turn: the middle first, then the corners.
const FREE_PLACES: [[u16; 2]; 5] = [[500, 500], [167, 167], [833, 167], [167, 833], [833, 833]];

/// A scene that a visitor edits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Drawing {
    /// One to four objects, painted in order.
    pub objects: Vec<DrawnObject>,
    /// Ground behind all of the objects.
    pub ground: Ground,
    /// Light on the whole scene.
    pub light: Light,
}

/// An object of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DrawnObject {
    /// Outline of the object, such as a star.
    pub shape: Shape,
    /// Paint of the object; stripes and dots add a second colour.
    pub colour: Colour,
    /// Size of the object: one of three radii.
    pub size: Size,
    /// Fill of the object: flat, striped or dotted.
    pub texture: Texture,
    /// Centre from the left, in thousandths of the side.
    pub x: u16,
    /// Centre from the top, in thousandths of the side.
    pub y: u16,
}

impl Default for Drawing {
    /// The scene of the last starting caption.
    fn default() -> Self {
        let object = |shape, colour, size, y| DrawnObject {
            shape,
            colour,
            size,
            texture: Texture::Solid,
            x: 500,
            y,
        };
        Self {
            objects: vec![
                object(Shape::Star, Colour::Red, Size::Small, 167),
                object(Shape::Circle, Colour::Blue, Size::Large, 833),
            ],
            ground: Ground::White,
            light: Light::Bright,
        }
    }
}

impl Drawing {
    /// The drawing as a scene of the drawn world.
    pub fn scene(&self) -> Scene {
        Scene {
            objects: self.objects.iter().map(DrawnObject::object).collect(),
            ground: self.ground,
            light: self.light,
        }
    }

    /// The drawing of a scene, its positions rounded.
    pub fn of(scene: &Scene) -> Self {
        Self {
            objects: scene.objects.iter().map(DrawnObject::of).collect(),
            ground: scene.ground,
            light: scene.light,
        }
    }

    /// Adds an object where there is room, like the last one but in another shape, and returns its place; `None` where
    /// the drawing is full.
    pub fn add(&mut self) -> Option<usize> {
        if self.objects.len() >= MAX_OBJECTS {
            return None;
        }
        let last = *self.objects.last()?;
        let is_free = |[x, y]: &[u16; 2]| {
            let clash =
                |object: &DrawnObject| object.x.abs_diff(*x) < 250 && object.y.abs_diff(*y) < 250;
            !self.objects.iter().any(clash)
        };
        let [x, y] = FREE_PLACES.into_iter().find(is_free).unwrap_or_default();
        self.objects.push(DrawnObject {
            shape: Shape::ALL[(last.shape.index() + 1) % Shape::ALL.len()],
            x,
            y,
            ..last
        });
        Some(self.objects.len() - 1)
    }

    /// Takes an object away, unless it is the last one.
    pub fn remove(&mut self, i: usize) -> bool {
        let can = self.objects.len() > 1 && i < self.objects.len();
        if can {
            self.objects.remove(i);
        }
        can
    }

    /// Moves an object to a point, the whole of it kept within the picture.
    pub fn place(&mut self, i: usize, x: f64, y: f64) {
        if let Some(object) = self.objects.get_mut(i) {
            (object.x, object.y) = (thousandths(x), thousandths(y));
            object.keep_within();
        }
    }

    /// Moves an object by so many thousandths of the side, the whole of it kept within the picture.
    pub fn shift(&mut self, i: usize, dx: i16, dy: i16) {
        if let Some(object) = self.objects.get_mut(i) {
            object.x = object.x.saturating_add_signed(dx);
            object.y = object.y.saturating_add_signed(dy);
            object.keep_within();
        }
    }

    /// Whether an object lies as none did in training: over the line between two cells, or in a cell with another.
    pub fn is_between_places(&self) -> bool {
        let cells: Vec<usize> = self
            .objects
            .iter()
            .map(|object| object.object().cell())
            .collect();
        let shares_a_cell = |i: usize| cells[..i].contains(&cells[i]);
        (0..cells.len()).any(|i| shares_a_cell(i) || self.objects[i].is_over_a_line())
    }

    /// The drawing as digits, for a link.
    pub fn encode(&self) -> String {
        let object = |object: &DrawnObject| {
            let [shape, colour] = [object.shape.index(), object.colour.index()];
            let [size, texture] = [object.size.index(), object.texture.index()];
            format!(
                "{shape}{colour}{size}{texture}{:03}{:03}",
                object.x, object.y
            )
        };
        let objects: String = self.objects.iter().map(object).collect();
        format!("{}{}{objects}", self.ground.index(), self.light.index())
    }

    /// The drawing of these digits; `None` where they stand for none.
    pub fn decode(text: &str) -> Option<Self> {
        let digits: Vec<u16> = text
            .chars()
            .map(|c| c.to_digit(10).and_then(|digit| u16::try_from(digit).ok()))
            .collect::<Option<_>>()?;
        let (&[ground, light], objects) = digits.split_first_chunk::<2>()?;
        let objects: Vec<DrawnObject> = objects
            .chunks(N_DIGITS)
            .map(DrawnObject::decode)
            .collect::<Option<_>>()?;
        let fits = (1..=MAX_OBJECTS).contains(&objects.len());
        Some(Self {
            objects,
            ground: *Ground::ALL.get(usize::from(ground))?,
            light: *Light::ALL.get(usize::from(light))?,
        })
        .filter(|_| fits)
    }
}

impl DrawnObject {
    fn object(&self) -> Object {
        Object {
            shape: self.shape,
            colour: self.colour,
            size: self.size,
            texture: self.texture,
            x: share(self.x),
            y: share(self.y),
        }
    }

    fn of(object: &Object) -> Self {
        Self {
            shape: object.shape,
            colour: object.colour,
            size: object.size,
            texture: object.texture,
            x: thousandths(f64::from(object.x)),
            y: thousandths(f64::from(object.y)),
        }
    }

    fn decode(digits: &[u16]) -> Option<Self> {
        let &[shape, colour, size, texture, x2, x1, x0, y2, y1, y0] = digits else {
            return None;
        };
        Some(Self {
            shape: *Shape::ALL.get(usize::from(shape))?,
            colour: *Colour::ALL.get(usize::from(colour))?,
            size: *Size::ALL.get(usize::from(size))?,
            texture: *Texture::ALL.get(usize::from(texture))?,
            x: 100 * x2 + 10 * x1 + x0,
            y: 100 * y2 + 10 * y1 + y0,
        })
    }

    /// Moves the centre so that no part is beyond an edge of the picture.
    fn keep_within(&mut self) {
        let radius = thousandths(f64::from(self.size.radius()));
        self.x = self.x.clamp(radius, SIDE - radius);
        self.y = self.y.clamp(radius, SIDE - radius);
    }

    /// Whether it reaches over the edge of its cell, further than in training.
    fn is_over_a_line(&self) -> bool {
        let Object { x, y, size, .. } = self.object();
        let centre = |at: f32| CENTRES[usize::from(at >= 1.0 / 3.0) + usize::from(at >= 2.0 / 3.0)];
        let room = (1.0_f32 / 6.0 - size.radius()).max(JITTER) + ROUNDING;
        [x, y].into_iter().any(|at| (at - centre(at)).abs() > room)
    }

    /// Place of it in the words of the captions, such as `at the top left`.
    pub fn place_text(&self) -> &'static str {
        let term = term_for(Attribute::Cell, 1 << self.object().cell());
        term.and_then(|term| term.words.first().copied())
            .unwrap_or_default()
    }

    /// The object in words, such as `small solid red star`.
    pub fn text(&self) -> String {
        let (size, texture) = (value_name(self.size), value_name(self.texture));
        let (colour, shape) = (value_name(self.colour), value_name(self.shape));
        format!("{size} {texture} {colour} {shape}")
    }
}

/// Sentence on a move of `(dx, dy)` thousandths of the side: where the object lies now, and whether an edge stopped it
/// on the way.
pub fn moved_text(before: DrawnObject, (dx, dy): (i16, i16), now: DrawnObject) -> String {
    let went = |from: u16, to: u16| i32::from(to) - i32::from(from);
    let went = (went(before.x, now.x), went(before.y, now.y));
    let verb = match went == (dx.into(), dy.into()) {
        true => "moved, now",
        false => "the edge stops it",
    };
    let [across, down] = [now.x, now.y].map(|at| (at + 5) / 10);
    format!(
        "{verb} {}, {across} % across and {down} % down",
        now.place_text()
    )
}

/// Thousandths as a share of the side; those nearest to a cell's centre stand for it, so that what lies there is drawn
/// as in the gallery.
fn share(at: u16) -> f32 {
    let mut centres = CENTRES.into_iter();
    let centre = centres.find(|centre| thousandths(f64::from(*centre)) == at);
    centre.unwrap_or_else(|| f32::from(at) / f32::from(SIDE))
}

/// A share of the side in thousandths, kept within the picture.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the picture"
)]
fn thousandths(share: f64) -> u16 {
    (share * f64::from(SIDE))
        .round()
        .clamp(0.0, f64::from(SIDE - 1)) as u16
}

/// Name of an attribute's value, such as `red` or `striped`.
pub fn value_name(value: impl fmt::Debug) -> String {
    format!("{value:?}").to_lowercase()
}

/// Pixels as a file of the format BMP: 24 bits each, uncompressed, `side` × `side`.
pub fn bmp(pixels: &[u8], side: usize) -> Vec<u8> {
    const HEADER: usize = 54;
    let n_padding = (4 - 3 * side % 4) % 4;
    let n_bytes = (3 * side + n_padding) * side;
    let word = |value: usize| u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes();
    let mut file = Vec::with_capacity(HEADER + n_bytes);
    file.extend(b"BM");
    for value in [HEADER + n_bytes, 0, HEADER, 40, side, side] {
        file.extend(word(value));
    }
    file.extend([1, 0, 24, 0]);
    for value in [0, n_bytes, 0, 0, 0, 0] {
        file.extend(word(value));
    }
    // Rows from the bottom up, blue first.
    for row in pixels.chunks(3 * side).rev() {
        let swapped = row.chunks(3).flat_map(|pixel| pixel.iter().rev());
        file.extend(swapped);
        file.extend(&[0; 3][..n_padding]);
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::wall::wall_scenes;
    use crate::explorer::world::World;
    use crate::scenes::parse;

    #[test]
    fn every_starting_caption_fits_the_first_drawing() {
        let scene = Drawing::default().scene();
        for caption in World::Scenes.captions() {
            let description = parse(caption).expect("the world understands it");
            assert!(description.fits(&scene), "{caption:?} fits {scene:?}");
        }
    }

    #[test]
    fn a_drawing_comes_back_from_its_digits() {
        let mut drawing = Drawing::default();
        while drawing.add().is_some() {}
        drawing.shift(3, -7, 12);
        drawing.ground = Ground::Mint;
        let digits = drawing.encode();
        assert_eq!(Drawing::decode(&digits), Some(drawing), "through {digits}");
    }

    #[test]
    fn digits_that_stand_for_no_drawing_are_refused() {
        let whole = Drawing::default().encode();
        let broken = [
            "",
            "00",
            "0x",
            &whole[..whole.len() - 1],
            "9000005005000",
            "00900050050012345",
            &format!("{whole}{}{}", &whole[2..], &whole[2..]),
        ];
        for digits in broken {
            assert_eq!(Drawing::decode(digits), None, "for {digits:?}");
        }
    }

    #[test]
    fn an_object_stays_within_the_picture() {
        let mut drawing = Drawing::default();
        drawing.shift(0, -1000, 1000);
        let object = drawing.objects[0];
        assert_eq!((object.x, object.y), (95, 905), "pushed beyond two edges");
        drawing.place(1, 1.7, -0.2);
        let object = drawing.objects[1];
        assert_eq!(
            (object.x, object.y),
            (835, 165),
            "dragged beyond two edges, a large one"
        );
    }

    #[test]
    fn each_move_is_said_and_so_is_the_edge() {
        let mut drawing = Drawing::default();
        let mut say = |dx, dy| {
            let before = drawing.objects[0];
            drawing.shift(0, dx, dy);
            moved_text(before, (dx, dy), drawing.objects[0])
        };
        for (step, expected) in [
            (
                (0, -10),
                "moved, now at the top centre, 50 % across and 16 % down",
            ),
            (
                (0, -10),
                "moved, now at the top centre, 50 % across and 15 % down",
            ),
            (
                (0, -100),
                "the edge stops it at the top centre, 50 % across and 10 % down",
            ),
            (
                (0, -10),
                "the edge stops it at the top centre, 50 % across and 10 % down",
            ),
            (
                (-10, 0),
                "moved, now at the top centre, 49 % across and 10 % down",
            ),
        ] {
            assert_eq!(say(step.0, step.1), expected, "after {step:?}");
        }
    }

    #[test]
    fn a_shape_over_a_line_or_beside_another_in_its_cell_is_between_places() {
        let mut drawing = Drawing::default();
        assert!(!drawing.is_between_places(), "as in training");
        for (x, y, expected) in [
            (500, 167, false),
            (430, 167, false),
            (420, 167, true),
            (333, 500, true),
            (167, 833, false),
            (500, 760, true),
        ] {
            drawing.place(0, f64::from(x) / 1e3, f64::from(y) / 1e3);
            let found = drawing.is_between_places();
            assert_eq!(found, expected, "a small star at {x}, {y}");
        }
        drawing.place(0, 0.5, 0.167);
        drawing.place(1, 0.5, 0.8);
        assert!(drawing.is_between_places(), "a large circle reaches up");
        let [star, circle] = [0, 1].map(|i: usize| drawing.objects[i].place_text());
        assert_eq!(
            [star, circle],
            ["at the top centre", "at the bottom centre"]
        );
    }

    #[test]
    fn no_scene_of_the_training_is_between_places() {
        for scene in wall_scenes() {
            let drawing = Drawing::of(&scene);
            assert!(!drawing.is_between_places(), "{drawing:?}");
        }
    }

    #[test]
    fn four_objects_fit_and_one_stays() {
        let mut drawing = Drawing::default();
        let added = [drawing.add(), drawing.add()];
        assert_eq!(added, [Some(2), Some(3)], "two more");
        assert_eq!(drawing.add(), None, "four are as many as a scene holds");
        let places: Vec<_> = drawing.objects.iter().map(|p| (p.x, p.y)).collect();
        for (i, place) in places.iter().enumerate() {
            assert!(!places[..i].contains(place), "each alone: {places:?}");
        }
        while drawing.remove(0) {}
        assert_eq!(drawing.objects.len(), 1, "a scene has at least one object");
    }

    #[test]
    fn a_scene_drawn_again_is_in_the_same_cells() {
        let drawing = Drawing::default();
        let again = Drawing::of(&drawing.scene());
        assert_eq!(again, drawing, "positions are kept to the thousandth");
    }

    #[test]
    fn a_bitmap_has_its_rows_from_below_and_blue_first() {
        let pixels = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let file = bmp(&pixels, 2);
        assert_eq!(&file[..2], b"BM", "the format's mark");
        assert_eq!(file.len(), 54 + 2 * 8, "two rows, padded to eight bytes");
        let rows = [9, 8, 7, 12, 11, 10, 0, 0, 3, 2, 1, 6, 5, 4, 0, 0];
        assert_eq!(&file[54..], rows, "the lower row first");
    }
}
