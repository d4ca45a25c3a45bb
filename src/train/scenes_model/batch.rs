//! Scenes, captions and the truth about them, batch by batch.

use rand::{Rng as _, RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use rand_distr::StandardNormal;
use rayon::prelude::*;

use crate::error::Result;
use crate::preprocess::text::{TextPreprocess, Tokens};
use crate::preprocess::{ImagePreprocess, RgbPixels};
use crate::scenes::grammar::{full_description, hierarchy, random_part, single_attribute};
use crate::scenes::{Compositions, Description, Scene, Wording, render, say};
use crate::train::features::tokens::TokenBatch;

/// Side in pixels at which scenes are drawn before the model's own preprocessing makes them smaller, as it does with
/// the gallery's pictures.
pub const RENDER_SIDE: usize = 128;
/// Groups of similar length into which the texts of a batch are sorted.
const LENGTH_GROUPS: usize = 16;
/// Share of captions in which words are replaced by the unknown word.
const CAPTIONS_WITH_UNKNOWN: f64 = 0.15;
/// A word outside of every vocabulary.
const NONSENSE: &str = "blorple";

/// Scenes with their pictures, resized for the image tower; 8 bits a value, so that a large pool fits in memory.
#[derive(Debug)]
pub struct Pool {
    scenes: Vec<Scene>,
    pictures: Vec<RgbPixels>,
    preprocess: ImagePreprocess,
}

impl Pool {
    /// Draws and renders scenes on all cores; the same seed gives the same pool.
    pub fn draw(
        n_scenes: usize,
        compositions: Compositions,
        seed: u64,
        preprocess: &ImagePreprocess,
    ) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let scenes = (0..n_scenes).map(|_| Scene::sample(compositions, &mut rng));
        Self::of(scenes.collect(), preprocess)
    }

    /// Renders these scenes on all cores.
    pub fn of(scenes: Vec<Scene>, preprocess: &ImagePreprocess) -> Self {
        let pictures = scenes
            .par_iter()
            .map(|scene| preprocess.resize(&rendered(scene)));
        Self {
            pictures: pictures.collect(),
            scenes,
            preprocess: preprocess.clone(),
        }
    }

    fn pixels(&self, chosen: &[usize]) -> Vec<f32> {
        let normalised = |&i: &usize| self.preprocess.normalise(&self.pictures[i]);
        let pictures: Vec<Vec<f32>> = chosen.par_iter().map(normalised).collect();
        pictures.concat()
    }
}

/// A scene as pixels.
pub fn rendered(scene: &Scene) -> RgbPixels {
    RgbPixels {
        width: RENDER_SIDE,
        height: RENDER_SIDE,
        pixels: render(scene, RENDER_SIDE),
    }
}

/// Texts of very different lengths, in batches of similar length, so that little is padded.
#[derive(Debug)]
pub struct SortedTokens {
    /// A few batches of equal size, the shortest texts first.
    pub groups: Vec<TokenBatch>,
    /// Index of each text in the groups, which are counted one after the other.
    pub position: Vec<i64>,
}

impl SortedTokens {
    /// Groups texts by their number of tokens, so that little is padded.
    pub fn new(texts: &[Tokens]) -> Self {
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&i| texts[i].ids.len());
        let mut position = vec![0; texts.len()];
        for (place, &i) in order.iter().enumerate() {
            position[i] = place as i64;
        }
        let of = |group: &[usize]| {
            let members: Vec<Tokens> = group.iter().map(|&i| texts[i].clone()).collect();
            TokenBatch::new(&members, usize::MAX)
        };
        let size = texts.len().div_ceil(LENGTH_GROUPS).max(1);
        Self {
            groups: order.chunks(size).map(of).collect(),
            position,
        }
    }
}

