//! Small files that claim much: what they cost, in time and in memory that was asked for.
//!
//! The allocator of this file counts, so it holds nothing else, and its tests run one after the other. The same files
//! are refused in WebAssembly, where nothing is counted.
#![cfg(feature = "engine")]
#![allow(missing_docs, reason = "an integration test has no users")]

#[path = "support/counting_allocator.rs"]
mod counting_allocator;

use std::time::Duration;

use counting_allocator::cost_of;
use kappascope::preprocess::{DecodeBudget, RgbPixels, decode, decode_within, resize};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::{wasm_bindgen_test as test, wasm_bindgen_test_configure};

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// What a refusal may take: tables, messages and a row.
const LITTLE_BYTES: usize = 16_000_000;
/// Long for a refusal, short for anything that visits each pixel of a picture that is too large.
const SOON: Duration = Duration::from_secs(5);

/// The refusal of a file, which costs little.
fn refusal(bytes: &[u8]) -> String {
    let (cost, found) = cost_of(|| decode(bytes));
    let error = found.expect_err("a refusal").to_string();
    let (time, peak) = (cost.time, cost.peak_bytes);
    assert!(
        time < SOON && peak < LITTLE_BYTES,
        "{error}: took {time:?} and {peak} bytes, expected {SOON:?} and {LITTLE_BYTES} at most"
    );
    error
}

/// JPEG segment: marker, two bytes of length, content.
fn segment(marker: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len() + 2).expect("a short segment");
    [&[0xff, marker], &length.to_be_bytes()[..], content].concat()
}

fn frame(marker: u8, width: u16, height: u16, sampling: &[u8]) -> Vec<u8> {
    let (width, height) = (width.to_be_bytes(), height.to_be_bytes());
    let n = u8::try_from(sampling.len()).expect("few components");
    let mut content = [&[8], &height[..], &width[..], &[n]].concat();
    for (id, sampling) in (1..).zip(sampling) {
        content.extend([id, *sampling, 0]);
    }
    segment(marker, &content)
}

/// One code of one bit, which means 0: no difference, or the end of a block.
fn huffman(class_and_slot: u8) -> Vec<u8> {
    let mut content = vec![class_and_slot, 1];
    content.extend([0; 16]);
    segment(0xc4, &content)
}

fn quantisation() -> Vec<u8> {
    segment(0xdb, &[&[0][..], &[1; 64]].concat())
}

/// A scan of the first component.
fn scan(first: u8, last: u8) -> Vec<u8> {
    segment(0xda, &[1, 1, 0, first, last, 0])
}

fn jpeg(segments: &[Vec<u8>]) -> Vec<u8> {
    [b"\xff\xd8", &segments.concat()[..], b"\xff\xd9"].concat()
}

#[test]
fn the_frame_that_is_decoded_is_the_one_that_is_measured() {
    let large = frame(0xc0, 30_000, 30_000, &[0x11]);
    let hidden = segment(0xfe, &frame(0xc0, 8, 8, &[0x11]));
    let expected = "this picture is 30000 × 30000 pixels, expected at most 100 megapixels";
    for before in [vec![], hidden] {
        let tables = [
            before,
            large.clone(),
            quantisation(),
            huffman(0),
            huffman(0x10),
            scan(0, 63),
        ];
        assert_eq!(
            refusal(&jpeg(&tables)),
            expected,
            "before any memory is taken"
        );
    }
}

#[test]
fn a_second_frame_of_another_size_is_refused() {
    let small = frame(0xc0, 8, 8, &[0x11]);
    let large = frame(0xc1, 65_535, 65_535, &[0x44, 0x44, 0x44, 0x44]);
    for frames in [[small.clone(), large.clone()], [large, small]] {
        let error = refusal(&jpeg(&frames));
        assert!(
            error.contains("two frames") || error.contains("65535 × 65535"),
            "{error}"
        );
    }
}

#[test]
fn a_frame_without_data_takes_no_memory() {
    let frame = frame(0xc0, 10_000, 10_000, &[0x11, 0x11, 0x11]);
    let error = refusal(&jpeg(&[
        frame,
        quantisation(),
        huffman(0),
        huffman(0x10),
        scan(0, 63),
    ]));
    assert!(error.contains("too short for its size"), "{error}");
}

