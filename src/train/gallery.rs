//! The pictures that the page hangs, and pictures from elsewhere to test it with.

use std::path::Path;

use anyhow::{Context as _, Result};
use rand::{Rng, RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use serde::Serialize;

use super::export::{PICTURE_SIDE, picture, png};
use crate::preprocess::RgbPixels;
use crate::scenes::grammar::{N_LEVELS, everything, hierarchy};
use crate::scenes::scene::{Colour, Ground, Light, Object, Shape, Size, Texture};
use crate::scenes::{Scene, Wording, render, say};

/// An entry of `gallery.json`.
#[derive(Debug, Serialize)]
struct Entry {
    id: &'static str,
    file: String,
    alt: String,
    captions: Vec<String>,
}

/// Writes the gallery's pictures and `gallery.json`.
///
/// # Errors
///
/// The folder cannot be written.
pub fn write(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let mut entries = Vec::new();
    for ((id, scene), captions) in hung_scenes().into_iter().zip(captions()) {
        let file = format!("{id}.png");
        std::fs::write(
            folder.join(&file),
            png(&render(&scene, PICTURE_SIDE), PICTURE_SIDE)?,
        )?;
        entries.push(Entry {
            id,
            file,
            alt: captions.last().cloned().unwrap_or_default(),
            captions,
        });
    }
    std::fs::write(
        folder.join("gallery.json"),
        serde_json::to_string_pretty(&entries)?,
    )?;
    Ok(())
}

/// Captions of the first pictures, one after the other.
pub fn captions_of(n_pictures: usize) -> Vec<String> {
    captions().take(n_pictures).flatten().collect()
}

/// Captions of each picture from nothing to everything, each of which says all that the one before says, and more.
fn captions() -> impl Iterator<Item = Vec<String>> {
    (0..).zip(hung_scenes()).map(|(seed, (_, scene))| {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut levels = hierarchy(&scene, rng);
        let order: Vec<usize> = (0..scene.objects.len()).collect();
        levels[N_LEVELS - 1] = everything(&scene, &order);
        let said = levels.iter();
        said.map(|description| say(description, Wording::Plain, rng))
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

/// Size, texture, colour, shape and grid cell of an object.
type Traits = (Size, Texture, Colour, Shape, usize);

/// A picture of the gallery: its name, ground and light, and what is on it.
type Shown = (&'static str, Ground, Light, &'static [Traits]);

/// What hangs, in this order; the page shows the first six at the start.
const HUNG: [Shown; 12] = {
    use {Colour as C, Ground as G, Light as L, Shape as S, Size as Z, Texture as T};
    [
        (
            "star-above-circle",
            G::White,
            L::Bright,
            &[
                (Z::Small, T::Solid, C::Red, S::Star, 1),
                (Z::Large, T::Solid, C::Blue, S::Circle, 7),
            ],
        ),
        (
            "lone-red-star",
            G::Beige,
            L::Bright,
            &[(Z::Large, T::Solid, C::Red, S::Star, 4)],
        ),
        (
            "orange-square-and-ring",
            G::Grey,
            L::Bright,
            &[
                (Z::Medium, T::Striped, C::Orange, S::Square, 3),
                (Z::Medium, T::Solid, C::Yellow, S::Ring, 5),
            ],
        ),
        (
            "red-circles",
            G::Mint,
            L::Bright,
            &[
                (Z::Small, T::Solid, C::Red, S::Circle, 0),
                (Z::Medium, T::Dotted, C::Red, S::Circle, 4),
                (Z::Small, T::Striped, C::Red, S::Circle, 8),
            ],
        ),
        (
            "four-cool-shapes",
            G::White,
            L::Bright,
            &[
                (Z::Medium, T::Solid, C::Blue, S::Square, 0),
                (Z::Small, T::Dotted, C::Green, S::Triangle, 2),
                (Z::Large, T::Striped, C::Purple, S::Circle, 6),
                (Z::Small, T::Solid, C::Green, S::Ring, 8),
            ],
        ),
        (
            "cross-in-the-dark",
            G::Grey,
            L::Dim,
            &[(Z::Large, T::Solid, C::Pink, S::Cross, 4)],
        ),
        (
            "black-triangle",
            G::White,
            L::Bright,
            &[(Z::Small, T::Solid, C::Black, S::Triangle, 6)],
        ),
        (
            "yellow-stars",
            G::Mint,
            L::Dim,
            &[
                (Z::Small, T::Solid, C::Yellow, S::Star, 1),
                (Z::Medium, T::Striped, C::Yellow, S::Star, 5),
            ],
        ),
        (
            "ring-below-square",
            G::Beige,
            L::Bright,
            &[
                (Z::Large, T::Dotted, C::Black, S::Square, 1),
                (Z::Medium, T::Solid, C::Orange, S::Ring, 7),
            ],
        ),
        (
            "blue-crosses",
            G::Grey,
            L::Bright,
            &[
                (Z::Small, T::Solid, C::Blue, S::Cross, 3),
                (Z::Medium, T::Striped, C::Blue, S::Cross, 5),
            ],
        ),
        (
            "green-triangle-corner",
            G::Beige,
            L::Dim,
            &[(Z::Medium, T::Dotted, C::Green, S::Triangle, 2)],
        ),
        (
            "purple-and-pink",
            G::White,
            L::Bright,
            &[
                (Z::Large, T::Solid, C::Purple, S::Square, 3),
                (Z::Small, T::Dotted, C::Pink, S::Circle, 5),
                (Z::Small, T::Solid, C::Black, S::Star, 1),
            ],
        ),
    ]
};

/// Scenes by name, in the order in which they hang.
pub fn hung_scenes() -> Vec<(&'static str, Scene)> {
    let scene = |&(name, ground, light, objects): &Shown| {
        let objects = objects
            .iter()
            .map(|&(size, texture, colour, shape, cell)| object(size, texture, colour, shape, cell))
            .collect();
        (
            name,
            Scene {
                objects,
                ground,
                light,
            },
        )
    };
    HUNG.iter().map(scene).collect()
}

/// Pictures made for each kind of foreign picture.
const N_FOREIGN: usize = 200;

/// Pictures that no scene looks like: noise, gradients, one flat colour, and scenes turned on their heads in colour.
pub fn foreign_pictures<R: Rng>(rng: &mut R) -> Vec<(&'static str, Vec<RgbPixels>)> {
    let mut make = |paint: &dyn Fn(&mut R) -> RgbPixels| {
        (0..N_FOREIGN).map(|_| paint(rng)).collect::<Vec<_>>()
    };
    vec![
        (
            "white noise",
            make(&|rng| paint(|_, _| std::array::from_fn(|_| rng.random::<u8>()))),
        ),
        ("colour gradients", make(&gradient)),
        (
            "flat colours",
            make(&|rng| {
                let colour = std::array::from_fn(|_| rng.random::<u8>());
                paint(|_, _| colour)
            }),
        ),
        (
            "scenes in inverted colours",
            make(&|rng| {
                let mut inverted = picture(&Scene::sample(crate::scenes::Compositions::All, rng));
                inverted
                    .pixels
                    .iter_mut()
                    .for_each(|channel| *channel = 255 - *channel);
                inverted
            }),
        ),
    ]
}

fn paint(mut colour: impl FnMut(usize, usize) -> [u8; 3]) -> RgbPixels {
    let pixels = (0..PICTURE_SIDE * PICTURE_SIDE)
        .flat_map(|i| colour(i % PICTURE_SIDE, i / PICTURE_SIDE))
        .collect();
    RgbPixels {
        width: PICTURE_SIDE,
        height: PICTURE_SIDE,
        pixels,
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

    #[test]
    fn what_hangs_has_names_of_its_own_and_objects_in_cells_of_their_own() {
        let hung = hung_scenes();
        let names: BTreeSet<&str> = hung.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), HUNG.len(), "names: {names:?}");
        for (name, scene) in &hung {
            let cells: BTreeSet<usize> = scene.objects.iter().map(Object::cell).collect();
            assert_eq!(cells.len(), scene.objects.len(), "cells of {name}");
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