/// One step's worth of training data.
#[derive(Debug)]
pub struct Batch {
    /// Indices of the batch's scenes in the pool.
    pub scenes: Vec<usize>,
    /// Normalised pixels of the scenes, channel by channel, `[n_scenes, 3, side, side]`.
    pub pixels: Vec<f32>,
    /// One caption for each scene, then probes: captions of other scenes, most of them short.
    pub texts: SortedTokens,
    /// Whether each text (captions, then probes) is true of each scene, `[n_texts, n_scenes]`.
    pub truth: Vec<bool>,
}

/// Shares and noise with which captions and pictures are drawn.
#[derive(Debug, Clone, Copy)]
pub struct BatchMix {
    /// Share of words replaced by the unknown word, which says nothing.
    pub unknown: f64,
    /// Captions are drawn from the whole truth with this probability, else from a part of it.
    pub full: f64,
    /// Standard deviation of the noise on the normalised pixels.
    pub pixel_noise: f64,
}

impl Batch {
    /// Draws a batch of scenes from the pool, a caption for each, and probes.
    pub fn draw(
        pool: &Pool,
        n_scenes: usize,
        n_probes: usize,
        mix: BatchMix,
        tokenizer: &TextPreprocess,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self> {
        let scenes = (0..n_scenes).map(|_| rng.random_range(0..pool.scenes.len()));
        let scenes: Vec<usize> = scenes.collect();
        let chosen: Vec<&Scene> = scenes.iter().map(|&i| &pool.scenes[i]).collect();
        let seed = rng.next_u64();
        let caption = |i: usize, rng: &mut _| caption_of(chosen[i], mix.full, rng);
        let captions = draw_texts(n_scenes, seed, caption);
        let probes = draw_texts(n_probes, seed ^ 1, |_, rng| {
            probe_of(&pool.scenes[rng.random_range(0..pool.scenes.len())], rng)
        });
        let truth = truth_table(captions.iter().chain(&probes).map(|text| &text.0), &chosen);
        let mut tokens = encode_all(&captions, mix.unknown, seed, tokenizer)?;
        tokens.extend(encode_all(&probes, 0.0, seed, tokenizer)?);
        Ok(Self {
            pixels: with_noise(pool.pixels(&scenes), mix.pixel_noise, seed),
            scenes,
            texts: SortedTokens::new(&tokens),
            truth,
        })
    }
}

/// Adds normal noise, on all cores. It depends on the seed alone, which a generator of the device would not.
#[expect(
    clippy::cast_possible_truncation,
    reason = "pixels are in single precision"
)]
fn with_noise(mut pixels: Vec<f32>, deviation: f64, seed: u64) -> Vec<f32> {
    /// Pixels that one generator serves.
    const CHUNK: usize = 1 << 12;
    let chunks = pixels.par_chunks_mut(CHUNK).enumerate();
    chunks.for_each(|(i, chunk)| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(1 + i as u64);
        for pixel in chunk {
            *pixel += (deviation * rng.sample::<f64, _>(StandardNormal)) as f32;
        }
    });
    pixels
}

fn encode_all(
    texts: &[(Description, String)],
    unknown: f64,
    seed: u64,
    tokenizer: &TextPreprocess,
) -> Result<Vec<Tokens>> {
    let encode = |(i, text): (usize, &(Description, String))| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_add(i as u64));
        tokenizer.encode(&with_unknown(&text.1, unknown, &mut rng))
    };
    texts.par_iter().enumerate().map(encode).collect()
}

fn draw_texts(
    n_texts: usize,
    seed: u64,
    describe: impl Fn(usize, &mut ChaCha8Rng) -> Description + Sync,
) -> Vec<(Description, String)> {
    let draw = |i: usize| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(31).wrapping_add(i as u64));
        let description = describe(i, &mut rng);
        let text = say(&description, Wording::Varied, &mut rng);
        (description, text)
    };
    (0..n_texts).into_par_iter().map(draw).collect()
}