#[test]
fn scans_upon_scans_are_too_much_work() {
    let frame = frame(0xc2, 8000, 8000, &[0x11]);
    let mut segments = vec![frame, quantisation(), huffman(0), huffman(0x10)];
    segments.extend((0..99).map(|_| scan(0, 0)));
    // As many bytes as a million blocks need at least; a segment that nobody reads.
    segments.extend((0..4).map(|_| segment(0xef, &[0; 60_000])));
    let budget = DecodeBudget::SHORT_MEMORY;
    let budget = DecodeBudget {
        pixels: 100_000_000,
        ..budget
    };
    let (cost, found) = cost_of(|| decode_within(&budget, &jpeg(&segments)));
    let error = found.expect_err("99 scans of 64 megapixels");
    assert!(error.to_string().contains("fewer scans"), "{error}");
    let time = cost.time;
    assert!(time < 2 * SOON, "took {time:?}");
}

#[test]
fn restarts_without_markers_are_not_searched_for_again_and_again() {
    let frame = frame(0xc0, 2000, 2000, &[0x11]);
    let restarts = segment(0xdd, &1_u16.to_be_bytes());
    let mut bytes = jpeg(&[
        frame,
        quantisation(),
        huffman(0),
        huffman(0x10),
        restarts,
        scan(0, 63),
    ]);
    let end = bytes.split_off(bytes.len() - 2);
    bytes.extend(std::iter::repeat_n(0, 2_000_000));
    bytes.extend(end);
    let (cost, decoded) = cost_of(|| decode(&bytes));
    let decoded = decoded.expect("a grey picture");
    assert_eq!(decoded.rgb.pixels[0], 128, "nothing but zeros");
    let time = cost.time;
    assert!(time < SOON, "took {time:?}");
}

/// A PNG chunk with its checksum.
fn chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).expect("a small chunk");
    let named = [&name[..], content].concat();
    let crc = !named.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    });
    [&length.to_be_bytes()[..], &named, &crc.to_be_bytes()].concat()
}

fn png(width: u32, height: u32, chunks: &[Vec<u8>]) -> Vec<u8> {
    let sides = [width.to_be_bytes(), height.to_be_bytes()].concat();
    let header = chunk(b"IHDR", &[&sides[..], &[8, 2, 0, 0, 0]].concat());
    let pixel = stored(&[0, 1, 2, 3]);
    let end = [chunk(b"IDAT", &pixel), chunk(b"IEND", b"")].concat();
    [b"\x89PNG\r\n\x1a\n", &header[..], &chunks.concat(), &end].concat()
}

/// A zlib stream that holds these bytes as they are.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("few bytes");
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    let (n, inverse, sum) = (
        length.to_le_bytes(),
        (!length).to_le_bytes(),
        (b << 16 | a).to_be_bytes(),
    );
    [b"\x78\x01\x01", &n[..], &inverse, bytes, &sum].concat()
}

/// A zlib stream of `n_runs` × 258 zeros and one more, in a bit or two each: one block with fixed codes.
fn zeros(n_runs: usize) -> Vec<u8> {
    let mut bits = vec![1, 1, 0];
    // The literal 0 is 00110000, a run of 258 is the code 285 = 11000101, its distance 1 is 00000.
    bits.extend([0, 0, 1, 1, 0, 0, 0, 0]);
    for _ in 0..n_runs {
        bits.extend([1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]);
    }
    bits.extend([0; 7]);
    let mut bytes = vec![0x78, 0x01];
    for group in bits.chunks(8) {
        let byte = group
            .iter()
            .enumerate()
            .fold(0, |byte, (i, bit)| byte | bit << i);
        bytes.push(byte);
    }
    // Of zeros, the sum of Adler is 1 and their number.
    let n = u32::try_from((258 * n_runs + 1) % 65_521).expect("a remainder");
    bytes.extend((n << 16 | 1).to_be_bytes());
    bytes
}

