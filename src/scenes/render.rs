//! Draws a scene at any resolution, antialiased by supersampling.

use super::scene::{Colour, Ground, Light, Object, Scene, Shape, Texture};

/// Side of the finest grid on which a picture is sampled; fewer pixels get more subsamples each.
const FINEST_SIDE: usize = 256;
/// Share of full light in a dim scene.
const DIM: f32 = 0.5;
/// Period of stripes, as a share of the picture's side.
const STRIPE_PERIOD: f32 = 0.078;
/// Distance between dots, and their radius, as shares of the picture's side.
const DOT_PITCH: f32 = 0.074;
const DOT_RADIUS: f32 = 0.024;

type Rgb = [f32; 3];

/// Draws a scene as `side` × `side` pixels, three bytes each, row by row.
///
/// # Examples
/// ```
/// use kappascope::scenes::{Compositions, Scene, render};
/// use rand::{SeedableRng as _, rngs::ChaCha8Rng};
/// let scene = Scene::sample(Compositions::All, &mut ChaCha8Rng::seed_from_u64(1));
/// assert_eq!(render(&scene, 64).len(), 3 * 64 * 64);
/// ```
pub fn render(scene: &Scene, side: usize) -> Vec<u8> {
    let ground = scene.ground.rgb();
    let mut canvas = vec![ground; side * side];
    for object in &scene.objects {
        paint(object, &mut canvas, side);
    }
    let brightness = scene.light.brightness();
    canvas
        .iter()
        .flatten()
        .map(|&channel| to_byte(channel * brightness))
        .collect()
}

/// Every colour that a scene's ground can have, in either light.
pub fn ground_colours() -> Vec<[u8; 3]> {
    let in_light = |light: &Light| {
        let brightness = light.brightness();
        Ground::ALL
            .iter()
            .map(move |ground| ground.rgb().map(|channel| to_byte(channel * brightness)))
    };
    Light::ALL.iter().flat_map(in_light).collect()
}

