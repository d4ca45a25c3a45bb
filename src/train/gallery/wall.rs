//! The pictures of the page's walls: directions of their embeddings by a model; and of photographs all of them small in
//! one file, a caption of each, and their photographers.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use image::imageops::{self, FilterType};
use image::{ExtendedColorType, ImageEncoder as _, RgbImage};
use serde::Deserialize;

use super::png::picture;
use crate::explorer::wall_scenes;
use crate::inference::{ImageEncoding, Session};
use crate::preprocess::{RgbPixels, decode};
use crate::protocol::CompactDirection;
use crate::train::files::{put, put_json, read_json, read_limited};

/// Photographs in a row of the file, and rows of it.
const COLUMNS: usize = 20;
const ROWS: usize = 12;
/// Side of each photograph in the file, in pixels.
const SIDE: u32 = 56;
/// Quality of the JPEG file, of 100.
const JPEG_QUALITY: u8 = 72;
/// The licence that a photograph must have: CC BY 2.0, as the list calls it.
const LICENSE: &str = "Attribution License";

/// An entry of the list of photographs.
#[derive(Debug, Deserialize)]
struct WallEntry {
    file: String,
    license: String,
    flickr_photo_page: String,
    captions: Vec<String>,
}

/// A photograph of the wall.
#[derive(Debug)]
pub struct WallPhotograph {
    /// Address of its page by the photographer.
    page: String,
    /// Caption that a person wrote for it.
    caption: String,
    pixels: RgbPixels,
}

/// Reads as many photographs as the wall has from a folder with a list `manifest.json`.
///
/// # Errors
///
/// The list or a photograph cannot be read, or there are too few whose licence allows it.
pub fn read(folder: &Path) -> Result<Vec<WallPhotograph>> {
    let entries: Vec<WallEntry> = read_json(&folder.join("manifest.json"))?;
    let n_wanted = COLUMNS * ROWS;
    let allowed = entries.into_iter().filter(|entry| entry.license == LICENSE);
    let photographs = allowed.take(n_wanted).map(|entry| {
        let path = folder.join(&entry.file);
        let bytes = read_limited(&path)?;
        let pixels = decode(&bytes).with_context(|| path.display().to_string())?;
        let caption = entry.captions.into_iter().next().unwrap_or_default();
        Ok(WallPhotograph {
            page: entry.flickr_photo_page,
            caption: caption.trim().to_owned(),
            pixels: pixels.rgb,
        })
    });
    let photographs: Vec<WallPhotograph> = photographs.collect::<Result<_>>()?;
    let n_found = photographs.len();
    ensure!(
        n_found == n_wanted,
        "{}: {n_found} photographs under “{LICENSE}”, {n_wanted} were expected",
        folder.display()
    );
    Ok(photographs)
}

/// Writes `wall.jpg`, `wall.json` and `CREDITS-wall` beside the gallery, and `wall.bin` beside the recorded answers.
///
/// Photographs that the model finds alike stand side by side.
///
/// # Errors
///
/// The model fails, or a file cannot be written.
pub fn write(
    session: &Session,
    photographs: &[WallPhotograph],
    [gallery, examples]: [&Path; 2],
) -> Result<()> {
    let pixels: Vec<RgbPixels> = photographs.iter().map(|one| one.pixels.clone()).collect();
    let encodings = pollster::block_on(session.encode_images(&pixels))?;
    let order = neighbours(&encodings);
    let ordered = || order.iter().map(|i| &photographs[*i]);
    put(&gallery.join("wall.jpg"), mosaic(ordered())?)?;
    let captions: Vec<&str> = ordered().map(|one| one.caption.as_str()).collect();
    put_json(&gallery.join("wall.json"), &captions)?;
    put(&gallery.join("CREDITS-wall"), credits(ordered()))?;
    put_directions(order.iter().map(|i| &encodings[*i]), examples)
}

/// Writes `wall.bin` for the drawings of the page's wall, in their order. They are drawn as large as the gallery's, of
/// which the page shows smaller ones.
///
/// # Errors
///
/// The model fails, or the file cannot be written.
pub fn write_drawings(session: &Session, examples: &Path) -> Result<()> {
    let pictures: Vec<RgbPixels> = wall_scenes().iter().map(picture).collect();
    let encodings = pollster::block_on(session.encode_images(&pictures))?;
    put_directions(encodings.iter(), examples)
}