#[test]
fn what_is_no_pixel_is_not_unpacked_without_end() {
    let whole = png(1, 1, &[]);
    let pixel = decode(&whole).expect("a picture of one pixel").rgb.pixels;
    assert_eq!(pixel, [1, 2, 3], "as it was packed");
    let profile = chunk(b"iCCP", &[b"icc\0\0", &zeros(200_000)[..]].concat());
    let (cost, found) = cost_of(|| decode(&png(1, 1, &[profile])));
    let decoded = found.expect("a picture of one pixel, whose profile is of no interest");
    assert_eq!(decoded.rgb.pixels, pixel, "beside 52 MB of profile");
    let peak = cost.peak_bytes;
    assert!(peak < LITTLE_BYTES, "took {peak} bytes");
    let long = chunk(
        b"tEXt",
        &[b"Comment\0", &vec![b' '; 6_000_000][..]].concat(),
    );
    let error = refusal(&png(1, 1, &[long]));
    assert!(
        error.contains("more than 4 MB beside its pixels"),
        "{error}"
    );
}

#[test]
fn a_side_without_end_is_refused() {
    for (width, height) in [(1, 59_652_324), (59_652_324, 1)] {
        let error = refusal(&png(width, height, &[]));
        let expected =
            format!("this picture is {width} × {height} pixels, expected sides of at most 1000000");
        assert_eq!(error, expected, "before it is resized");
    }
}

#[test]
fn a_picture_within_another_is_measured() {
    let canvas = b"VP8X\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let lossy = b"VP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\xff\x3f\xff\x3f";
    let exif = b"EXIF\xff\xff\xff\x7fII";
    let file = |chunk: &[u8]| {
        let chunks = [&canvas[..], chunk].concat();
        let length = u32::try_from(chunks.len() + 4).expect("a small file");
        [b"RIFF", &length.to_le_bytes()[..], b"WEBP", &chunks].concat()
    };
    let error = refusal(&file(lossy));
    assert!(error.contains("16383 × 16383"), "{error}");
    let error = refusal(&file(exif));
    assert!(error.contains("4 MB"), "{error}");
}

#[test]
fn the_same_file_is_too_large_for_a_small_device() {
    let png = png(6000, 6000, &[]);
    let error = decode_within(&DecodeBudget::SHORT_MEMORY, &png).expect_err("36 megapixels");
    assert!(
        error.to_string().contains("at most 25 megapixels"),
        "{error}"
    );
    let (_, found) = cost_of(|| decode(&png));
    let error = found.expect_err("a pixel is not 36 million");
    assert!(error.to_string().contains("damaged"), "{error}");
}

#[test]
fn a_long_line_becomes_a_square_in_little_memory() {
    let line = RgbPixels {
        width: 1,
        height: 1_000_000,
        pixels: vec![7; 3_000_000],
    };
    let (cost, square) = cost_of(|| resize::squash(&line, 384));
    assert_eq!(
        square.pixels,
        vec![7; 3 * 384 * 384],
        "one colour stays that colour"
    );
    let peak = cost.peak_bytes;
    assert!(peak < 64_000_000, "took {peak} bytes");
}

/// The most that the objects of a pickle may take, those that it does not need included.
#[cfg(feature = "train")]
const PICKLE_BYTES: usize = 400_000_000;

#[cfg(feature = "train")]
#[test]
fn a_pickle_of_nothing_but_lists_is_refused() {
    use std::io::Write as _;

    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("lists.pt");
    let file = std::fs::File::create(&path).expect("the folder is the test's own");
    let mut zip = zip::ZipWriter::new(file);
    let stored = zip::write::SimpleFileOptions::default();
    let stored = stored.compression_method(zip::CompressionMethod::Stored);
    zip.start_file("x/data.pkl", stored).expect("a new member");
    let lists = vec![b']'; 16 << 20];
    zip.write_all(&lists).expect("16 MB");
    zip.finish().expect("an archive");
    let (cost, found) = cost_of(|| kappascope::train::import::open::open(&path).map(|_| ()));
    let error = found.expect_err("no tensors").to_string();
    assert!(error.contains("goes on after 1000000 steps"), "{error}");
    let peak = cost.peak_bytes;
    assert!(
        peak < PICKLE_BYTES,
        "took {peak} bytes, expected at most {PICKLE_BYTES}"
    );
}
