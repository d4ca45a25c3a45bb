//! Pictures against Pillow: every kind of file, and what is said about those that cannot be read.
//!
//! Values must be equal: decoding is defined to the last bit (for JPEG by libjpeg), the filter is Pillow's arithmetic.
//!
//! Expected values: `tests/fixtures/generate_preprocess.py`.
#![cfg(feature = "engine")]
#![allow(missing_docs, reason = "an integration test has no users")]

#[path = "support/shared.rs"]
mod shared;

use std::path::{Path, PathBuf};

use kappascope::preprocess::decode::decode;
use kappascope::preprocess::resize::resize_and_crop;
use kappascope::preprocess::{DecodedImage, ImagePreprocess};
use serde::Deserialize;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/preprocess")
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join(name)).expect("a committed fixture")
}

fn decoded(name: &str) -> DecodedImage {
    decode(&fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn greatest_difference(ours: &[u8], theirs: &[u8]) -> u8 {
    assert_eq!(ours.len(), theirs.len(), "number of values");
    ours.iter()
        .zip(theirs)
        .map(|(a, b)| a.abs_diff(*b))
        .max()
        .unwrap_or(0)
}

#[derive(Deserialize)]
struct Expected {
    side: usize,
    names: Vec<String>,
}

#[test]
fn every_kind_of_file_gives_pillows_values() {
    let expected: Expected =
        serde_json::from_slice(&fixture("expected.json")).expect("a list of names");
    let values = fixture("expected.bin");
    let mut failures = Vec::new();
    for (name, theirs) in expected
        .names
        .iter()
        .zip(values.chunks_exact(3 * expected.side * expected.side))
    {
        let ours = resize_and_crop(&decoded(name).rgb, expected.side);
        let difference = greatest_difference(&ours.pixels, theirs);
        if difference > 0 {
            failures.push(format!("{name}: {difference} levels, expected none"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(expected.names.len(), 48, "no case was lost");
}

mod shared_data {
    use std::collections::BTreeMap;

    use super::*;
    use crate::shared::shared;

    #[derive(Deserialize)]
    struct Photos {
        side: usize,
        places: Vec<(usize, usize)>,
        photos: BTreeMap<String, Vec<[u8; 3]>>,
    }

    /// 48 places of 25 photos; when this was written, all values of all 248 photos were equal.
    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn photographs_give_pillows_values() {
        let photos: Photos =
            serde_json::from_slice(&fixture("photos.json")).expect("values of photos");
        for (name, theirs) in &photos.photos {
            let path = shared("ccby_photos").join(name);
            let bytes = std::fs::read(path).expect("a photo of the shared data");
            let ours = resize_and_crop(&decode(&bytes).expect("a photo").rgb, photos.side);
            for (&(x, y), theirs) in photos.places.iter().zip(theirs) {
                let at = 3 * (y * photos.side + x);
                let found = &ours.pixels[at..at + 3];
                assert_eq!(found, theirs, "{name} at {x}, {y} against Pillow's");
            }
        }
    }
}

#[test]
fn the_tower_reads_three_planes() {
    let planes = ImagePreprocess::clip(224).apply(&decoded("rgb.png").rgb);
    assert_eq!(planes.len(), 3 * 224 * 224, "three planes");
    assert!(planes.iter().all(|value| value.abs() < 3.0), "normalised");
}

#[test]
fn animations_say_that_one_frame_is_used() {
    for name in ["animated.gif", "animated.png", "animated.webp"] {
        assert_eq!(
            decoded(name).notes,
            ["only the first frame of this animation is used"],
            "{name}"
        );
    }
    for name in ["still.gif", "rgb.png", "lossless.webp", "grey_16_dark.png"] {
        assert!(decoded(name).notes.is_empty(), "{name}");
    }
}

#[test]
fn transparent_pictures_say_that_what_lies_beneath_is_read() {
    for name in [
        "alpha.webp",
        "grey_alpha.png",
        "grey_alpha_16.png",
        "palette_transparent.png",
        "rgba.png",
        "rgba_16.png",
        "transparent.gif",
    ] {
        assert_eq!(
            decoded(name).notes,
            ["transparent parts: the model reads the colours beneath"],
            "{name}"
        );
    }
    for name in ["palette.png", "rgb.png"] {
        assert!(decoded(name).notes.is_empty(), "{name}");
    }
}

#[test]
fn grey_of_16_bits_says_that_it_was_cut_off() {
    assert_eq!(decoded("grey_16.png").notes.len(), 1, "one note");
}

fn refusal(bytes: &[u8]) -> String {
    decode(bytes).expect_err("a refusal").to_string()
}

#[test]
fn what_is_no_picture_is_named() {
    assert_eq!(
        refusal(b""),
        "this file is empty, expected a PNG, JPEG, GIF, WebP or BMP picture",
        "empty"
    );
    assert_eq!(
        refusal(b"hello, world"),
        "this file is not a picture, expected PNG, JPEG, GIF, WebP or BMP",
        "text"
    );
    let heic = b"\0\0\0\x18ftypheic\0\0\0\0";
    assert_eq!(
        refusal(heic),
        "HEIC pictures and films cannot be read, expected PNG, JPEG, GIF, WebP or BMP",
        "heic"
    );
}

#[test]
fn truncated_files_are_refused_wherever_they_end() {
    for name in [
        "rgb.png",
        "quarter_colour.jpg",
        "progressive.jpg",
        "still.gif",
        "lossless.webp",
        "lossy.webp",
        "rgb.bmp",
    ] {
        let bytes = fixture(name);
        for percent in [1, 5, 20, 50, 80, 95] {
            let error = refusal(&bytes[..(bytes.len() * percent / 100).max(2)]);
            let named = ["damaged", "not a picture"]
                .iter()
                .any(|word| error.contains(word));
            assert!(
                named && !error.ends_with('.'),
                "{name}, {percent} %: {error}"
            );
        }
    }
}

#[test]
fn damaged_bytes_never_panic() {
    for name in [
        "rgb.png",
        "palette.png",
        "quarter_colour.jpg",
        "progressive.jpg",
        "animated.gif",
        "lossy.webp",
        "rgb.bmp",
    ] {
        let bytes = fixture(name);
        for i_damage in 0..60 {
            let mut damaged = bytes.clone();
            let at = i_damage * 7919 % bytes.len();
            damaged[at] ^= 0x55;
            // Either answer is right; a panic is not.
            let _ = decode(&damaged);
        }
    }
}

/// A PNG of nothing but a header, whose checksum is right.
fn png_header(width: u32, height: u32) -> Vec<u8> {
    let mut chunk = b"IHDR".to_vec();
    chunk.extend(width.to_be_bytes());
    chunk.extend(height.to_be_bytes());
    chunk.extend([8, 2, 0, 0, 0]);
    let crc = !chunk.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    });
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
    png.extend(chunk);
    png.extend(crc.to_be_bytes());
    png.extend(b"\0\0\x10\0IDATx\x9c");
    png
}

/// The most address space that this process ever had.
#[cfg(target_os = "linux")]
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("what Linux says of it");
    let mut lines = status.lines();
    let peak = lines.find_map(|line| line.strip_prefix("VmPeak:"));
    let kib = peak.and_then(|peak| peak.split_whitespace().next());
    1024 * kib.expect("a number").parse::<u64>().expect("of KiB")
}

#[test]
fn a_header_that_claims_too_much_takes_no_memory() {
    #[cfg(target_os = "linux")]
    let before = peak_bytes();
    let error = refusal(&png_header(60_000, 60_000));
    assert_eq!(
        error, "this picture is 60000 × 60000 pixels, expected at most 100 megapixels",
        "both sizes are named"
    );
    let mut gif = fixture("still.gif");
    gif[6..10].copy_from_slice(&[0x60, 0xEA, 0x60, 0xEA]);
    assert_eq!(refusal(&gif), error, "GIF");
    let mut bmp = fixture("rgb.bmp");
    bmp[18..26].copy_from_slice(&[0x60, 0xEA, 0, 0, 0x60, 0xEA, 0, 0]);
    assert_eq!(refusal(&bmp), error, "BMP");
    // The pixels would take 10.8 GB; tests beside this one need little, and threads reserve 64 MiB each.
    #[cfg(target_os = "linux")]
    {
        let after = peak_bytes();
        assert!(
            after - before < 2_000_000_000,
            "address space grew from {before} to {after} bytes"
        );
    }
}

#[test]
fn a_picture_of_no_pixels_is_refused() {
    let error = refusal(&png_header(0, 5));
    assert!(
        error.contains("damaged") || error.contains("0 × 5"),
        "{error}"
    );
    let mut bmp = fixture("rgb.bmp");
    bmp[18..22].fill(0);
    assert!(
        refusal(&bmp).contains("cannot be read"),
        "{}",
        refusal(&bmp)
    );
    let mut jpeg = fixture("grey.jpg");
    let frame = jpeg
        .windows(2)
        .position(|pair| pair == [0xFF, 0xC0])
        .expect("a frame");
    jpeg[frame + 5..frame + 7].fill(0);
    assert!(refusal(&jpeg).contains("damaged"), "{}", refusal(&jpeg));
}