fn put_directions<'a>(
    encodings: impl Iterator<Item = &'a ImageEncoding>,
    examples: &Path,
) -> Result<()> {
    let directions = encodings.map(|one| CompactDirection::of(&one.embedding));
    let bytes: Vec<u8> = directions.flat_map(|one| one.bytes().to_vec()).collect();
    put(&examples.join("wall.bin"), bytes)
}

/// A path from picture to picture that goes on to the nearest one not yet met.
fn neighbours(encodings: &[ImageEncoding]) -> Vec<usize> {
    let cosine = |a: usize, b: usize| -> f32 {
        let pair = encodings[a].embedding.iter().zip(&encodings[b].embedding);
        pair.map(|(a, b)| a * b).sum()
    };
    let mut left: Vec<usize> = (1..encodings.len()).collect();
    let mut path = vec![0];
    while let Some(&last) = path.last() {
        let nearest = (0..left.len()).max_by(|a, b| {
            let [a, b] = [a, b].map(|place| cosine(last, left[*place]));
            a.total_cmp(&b)
        });
        let Some(nearest) = nearest else { break };
        path.push(left.swap_remove(nearest));
    }
    path
}

/// The middle squares of the photographs, row by row in one JPEG file.
fn mosaic<'a>(photographs: impl Iterator<Item = &'a WallPhotograph>) -> Result<Vec<u8>> {
    let (columns, rows) = (u32::try_from(COLUMNS)?, u32::try_from(ROWS)?);
    let mut all = RgbImage::new(columns * SIDE, rows * SIDE);
    for (place, photograph) in (0_u32..).zip(photographs) {
        let RgbPixels {
            width,
            height,
            pixels,
        } = &photograph.pixels;
        let (width, height) = (u32::try_from(*width)?, u32::try_from(*height)?);
        let whole = RgbImage::from_raw(width, height, pixels.clone());
        let whole = whole.context("a photograph's pixels do not fill it")?;
        let side = width.min(height);
        let (x, y) = ((width - side) / 2, (height - side) / 2);
        let square = imageops::crop_imm(&whole, x, y, side, side).to_image();
        let small = imageops::resize(&square, SIDE, SIDE, FilterType::Lanczos3);
        let (x, y) = (place % columns * SIDE, place / columns * SIDE);
        imageops::replace(&mut all, &small, i64::from(x), i64::from(y));
    }
    let mut bytes = Vec::new();
    image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY).write_image(
        all.as_raw(),
        all.width(),
        all.height(),
        ExtendedColorType::Rgb8,
    )?;
    Ok(bytes)
}

fn credits<'a>(photographs: impl Iterator<Item = &'a WallPhotograph>) -> String {
    let mut text = format!(
        "The photographs of the page's wall (wall.jpg)\n=============================================\n\n\
         Each is by the photographer whose page on Flickr is named below, and is used under Creative Commons Attribution\n\
         2.0 (CC BY 2.0), https://creativecommons.org/licenses/by/2.0/. They come out of the validation pictures of COCO\n\
         2017 (https://cocodataset.org). Their middle squares were made smaller, {SIDE} pixels a side, and stand in one\n\
         file. The captions are COCO's, CC BY 4.0, https://creativecommons.org/licenses/by/4.0/. Row by row:\n\n"
    );
    for photograph in photographs {
        text += &format!("{}\n  {}\n", photograph.caption, photograph.page);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_alike_stand_side_by_side() {
        let encoding = |angle: f32| ImageEncoding {
            embedding: vec![angle.cos(), angle.sin()],
            familiarity: None,
        };
        let path = neighbours(&[0.0, 2.0, 0.5, 1.5, 0.9].map(encoding));
        assert_eq!(path, [0, 2, 4, 3, 1], "along the circle");
    }

    #[test]
    fn photographs_under_another_licence_are_left_out_and_too_few_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let list = r#"[{"file": "x.jpg", "license": "All rights reserved", "flickr_photo_page": "", "captions": []}]"#;
        std::fs::write(folder.path().join("manifest.json"), list).expect("written");
        let error = read(folder.path())
            .expect_err("none may be shown")
            .to_string();
        assert!(
            error.ends_with("0 photographs under “Attribution License”, 240 were expected"),
            "{error}"
        );
    }
}
