//! The pictures of the page's gallery, and pictures that are out of distribution.

use std::path::Path;

use anyhow::Result;
use rand::{Rng, RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::png::{PICTURE_SIDE, picture, png};
use crate::preprocess::RgbPixels;
use crate::report::GalleryEntry;
use crate::scenes::grammar::{N_LEVELS, everything, hierarchy};
use crate::scenes::scene::{Colour, Ground, Light, Object, Shape, Size, Texture};
use crate::scenes::{Scene, Wording, render, say};
use crate::train::files::{make_folder, put, put_json};

/// Writes the gallery's pictures and `gallery.json`.
///
/// # Errors
///
/// The folder cannot be written.
pub fn write(folder: &Path) -> Result<()> {
    make_folder(folder)?;
    let entries = entries();
    for (entry, (_, scene)) in entries.iter().zip(gallery_scenes()) {
        let pixels = render(&scene, PICTURE_SIDE);
        put(&folder.join(&entry.file), png(&pixels, PICTURE_SIDE)?)?;
    }
    put_json(&folder.join("gallery.json"), &entries)
}

/// The scenes' list for `gallery.json`.
fn entries() -> Vec<GalleryEntry> {
    let scenes = gallery_scenes().into_iter().zip(captions());
    let entry = |((id, _), captions): ((&str, Scene), Vec<String>)| GalleryEntry {
        id: id.to_owned(),
        file: format!("{id}.png"),
        alt: captions.last().cloned().unwrap_or_default(),
        captions,
        credit: None,
    };
    scenes.map(entry).collect()
}

/// A picture of a gallery.
#[derive(Debug, Clone)]
pub struct DecodedPicture {
    /// Name of the picture in the gallery, such as `lone-red-star`.
    pub id: String,
    /// Picture as 8-bit RGB, drawn or decoded from its file.
    pub pixels: RgbPixels,
    /// Captions that are true of it.
    pub captions: Vec<String>,
}

/// The pictures of the scenes' gallery.
#[must_use]
pub fn scene_pictures() -> Vec<DecodedPicture> {
    let scenes = gallery_scenes().into_iter().zip(captions());
    let picture = |((id, scene), captions): ((&str, Scene), Vec<String>)| DecodedPicture {
        id: id.to_owned(),
        pixels: picture(&scene),
        captions,
    };
    scenes.map(picture).collect()
}

/// Captions of each picture from the vaguest to the full description; each says all that the one before says, and more.
fn captions() -> impl Iterator<Item = Vec<String>> {
    (0..).zip(gallery_scenes()).map(|(seed, (_, scene))| {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut levels = hierarchy(&scene, rng);
        let order: Vec<usize> = (0..scene.objects.len()).collect();
        levels[N_LEVELS - 1] = everything(&scene, &order);
        levels
            .iter()
            .map(|level| say(level, Wording::Plain, rng))
            .collect()
    })
}

/// An object at a grid cell's centre.
fn object(size: Size, texture: Texture, colour: Colour, shape: Shape, cell: usize) -> Object {
    let centre = [1.0 / 6.0, 0.5, 5.0 / 6.0];
    Object {
        shape,
        colour,
        size,
        texture,
        x: centre[cell % 3],
        y: centre[cell / 3],
    }
}

/// The scene of the golden picture.
pub fn golden_scene() -> Scene {
    let objects = vec![
        object(Size::Small, Texture::Striped, Colour::Red, Shape::Star, 1),
        object(Size::Large, Texture::Solid, Colour::Blue, Shape::Circle, 7),
    ];
    Scene {
        objects,
        ground: Ground::Grey,
        light: Light::Bright,
    }
}

/// The scenes of the gallery: name, ground and light; then size, texture, colour, shape and grid cell of each object.
macro_rules! scenes {
    ($($name:literal, $ground:ident $light:ident:
        $($size:ident $texture:ident $colour:ident $shape:ident $cell:literal),+;)+) => {
        vec![$((
            $name,
            Scene {
                objects: vec![$(
                    object(Size::$size, Texture::$texture, Colour::$colour, Shape::$shape, $cell)
                ),+],
                ground: Ground::$ground,
                light: Light::$light,
            },
        )),+]
    };
}

/// Scenes of the gallery by name, in order; the page shows the first six at the start.
#[must_use]
pub fn gallery_scenes() -> Vec<(&'static str, Scene)> {
    scenes! {
        "star-above-circle", White Bright: Small Solid Red Star 1, Large Solid Blue Circle 7;
        "lone-red-star", Beige Bright: Large Solid Red Star 4;
        "orange-square-and-ring", Grey Bright: Medium Striped Orange Square 3, Medium Solid Yellow Ring 5;
        "red-circles", Mint Bright: Small Solid Red Circle 0, Medium Dotted Red Circle 4, Small Striped Red Circle 8;
        "four-cool-shapes", White Bright: Medium Solid Blue Square 0, Small Dotted Green Triangle 2,
            Large Striped Purple Circle 6, Small Solid Green Ring 8;
        "cross-in-the-dark", Grey Dim: Large Solid Pink Cross 4;
        "black-triangle", White Bright: Small Solid Black Triangle 6;
        "yellow-stars", Mint Dim: Small Solid Yellow Star 1, Medium Striped Yellow Star 5;
        "ring-below-square", Beige Bright: Large Dotted Black Square 1, Medium Solid Orange Ring 7;
        "blue-crosses", Grey Bright: Small Solid Blue Cross 3, Medium Striped Blue Cross 5;
        "green-triangle-corner", Beige Dim: Medium Dotted Green Triangle 2;
        "purple-and-pink", White Bright: Large Solid Purple Square 3, Small Dotted Pink Circle 5, Small Solid Black Star 1;
        "small-red-star", White Bright: Small Solid Red Star 4;
        "large-red-star", White Bright: Large Solid Red Star 4;
        "small-blue-star", White Bright: Small Solid Blue Star 4;
        "large-blue-star", White Bright: Large Solid Blue Star 4;
        "small-red-circle", White Bright: Small Solid Red Circle 4;
        "large-red-circle", White Bright: Large Solid Red Circle 4;
        "small-blue-circle", White Bright: Small Solid Blue Circle 4;
        "large-blue-circle", White Bright: Large Solid Blue Circle 4;
    }
}

/// Number of pictures of each kind that is out of distribution.
const N_OUT_OF_DISTRIBUTION: usize = 200;

/// Pictures that are out of distribution: noise, gradients, one flat colour, and scenes in inverted colours.
pub fn out_of_distribution_pictures<R: Rng>(rng: &mut R) -> Vec<(&'static str, Vec<RgbPixels>)> {
    let mut make = |paint: &dyn Fn(&mut R) -> RgbPixels| {
        let pictures = (0..N_OUT_OF_DISTRIBUTION).map(|_| paint(rng));
        pictures.collect::<Vec<_>>()
    };
    let any = |rng: &mut R| std::array::from_fn(|_| rng.random::<u8>());
    let inverted = |rng: &mut R| {
        let mut inverted = picture(&Scene::sample(crate::scenes::Compositions::All, rng));
        inverted
            .pixels
            .iter_mut()
            .for_each(|channel| *channel = 255 - *channel);
        inverted
    };
    vec![
        ("white noise", make(&|rng| paint(|_, _| any(rng)))),
        ("colour gradients", make(&gradient)),
        (
            "flat colours",
            make(&|rng| {
                let colour = any(rng);
                paint(|_, _| colour)
            }),
        ),
        ("scenes in inverted colours", make(&inverted)),
    ]
}

fn paint(mut colour: impl FnMut(usize, usize) -> [u8; 3]) -> RgbPixels {
    let places = 0..PICTURE_SIDE * PICTURE_SIDE;
    let pixels = places.flat_map(|i| colour(i % PICTURE_SIDE, i / PICTURE_SIDE));
    RgbPixels {
        width: PICTURE_SIDE,
        height: PICTURE_SIDE,
        pixels: pixels.collect(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mean of bytes is a byte"
)]
fn gradient<R: Rng>(rng: &mut R) -> RgbPixels {
    let corners: [[f32; 3]; 4] =
        std::array::from_fn(|_| std::array::from_fn(|_| f32::from(rng.random::<u8>())));
    let side = (PICTURE_SIDE - 1) as f32;
    paint(|x, y| {
        let (u, v) = (x as f32 / side, y as f32 / side);
        std::array::from_fn(|c| {
            let top = corners[0][c] * (1.0 - u) + corners[1][c] * u;
            let bottom = corners[2][c] * (1.0 - u) + corners[3][c] * u;
            (top * (1.0 - v) + bottom * v) as u8
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::explorer::views::studio::drawing::Drawing;
    use crate::explorer::{MINIMAL_PAIRS, drawing_file, word_changes};
    use crate::preprocess::decode;
    use crate::scenes::parse;

    #[test]
    fn the_studio_draws_a_scene_of_the_gallery_as_its_picture() {
        for (name, scene) in gallery_scenes() {
            let file = drawing_file(&Drawing::of(&scene));
            let drawn = decode(&file).expect("a bitmap").rgb;
            assert!(drawn == picture(&scene), "{name} has other pixels");
        }
    }

    /// The minimal pairs that a caption is true of.
    fn fitting(caption: &str) -> Vec<&'static str> {
        let description = parse(caption).expect("the world understands it");
        let scenes = gallery_scenes().into_iter();
        let fits =
            |(id, scene): &(&str, Scene)| MINIMAL_PAIRS.contains(id) && description.fits(scene);
        scenes.filter(fits).map(|(id, _)| id).collect()
    }

    #[test]
    fn a_caption_with_one_word_changed_is_true_of_another_of_the_minimal_pairs() {
        assert_eq!(fitting("a picture"), MINIMAL_PAIRS, "all are drawn");
        for id in MINIMAL_PAIRS {
            let caption = format!("a {}", id.replace('-', " "));
            assert_eq!(fitting(&caption), [id], "{caption}");
            let changes = word_changes(&caption);
            assert!(changes.len() > 2, "{changes:?}");
            for change in changes {
                let found = fitting(&change.caption);
                let is_swap = change.label.contains('→');
                assert_eq!(found.len(), if is_swap { 1 } else { 2 }, "{change:?}");
                assert_ne!(found.contains(&id), is_swap, "{change:?}: {found:?}");
            }
        }
    }

    #[test]
    fn scenes_have_names_and_their_objects_cells_of_their_own() {
        let scenes = gallery_scenes();
        let names: BTreeSet<&str> = scenes.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), scenes.len(), "names: {names:?}");
        for (name, scene) in &scenes {
            let cells: BTreeSet<usize> = scene.objects.iter().map(Object::cell).collect();
            assert_eq!(cells.len(), scene.objects.len(), "cells of {name}");
        }
    }

    #[test]
    fn the_lists_of_the_galleries_are_written_as_the_page_has_them() {
        let scenes = include_str!("../../../public/gallery/gallery.json");
        let photographs = include_str!("../../../public/gallery-photos/gallery.json");
        let read: Vec<GalleryEntry> = serde_json::from_str(photographs).expect("a list");
        assert!(read.iter().all(|entry| entry.credit.is_some()), "{read:?}");
        for (list, file) in [(entries(), scenes), (read, photographs.trim_end())] {
            let json = serde_json::to_string_pretty(&list).expect("plain data");
            assert_eq!(json, file, "of {} pictures", list.len());
        }
    }

    #[test]
    fn an_object_stands_in_the_cell_that_was_asked_for() {
        for cell in 0..9 {
            let found = object(Size::Small, Texture::Solid, Colour::Red, Shape::Star, cell).cell();
            assert_eq!(found, cell, "cell");
        }
    }
}
