//! Pictures that are not photographs: drawn scenes, noise, colour gradients, text on a screen and line drawings.

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::line_drawing::line_drawing;
use super::text_picture::text_picture;
use crate::preprocess::RgbPixels;
use crate::scenes::grammar::full_description;
use crate::scenes::{Compositions, Scene, Wording, say};
use crate::train::gallery::pictures::out_of_distribution_pictures;
use crate::train::gallery::png::picture;

/// Pictures of each kind.
const N_OF_KIND: usize = 200;
/// Seed of the pictures, which are the same in every run.
const SEED: u64 = 4_000_000;
/// Kinds of out-of-distribution pictures of the scenes' model that are not photographs either.
const KINDS: [&str; 2] = ["white noise", "colour gradients"];

/// Kind that marks are measured on and "none of the above" is not: it was added when the marks had been chosen.
pub const LINE_DRAWINGS: &str = "line drawings";

/// Pictures that are not photographs, by kind; always the same.
#[must_use]
pub fn outsider_pictures() -> Vec<(String, Vec<RgbPixels>)> {
    let rng = &mut ChaCha8Rng::seed_from_u64(SEED);
    let scenes = (0..N_OF_KIND)
        .map(|_| picture(&Scene::sample(Compositions::All, rng)))
        .collect();
    let texts = (0..N_OF_KIND).map(|_| text_screen(rng)).collect();
    let mut kinds = vec![
        ("drawn scenes".to_owned(), scenes),
        ("text on a screen".to_owned(), texts),
    ];
    let others = out_of_distribution_pictures(rng).into_iter();
    let others = others.filter(|(kind, _)| KINDS.contains(kind));
    kinds.extend(others.map(|(kind, pictures)| (kind.to_owned(), pictures)));
    let drawings = (0..N_OF_KIND).map(|_| line_drawing(rng)).collect();
    kinds.push((LINE_DRAWINGS.to_owned(), drawings));
    kinds
}

/// A screen full of sentences, dark on light or light on dark.
fn text_screen(rng: &mut ChaCha8Rng) -> RgbPixels {
    let sentences = (0..rng.random_range(2..12)).map(|_| {
        let scene = Scene::sample(Compositions::All, rng);
        say(&full_description(&scene, rng), Wording::Varied, rng)
    });
    let text = sentences.collect::<Vec<_>>().join(". ");
    let mut tone = |least: u8, most: u8| std::array::from_fn(|_| rng.random_range(least..=most));
    let mut colours = [tone(200, 255), tone(0, 80)];
    if rng.random() {
        colours.reverse();
    }
    text_picture(&text, colours, rng.random_range(1..=3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_different_pictures() {
        let kinds = outsider_pictures();
        let names: Vec<&str> = kinds.iter().map(|(kind, _)| kind.as_str()).collect();
        let expected = [
            "drawn scenes",
            "text on a screen",
            "white noise",
            "colour gradients",
            LINE_DRAWINGS,
        ];
        assert_eq!(names, expected, "kinds");
        for (kind, pictures) in &kinds {
            assert_eq!(pictures.len(), N_OF_KIND, "{kind}");
            assert_ne!(pictures[0], pictures[1], "{kind}");
        }
        let rng = || ChaCha8Rng::seed_from_u64(SEED);
        assert!(
            text_screen(&mut rng()) == text_screen(&mut rng()),
            "of one seed"
        );
    }
}
