//! Line drawings: outlines of things as a child or a slide has them.

use rand::Rng;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;

use crate::preprocess::RgbPixels;

/// Side of a picture in pixels.
const SIDE: usize = 256;
/// Corners of the polygon that stands for a circle.
const N_CORNERS: usize = 40;
/// Dots painted per pixel of a stroke.
const DOTS: f32 = 2.0;

/// Points that a stroke joins, within a square of side 1.
type Stroke = Vec<[f32; 2]>;

/// Two to eight outlines on paper of one colour, all of one width.
pub(super) fn line_drawing<R: Rng>(rng: &mut R) -> RgbPixels {
    let paper: [u8; 3] = match rng.random_range(0..3) {
        0 => [255; 3],
        1 => [250, 245, 230],
        _ => rng.random(),
    };
    let mut drawing = RgbPixels {
        width: SIDE,
        height: SIDE,
        pixels: paper.repeat(SIDE * SIDE),
    };
    let width = rng.random_range(2..6);
    for _ in 0..rng.random_range(2..9) {
        let ink = if rng.random() { [0; 3] } else { rng.random() };
        let size = rng.random_range(0.1..0.45) * SIDE as f32;
        let mut corner = || rng.random_range(0.0..SIDE as f32 - size);
        let corner = [corner(), corner()];
        let things = [circle(), square(), triangle(), house(), figure()];
        for stroke in things.choose(rng).into_iter().flatten() {
            let places = stroke
                .iter()
                .map(|point| [0, 1].map(|i| corner[i] + size * point[i]));
            draw(
                &mut drawing,
                &places.collect::<Vec<[f32; 2]>>(),
                (ink, width),
            );
        }
    }
    drawing
}

fn circle() -> Vec<Stroke> {
    vec![round([0.5, 0.5], 0.5)]
}

fn square() -> Vec<Stroke> {
    vec![vec![
        [0.0, 0.0],
        [1.0, 0.0],
        [1.0, 1.0],
        [0.0, 1.0],
        [0.0, 0.0],
    ]]
}

fn triangle() -> Vec<Stroke> {
    vec![vec![[0.0, 1.0], [0.5, 0.0], [1.0, 1.0], [0.0, 1.0]]]
}

/// Walls and a roof.
fn house() -> Vec<Stroke> {
    let walls = vec![[0.1, 0.4], [0.9, 0.4], [0.9, 1.0], [0.1, 1.0], [0.1, 0.4]];
    vec![walls, vec![[0.1, 0.4], [0.5, 0.0], [0.9, 0.4]]]
}

/// A person of a head and four lines.
fn figure() -> Vec<Stroke> {
    let body = vec![[0.5, 0.3], [0.5, 0.7]];
    let arms = vec![[0.2, 0.45], [0.8, 0.45]];
    let legs = vec![[0.3, 1.0], [0.5, 0.7], [0.7, 1.0]];
    vec![round([0.5, 0.15], 0.15), body, arms, legs]
}

fn round(centre: [f32; 2], radius: f32) -> Stroke {
    let corners = 0..=N_CORNERS;
    let turn = |i: usize| (i as f32 / N_CORNERS as f32 * std::f32::consts::TAU).sin_cos();
    let places = corners
        .map(turn)
        .map(|(y, x)| [centre[0] + radius * x, centre[1] + radius * y]);
    places.collect()
}

/// Paints squares along the lines between points.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places in a small picture"
)]
fn draw(drawing: &mut RgbPixels, points: &[[f32; 2]], (ink, width): ([u8; 3], usize)) {
    for (from, to) in points.iter().zip(points.iter().skip(1)) {
        let length = (to[0] - from[0]).hypot(to[1] - from[1]);
        let n_dots = (DOTS * length) as usize + 1;
        for dot in 0..=n_dots {
            let part = dot as f32 / n_dots as f32;
            let [x, y] = [0, 1].map(|i| (from[i] + part * (to[i] - from[i])) as usize);
            for (x, y) in (0..width * width).map(|i| (x + i % width, y + i / width)) {
                if x < SIDE && y < SIDE {
                    drawing.pixels[3 * (y * SIDE + x)..][..3].copy_from_slice(&ink);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand::rngs::ChaCha8Rng;

    use super::*;

    #[test]
    fn ink_lies_along_the_lines_alone() {
        let mut drawing = RgbPixels {
            width: SIDE,
            height: SIDE,
            pixels: vec![255; 3 * SIDE * SIDE],
        };
        draw(
            &mut drawing,
            &[[10.0, 20.0], [30.0, 20.0]],
            ([0, 10, 20], 2),
        );
        let inked = drawing.pixels.chunks(3).filter(|pixel| pixel[0] == 0);
        assert_eq!(inked.count(), 22 * 2, "two rows of 22 pixels");
        let drawn = line_drawing(&mut ChaCha8Rng::seed_from_u64(1));
        let paper = &drawn.pixels[..3];
        let n_paper = drawn.pixels.chunks(3).filter(|p| *p == paper).count();
        let share = n_paper as f64 / (SIDE * SIDE) as f64;
        assert!(share > 0.5 && share < 1.0, "{share} of it is paper");
    }
}