impl Light {
    /// Factor on every channel.
    const fn brightness(self) -> f32 {
        match self {
            Self::Bright => 1.0,
            Self::Dim => DIM,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to a byte's range"
)]
fn to_byte(channel: f32) -> u8 {
    channel.round().clamp(0.0, 255.0) as u8
}

/// Blends one object into the canvas, pixel by pixel of its bounding box.
fn paint(object: &Object, canvas: &mut [Rgb], side: usize) {
    let reach = object.size.radius() * 1.1;
    let columns = pixels_between(object.x - reach, object.x + reach, side);
    for row in pixels_between(object.y - reach, object.y + reach, side) {
        for column in columns.clone() {
            let pixel = &mut canvas[row * side + column];
            *pixel = blend(object, *pixel, column, row, side);
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the picture"
)]
fn pixels_between(low: f32, high: f32, side: usize) -> std::ops::Range<usize> {
    let first = (low * side as f32).floor().max(0.0) as usize;
    let last = (high * side as f32).ceil().max(0.0) as usize;
    first.min(side)..last.min(side)
}

/// Subsamples along each axis of a pixel, at least two so that edges are always smooth.
fn subsamples(side: usize) -> usize {
    (FINEST_SIDE / side.max(1)).clamp(2, 4)
}

/// The mean colour over a pixel's subsamples.
fn blend(object: &Object, below: Rgb, column: usize, row: usize, side: usize) -> Rgb {
    let subsamples = subsamples(side);
    let step = 1.0 / (side * subsamples) as f32;
    let (main, second) = object.colour.rgb_pair();
    let (mut n_main, mut n_second) = (0.0, 0.0);
    for i in 0..subsamples {
        for j in 0..subsamples {
            let dx = ((column * subsamples + j) as f32 + 0.5) * step - object.x;
            let dy = ((row * subsamples + i) as f32 + 0.5) * step - object.y;
            let radius = object.size.radius();
            if !object.shape.contains(dx / radius, dy / radius) {
                continue;
            }
            if object.texture.is_second(dx, dy) {
                n_second += 1.0;
            } else {
                n_main += 1.0;
            }
        }
    }
    let n = (subsamples * subsamples) as f32;
    std::array::from_fn(|c| {
        (main[c] * n_main + second[c] * n_second + below[c] * (n - n_main - n_second)) / n
    })
}

impl Shape {
    /// Whether a point lies inside the outline; the origin is the centre, 1 the radius, `v` points down.
    fn contains(self, u: f32, v: f32) -> bool {
        let r = u.hypot(v);
        match self {
            Self::Circle => r <= 1.0,
            Self::Square => u.abs().max(v.abs()) <= 0.88,
            Self::Triangle => v <= 0.8 && u.abs() <= (v + 1.0) / 1.8 * 1.05,
            Self::Star => inside_star(u, v),
            Self::Cross => u.abs().max(v.abs()) <= 1.0 && u.abs().min(v.abs()) <= 0.34,
            Self::Ring => (0.48..=1.0).contains(&r),
        }
    }
}

/// Inside a five-pointed star whose tips lie at 1.08 and notches at 0.45 of the radius.
fn inside_star(u: f32, v: f32) -> bool {
    const TIP: f32 = 1.08;
    const NOTCH: f32 = 0.45;
    let sector = std::f32::consts::TAU / 5.0;
    let angle = u.atan2(-v).rem_euclid(sector);
    let angle = angle.min(sector - angle); // from the nearest tip, 0 to 36 degrees
    let (r, half) = (u.hypot(v), sector / 2.0);
    let (x, y) = (r * angle.cos(), r * angle.sin());
    let (notch_x, notch_y) = (NOTCH * half.cos(), NOTCH * half.sin());
    (notch_x - TIP) * y - notch_y * (x - TIP) >= 0.0
}

impl Texture {
    /// Whether a point, measured from the object's centre as a share of the picture's side, has the second colour.
    fn is_second(self, dx: f32, dy: f32) -> bool {
        match self {
            Self::Solid => false,
            Self::Striped => {
                ((dx + dy) * std::f32::consts::FRAC_1_SQRT_2 / STRIPE_PERIOD).rem_euclid(1.0) < 0.5
            }
            Self::Dotted => {
                let offset = |d: f32| d - (d / DOT_PITCH).round() * DOT_PITCH;
                offset(dx).hypot(offset(dy)) <= DOT_RADIUS
            }
        }
    }
}

impl Colour {
    /// Red, green and blue from 0 to 255.
    pub const fn rgb(self) -> [f32; 3] {
        match self {
            Self::Red => [214.0, 40.0, 40.0],
            Self::Orange => [242.0, 132.0, 32.0],
            Self::Yellow => [247.0, 208.0, 48.0],
            Self::Green => [46.0, 150.0, 74.0],
            Self::Blue => [38.0, 92.0, 208.0],
            Self::Purple => [124.0, 54.0, 158.0],
            Self::Pink => [242.0, 134.0, 182.0],
            Self::Black => [34.0, 34.0, 40.0],
        }
    }

    /// The colour and the second colour of its stripes and dots: paler for dark paint, darker for pale paint.
    fn rgb_pair(self) -> (Rgb, Rgb) {
        let main = self.rgb();
        let luminance = 0.299 * main[0] + 0.587 * main[1] + 0.114 * main[2];
        let (target, share) = if luminance > 150.0 {
            (0.0, 0.5)
        } else {
            (255.0, 0.72)
        };
        let second = main.map(|channel| channel + (target - channel) * share);
        (main, second)
    }
}

impl Ground {
    /// Red, green and blue from 0 to 255.
    pub const fn rgb(self) -> [f32; 3] {
        match self {
            Self::White => [250.0, 250.0, 248.0],
            Self::Grey => [172.0, 172.0, 176.0],
            Self::Beige => [228.0, 208.0, 168.0],
            Self::Mint => [184.0, 226.0, 204.0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::Size;
    use super::*;

    fn one(shape: Shape, texture: Texture, light: Light) -> Scene {
        let object = Object {
            shape,
            colour: Colour::Red,
            size: Size::Large,
            texture,
            x: 0.5,
            y: 0.5,
        };
        Scene {
            objects: vec![object],
            ground: Ground::White,
            light,
        }
    }

    fn red_share(scene: &Scene, side: usize) -> f32 {
        let pixels = render(scene, side);
        let is_red = |p: &&[u8]| p[0] > 150 && p[1] < 100;
        let n_red = pixels.chunks_exact(3).filter(is_red).count();
        n_red as f32 / (side * side) as f32
    }

    #[test]
    fn a_large_circle_covers_its_area() {
        let expected = std::f32::consts::PI * Size::Large.radius() * Size::Large.radius();
        let found = red_share(&one(Shape::Circle, Texture::Solid, Light::Bright), 256);
        let is_near = (found - expected).abs() < 0.01 * expected.max(0.1);
        assert!(is_near, "share {found}, expected {expected}");
    }

    #[test]
    fn shapes_and_textures_differ_by_many_pixels() {
        let reference = render(&one(Shape::Circle, Texture::Solid, Light::Bright), 64);
        for &shape in Shape::ALL {
            for &texture in Texture::ALL {
                let pixels = render(&one(shape, texture, Light::Bright), 64);
                let differ = |(a, b): &(&u8, &u8)| a.abs_diff(**b) > 40;
                let n = pixels.iter().zip(&reference).filter(differ).count();
                let same = (shape, texture) == (Shape::Circle, Texture::Solid);
                let is_told = same == (n == 0) && (same || n > 60);
                assert!(is_told, "{shape:?} {texture:?}: {n} channels differ");
            }
        }
    }

    #[test]
    fn a_dim_scene_is_half_as_light() {
        let bright = render(&one(Shape::Star, Texture::Solid, Light::Bright), 32);
        let dim = render(&one(Shape::Star, Texture::Solid, Light::Dim), 32);
        let error = |(b, d): (&u8, &u8)| (f32::from(*b) / 2.0 - f32::from(*d)).abs();
        let worst = bright.iter().zip(&dim).map(error).fold(0.0, f32::max);
        assert!(worst <= 1.0, "greatest difference {worst}");
    }

    #[test]
    fn the_ground_of_a_scene_is_one_of_the_grounds_colours() {
        let colours = ground_colours();
        for &ground in Ground::ALL {
            for &light in Light::ALL {
                let scene = Scene {
                    ground,
                    ..one(Shape::Star, Texture::Solid, light)
                };
                let corner = &render(&scene, 16)[..3];
                let is_one = colours.iter().any(|colour| colour == corner);
                assert!(is_one, "{ground:?}, {light:?}: {corner:?}, not {colours:?}");
            }
        }
    }

    #[test]
    fn objects_over_the_edge_are_cut_and_do_not_panic() {
        let mut scene = one(Shape::Ring, Texture::Dotted, Light::Bright);
        scene.objects[0].x = -0.05;
        scene.objects[0].y = 1.2;
        let n_bytes = render(&scene, 48).len();
        assert_eq!(n_bytes, 48 * 48 * 3, "wrong number of bytes");
    }
}