fn caption_of(scene: &Scene, full: f64, rng: &mut ChaCha8Rng) -> Description {
    if rng.random_bool(full) {
        full_description(scene, rng)
    } else if rng.random_bool(0.4) {
        let levels = hierarchy(scene, rng);
        levels[rng.random_range(1..levels.len())].clone()
    } else {
        random_part(scene, rng)
    }
}

fn probe_of(scene: &Scene, rng: &mut ChaCha8Rng) -> Description {
    if rng.random_bool(0.5) {
        single_attribute(scene, rng)
    } else {
        random_part(scene, rng)
    }
}

/// Whether each description fits each scene, `[n_descriptions, n_scenes]`.
fn truth_table<'a>(
    descriptions: impl Iterator<Item = &'a Description>,
    scenes: &[&Scene],
) -> Vec<bool> {
    let descriptions: Vec<&Description> = descriptions.collect();
    let row = |description: &&'a Description| {
        let row = scenes.iter().map(|scene| description.fits(scene));
        row.collect::<Vec<_>>()
    };
    let rows: Vec<_> = descriptions.par_iter().map(row).collect();
    rows.concat()
}

/// Replaces a random share of the words of some captions by nonsense, which the tokenizer maps to its unknown token,
/// so that the model learns that such a word tells nothing.
fn with_unknown(caption: &str, share: f64, rng: &mut ChaCha8Rng) -> String {
    if share <= 0.0 || !rng.random_bool(CAPTIONS_WITH_UNKNOWN) {
        return caption.to_owned();
    }
    let words = caption.split(' ');
    let words = words.map(|word| {
        if rng.random_bool(share) {
            NONSENSE
        } else {
            word
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenes::parse;
    use crate::scenes::scene::{Colour, Ground, Light, Object, Shape, Size, Texture};
    use crate::train::features::tokens::tests::tokens;
    use crate::train::scenes_model::recipe::tokenizer_json;

    fn lone(colour: Colour, shape: Shape) -> Scene {
        Scene {
            objects: vec![Object {
                shape,
                colour,
                size: Size::Medium,
                texture: Texture::Solid,
                x: 0.5,
                y: 0.5,
            }],
            ground: Ground::White,
            light: Light::Bright,
        }
    }

    fn drawn(seed: u64) -> (Pool, Batch) {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let scenes = (0..40).map(|_| Scene::sample(Compositions::Seen, &mut rng));
        let pool = Pool::of(scenes.collect(), &ImagePreprocess::clip(8));
        let tokenizer = TextPreprocess::from_tokenizer_json(tokenizer_json().as_bytes(), 64);
        let tokenizer = tokenizer.expect("the world's own tokenizer");
        let (unknown, full) = (0.3, 0.5);
        let mix = BatchMix {
            unknown,
            full,
            pixel_noise: 0.0,
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let batch = Batch::draw(&pool, 24, 12, mix, &tokenizer, &mut rng).expect("a batch");
        (pool, batch)
    }

    #[test]
    fn noise_depends_on_the_seed_alone_and_spreads_as_it_is_told() {
        const DEVIATION: f64 = 0.05;
        let of = |seed| with_noise(vec![1.0; 20_001], DEVIATION, seed);
        let noise = of(3);
        assert_eq!(noise, of(3), "the same seed");
        assert_ne!(noise, of(4), "another seed");
        let n = noise.len() as f64;
        let apart = |power| {
            noise
                .iter()
                .map(move |pixel| f64::from(pixel - 1.0).powi(power))
        };
        let (mean, variance) = (apart(1).sum::<f64>() / n, apart(2).sum::<f64>() / n);
        // Four standard errors of the mean, and of the deviation.
        let error = 4.0 * DEVIATION / n.sqrt();
        assert!(mean.abs() < error, "mean {mean}, expected 0");
        let found = variance.sqrt();
        assert!(
            (found - DEVIATION).abs() < error,
            "deviation {found}, expected {DEVIATION}"
        );
    }

    #[test]
    fn sorting_by_length_loses_no_text_and_says_where_each_went() {
        let lengths: Vec<usize> = (0..40).map(|i| 3 + i * 7 % 30).collect();
        let texts = (0..).zip(&lengths).map(|(i, &n)| tokens(&vec![i; n]));
        let sorted = SortedTokens::new(&texts.collect::<Vec<_>>());
        let groups = sorted.groups.iter();
        let rows = groups.flat_map(|group| group.ids.chunks_exact(group.n_tokens).zip(&group.ends));
        let rows: Vec<(i64, usize)> = rows.map(|(row, &end)| (row[0], end)).collect();
        let row = |&place: &i64| rows[usize::try_from(place).expect("an index")];
        let found: Vec<(i64, usize)> = sorted.position.iter().map(row).collect();
        let expected: Vec<(i64, usize)> = (0..).zip(lengths.iter().map(|n| n - 1)).collect();
        assert_eq!(found, expected, "first token and end of each text");
        let padded: Vec<usize> = sorted.groups.iter().map(|group| group.n_tokens).collect();
        assert!(padded.is_sorted(), "the shortest first: {padded:?}");
        assert_eq!(
            (padded[0], padded[padded.len() - 1]),
            (8, 32),
            "no longer than needed"
        );
    }

    #[test]
    fn the_truth_table_has_a_row_for_each_text_and_a_column_for_each_scene() {
        let scenes = [
            lone(Colour::Red, Shape::Star),
            lone(Colour::Red, Shape::Circle),
            lone(Colour::Blue, Shape::Star),
        ];
        let descriptions = ["a picture", "something red", "a star", "a blue circle"]
            .map(|caption| parse(caption).expect("a caption of the world"));
        let truth = truth_table(descriptions.iter(), &scenes.each_ref());
        let rows: Vec<&[bool]> = truth.chunks_exact(scenes.len()).collect();
        let expected = [
            [true, true, true],
            [true, true, false],
            [true, false, true],
            [false, false, false],
        ];
        let of = "picture, red, star, blue circle against red star, red circle, blue star";
        assert_eq!(rows, expected, "{of}");
    }

    #[test]
    fn every_caption_of_a_batch_is_true_of_its_own_scene() {
        let (pool, batch) = drawn(1);
        let n = batch.scenes.len();
        assert_eq!(batch.truth.len(), (24 + 12) * n, "captions and probes");
        for i in 0..n {
            let (scene, is_true) = (&pool.scenes[batch.scenes[i]], batch.truth[i * n + i]);
            assert!(is_true, "caption {i} against scene {scene:?}");
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_batch() {
        let (a, b, other) = (drawn(1).1, drawn(1).1, drawn(2).1);
        assert_eq!(a.scenes, b.scenes, "scenes");
        let ids = |batch: &Batch| -> Vec<i64> {
            let groups = batch.texts.groups.iter();
            groups.flat_map(|group| group.ids.clone()).collect()
        };
        assert_eq!(ids(&a), ids(&b), "texts");
        assert_eq!(a.truth, b.truth, "truth");
        assert_ne!(ids(&a), ids(&other), "another seed");
    }

    #[test]
    fn some_captions_lose_words_to_the_unknown_one_and_none_at_a_share_of_zero() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let captions = (0..2000).map(|_| with_unknown("a red star", 1.0, &mut rng));
        let captions: Vec<String> = captions.collect();
        let count = |text: &str| captions.iter().filter(|caption| *caption == text).count();
        let replaced = count("blorple blorple blorple");
        assert_eq!(
            replaced + count("a red star"),
            captions.len(),
            "all words or none"
        );
        // Five standard deviations of a binomial share around 0.15.
        let share = replaced as f64 / captions.len() as f64;
        let error = (share - CAPTIONS_WITH_UNKNOWN).abs();
        assert!(error < 0.04, "share of changed captions: {share}");
        let unchanged = with_unknown("a red star", 0.0, &mut rng);
        assert_eq!(unchanged, "a red star", "a share of zero");
    }
}
