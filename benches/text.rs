//! What the captions of a pass cost in the text tower of a random ViT-B/32: in padded rows, and in the tree of their
//! beginnings.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo bench --bench text
//! ```
//!
//! Both are run in turn, and processor time is counted: on a machine that is shared, a clock also counts what others do.
#![expect(
    clippy::print_stdout,
    reason = "a benchmark answers on standard output"
)]

use std::fs;

use anyhow::{Context as _, Result};
use burn::tensor::{Int, Tensor, TensorData};
use kappascope::device::cpu;
use kappascope::model::clip::{ClipConfig, TextTower, TokenTree};

const START: u32 = 49_406;
const END: u32 = 49_407;
/// Passes of each kind, after two that are not counted.
const ROUNDS: usize = 15;

fn main() -> Result<()> {
    let tower = ClipConfig::vit_b_32().init_text(&cpu());
    println!("captions | rows padded | in the tree | ms padded | in the tree | ratio");
    for (name, captions) in sets() {
        let tree = TokenTree::new(captions.iter().map(Vec::as_slice));
        let longest = captions.iter().map(Vec::len).max().unwrap_or_default();
        let mut millis = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS + 2 {
            millis[0].push(millis_of(|| run_padded(&tower, &captions))?);
            millis[1].push(millis_of(|| run_tree(&tower, &captions))?);
        }
        let [padded, shared] = millis.map(|millis| median(millis[2..].to_vec()));
        let (n_padded, n_nodes) = (captions.len() * longest, tree.n_nodes());
        let ratio = shared / padded;
        println!("{name} | {n_padded} | {n_nodes} | {padded:.1} | {shared:.1} | {ratio:.2}");
    }
    Ok(())
}

/// Sets of captions by name. A word is a token.
fn sets() -> Vec<(String, Vec<Vec<u32>>)> {
    let words: Vec<u32> = (1..=12).collect();
    let without = |i: usize| words[..i].iter().chain(&words[i + 1..]).copied();
    let beginnings = (1..=12).map(|n| caption(words[..n].iter().copied()));
    let rests = (0..12).map(|i| caption(without(i)));
    let unrelated = |n: u32| (0..n).map(|i| caption(100 * i + 1..100 * i + 7 + i % 8));
    let mut sets = vec![
        ("1 of 12 words".to_owned(), vec![caption(words.clone())]),
        (
            "12 beginnings of it".to_owned(),
            beginnings.clone().collect(),
        ),
        (
            "12 with a word left out".to_owned(),
            rests.clone().collect(),
        ),
        (
            "both of these".to_owned(),
            beginnings.chain(rests).collect(),
        ),
    ];
    for n in [2, 4, 8, 16, 32] {
        sets.push((format!("{n} of 6 to 13 words"), unrelated(n).collect()));
    }
    sets
}

fn caption(words: impl IntoIterator<Item = u32>) -> Vec<u32> {
    [START].into_iter().chain(words).chain([END]).collect()
}

fn run_padded(tower: &TextTower, captions: &[Vec<u32>]) -> TensorData {
    let longest = captions.iter().map(Vec::len).max().unwrap_or_default();
    let mut ids = Vec::new();
    for caption in captions {
        ids.extend(caption.iter().map(|id| i64::from(*id)));
        ids.resize(ids.len() + longest - caption.len(), i64::from(END));
    }
    let ends: Vec<usize> = captions.iter().map(|caption| caption.len() - 1).collect();
    let ids = TensorData::new(ids, [captions.len(), longest]);
    let ids = Tensor::<2, Int>::from_data(ids, &cpu());
    tower.pool(ids, &ends).into_data()
}

fn run_tree(tower: &TextTower, captions: &[Vec<u32>]) -> TensorData {
    let tree = TokenTree::new(captions.iter().map(Vec::as_slice));
    tower.pool_tree(&tree).into_data()
}

/// Milliseconds of processor time that a pass takes.
fn millis_of(pass: impl Fn() -> TensorData) -> Result<f64> {
    let before = processor_nanos()?;
    pass();
    Ok((processor_nanos()? - before) / 1e6)
}

/// What all threads of this process have had of the processor; only Linux tells it so.
fn processor_nanos() -> Result<f64> {
    let mut sum = 0.0;
    for thread in fs::read_dir("/proc/self/task")? {
        let schedule = fs::read_to_string(thread?.path().join("schedstat"))?;
        let nanos = schedule.split_whitespace().next();
        sum += nanos
            .context("schedstat begins with a number")?
            .parse::<f64>()?;
    }
    Ok(sum)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
