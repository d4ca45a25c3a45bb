//! Cost of an answer on the host beside its towers: decoding and resizing a picture, tokens, a product by packed
//! weights; and the ranks of retrieval, of which an evaluation takes one for each query.
//!
//! ```text
//! cargo bench --bench host
//! ```

use std::fs;
use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kappascope::host::gemm::{Panels, Product, portable};
use kappascope::metrics::retrieval::Hit;
use kappascope::preprocess::resize::{resize_and_crop, squash};
use kappascope::preprocess::{ImagePreprocess, RgbPixels, TextPreprocess, decode};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

/// A picture of 1120 × 672 pixels.
const PICTURE: &str = "public/gallery-photos/wall.jpg";
/// Width and height of a photograph of twelve megapixels, in pixels.
const PHOTOGRAPH: (usize, usize) = (4000, 3000);
const TOKENIZER: &str = "public/models/photos/tokenizer.json";
const IMAGE_SIZE: usize = 224;
const CONTEXT_LENGTH: usize = 128;
const CAPTION: &str = "a brown dog leaping to catch a red frisbee in a garden";
/// Inner and outer width of the largest product of ViT-B/32's text tower.
const PRODUCT: (usize, usize) = (512, 2048);
/// Rows of one caption of 16 tokens, and of eight.
const ROWS: [usize; 2] = [16, 128];
/// Queries and pictures of COCO's test of 5,000, of which a hundredth of the queries is ranked.
const N_QUERIES: usize = 50;
const N_PICTURES: usize = 5_000;

fn file(path: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Numbers about zero, the same in every run.
fn numbers(n: usize) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..n).map(|_| rng.random::<f32>() - 0.5).collect()
}

fn pictures(criterion: &mut Criterion) {
    let bytes = file(PICTURE);
    let decoded = decode(&bytes).expect("a JPEG").rgb;
    criterion.bench_function("decode a JPEG of 1120 × 672", |bencher| {
        bencher.iter(|| decode(black_box(&bytes)));
    });
    let mut group = criterion.benchmark_group("resize 1120 × 672 to 224 × 224");
    group.bench_function("crop", |bencher| {
        bencher.iter(|| resize_and_crop(black_box(&decoded), IMAGE_SIZE));
    });
    group.bench_function("squash", |bencher| {
        bencher.iter(|| squash(black_box(&decoded), IMAGE_SIZE));
    });
    group.finish();
}

/// A photograph as a camera makes it, to the input of a vision tower.
fn photographs(criterion: &mut Criterion) {
    let (width, height) = PHOTOGRAPH;
    let values = 0..3 * width * height;
    let rgb = RgbPixels {
        width,
        height,
        pixels: values.map(|i| (i * 31 % 251).to_le_bytes()[0]).collect(),
    };
    let preprocess = ImagePreprocess::clip(IMAGE_SIZE);
    let name = "resize, crop and normalise 4000 × 3000 to 224 × 224";
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| preprocess.apply(black_box(&rgb)));
    });
}

fn tokens(criterion: &mut Criterion) {
    let tokenizer = file(TOKENIZER);
    let text = TextPreprocess::from_tokenizer_json(&tokenizer, CONTEXT_LENGTH);
    let text = text.expect("the tokenizer of the photographs");
    criterion.bench_function("read the tokenizer of the photographs", |bencher| {
        bencher.iter(|| TextPreprocess::from_tokenizer_json(black_box(&tokenizer), CONTEXT_LENGTH));
    });
    criterion.bench_function("tokens of a caption of twelve words", |bencher| {
        bencher.iter(|| text.encode(black_box(CAPTION)));
    });
}

fn products(criterion: &mut Criterion) {
    let (d_in, d_out) = PRODUCT;
    let columns = numbers(d_in * d_out);
    let bias = numbers(d_out);
    let packed = [
        ("floats", Panels::pack(&columns, d_in)),
        ("eight bits", Panels::pack_int8(&columns, d_in)),
    ];
    let mut group = criterion.benchmark_group("portable product with 512 × 2048");
    for n_rows in ROWS {
        let rows = numbers(n_rows * d_in);
        let mut output = vec![0.0; n_rows * d_out];
        group.throughput(Throughput::Elements((2 * n_rows * d_in * d_out) as u64));
        for (name, panels) in &packed {
            let id = BenchmarkId::new(*name, format!("{n_rows} rows"));
            group.bench_with_input(id, panels, |bencher, panels| {
                bencher.iter(|| {
                    portable(Product {
                        rows: black_box(&rows),
                        panels,
                        bias: &bias,
                        output: &mut output,
                    });
                });
            });
        }
    }
    group.finish();
}

fn ranks(criterion: &mut Criterion) {
    let scores = numbers(N_QUERIES * N_PICTURES);
    criterion.bench_function("ranks of 50 queries among 5,000 pictures", |bencher| {
        bencher.iter(|| {
            let rows = black_box(&scores).chunks_exact(N_PICTURES).enumerate();
            let hits = rows.map(|(i, row)| Hit::of(row, [i]).rank);
            hits.sum::<usize>()
        });
    });
}

criterion_group!(benches, pictures, photographs, tokens, products, ranks);
criterion_main!(benches);
