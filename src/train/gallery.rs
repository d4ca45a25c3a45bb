//! The pictures that the page hangs, and pictures from elsewhere to test it with.

use std::path::Path;

use anyhow::{Context as _, Result};
use rand::{Rng, RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use serde::Serialize;

use super::export::{PICTURE_SIDE, picture, png};
use crate::preprocess::RgbPixels;
use crate::scenes::grammar::everything;
use crate::scenes::scene::{Colour, Ground, Light, Object, Shape, Size, Texture};
use crate::scenes::{Scene, Wording, render, say};

/// An entry of `gallery.json`.
#[derive(Debug, Serialize)]
struct Entry {
    id: &'static str,
    file: String,
    alt: String,
}

/// Writes the gallery's pictures and `gallery.json`.
///
/// # Errors
///
/// The folder cannot be written.
pub fn write(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let mut entries = Vec::new();
    for (id, scene) in hung_scenes() {
        let file = format!("{id}.png");
        std::fs::write(
            folder.join(&file),
            png(&render(&scene, PICTURE_SIDE), PICTURE_SIDE)?,
        )?;
        let order: Vec<usize> = (0..scene.objects.len()).collect();
        let alt = say(
            &everything(&scene, &order),
            Wording::Plain,
            &mut ChaCha8Rng::seed_from_u64(0),
        );
        entries.push(Entry { id, file, alt });
    }
    std::fs::write(
        folder.join("gallery.json"),
        serde_json::to_string_pretty(&entries)?,
    )?;
    Ok(())
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

/// Scenes by name, in the order in which they hang; the page shows the first six at the start.
pub fn hung_scenes() -> Vec<(&'static str, Scene)> {
    use {Colour as C, Shape as S, Size as Z, Texture as T};
    let scene = |ground, light, objects: Vec<Object>| Scene {
        objects,
        ground,
        light,
    };
    let (white, grey, beige, mint) = (Ground::White, Ground::Grey, Ground::Beige, Ground::Mint);
    let (bright, dim) = (Light::Bright, Light::Dim);
    vec![
        (
            "star-above-circle",
            scene(
                white,
                bright,
                vec![
                    object(Z::Small, T::Solid, C::Red, S::Star, 1),
                    object(Z::Large, T::Solid, C::Blue, S::Circle, 7),
                ],
            ),
        ),
        (
            "lone-red-star",
            scene(
                beige,
                bright,
                vec![object(Z::Large, T::Solid, C::Red, S::Star, 4)],
            ),
        ),
        (
            "orange-square-and-ring",
            scene(
                grey,
                bright,
                vec![
                    object(Z::Medium, T::Striped, C::Orange, S::Square, 3),
                    object(Z::Medium, T::Solid, C::Yellow, S::Ring, 5),
                ],
            ),
        ),
        (
            "red-circles",
            scene(
                mint,
                bright,
                vec![
                    object(Z::Small, T::Solid, C::Red, S::Circle, 0),
                    object(Z::Medium, T::Dotted, C::Red, S::Circle, 4),
                    object(Z::Small, T::Striped, C::Red, S::Circle, 8),
                ],
            ),
        ),
        (
            "four-cool-shapes",
            scene(
                white,
                bright,
                vec![
                    object(Z::Medium, T::Solid, C::Blue, S::Square, 0),
                    object(Z::Small, T::Dotted, C::Green, S::Triangle, 2),
                    object(Z::Large, T::Striped, C::Purple, S::Circle, 6),
                    object(Z::Small, T::Solid, C::Green, S::Ring, 8),
                ],
            ),
        ),
        (
            "cross-in-the-dark",
            scene(
                grey,
                dim,
                vec![object(Z::Large, T::Solid, C::Pink, S::Cross, 4)],
            ),
        ),
        (
            "black-triangle",
            scene(
                white,
                bright,
                vec![object(Z::Small, T::Solid, C::Black, S::Triangle, 6)],
            ),
        ),
        (
            "yellow-stars",
            scene(
                mint,
                dim,
                vec![
                    object(Z::Small, T::Solid, C::Yellow, S::Star, 1),
                    object(Z::Medium, T::Striped, C::Yellow, S::Star, 5),
                ],
            ),
        ),
        (
            "ring-below-square",
            scene(
                beige,
                bright,
                vec![
                    object(Z::Large, T::Dotted, C::Black, S::Square, 1),
                    object(Z::Medium, T::Solid, C::Orange, S::Ring, 7),
                ],
            ),
        ),
        (
            "blue-crosses",
            scene(
                grey,
                bright,
                vec![
                    object(Z::Small, T::Solid, C::Blue, S::Cross, 3),
                    object(Z::Medium, T::Striped, C::Blue, S::Cross, 5),
                ],
            ),
        ),
        (
            "green-triangle-corner",
            scene(
                beige,
                dim,
                vec![object(Z::Medium, T::Dotted, C::Green, S::Triangle, 2)],
            ),
        ),
        (
            "purple-and-pink",
            scene(
                white,
                bright,
                vec![
                    object(Z::Large, T::Solid, C::Purple, S::Square, 3),
                    object(Z::Small, T::Dotted, C::Pink, S::Circle, 5),
                    object(Z::Small, T::Solid, C::Black, S::Star, 1),
                ],
            ),
        ),
    ]
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
