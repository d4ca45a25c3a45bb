//! The towers against Hugging Face's `transformers`, on a small random CLIP with every feature on.
//!
//! `tests/fixtures/generate_clip.py` wrote the weights, the inputs and the expected outputs.
#![cfg(feature = "engine")]
#![allow(missing_docs, reason = "an integration test has no users")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "the fixture's integers are small"
)]

use burn::tensor::{Int, Tensor, TensorData};
use kappascope::device::Device;
use kappascope::model::clip::{Architecture, Clip, ClipConfig, TextConfig, VisionConfig};
use kappascope::model::parameters::{Parameters as _, TensorRecord};
use kappascope::weights::shard::read;

#[path = "support/device.rs"]
mod device;

/// Error over the greatest expected value: f32 sums of a hundred terms through three blocks, in another order.
const TOLERANCE: f32 = 1e-5;

const CONTEXT_LENGTH: usize = 12;
const END_TOKEN_ID: u32 = 63;

/// The sizes in `generate_clip.py`.
fn config() -> ClipConfig {
    ClipConfig {
        architecture: Architecture::Clip,
        embed_dim: 20,
        vision_cfg: VisionConfig {
            image_size: 16,
            layers: 3,
            width: 32,
            head_width: 8,
            patch_size: 4,
            mlp_ratio: 4.0,
        },
        text_cfg: TextConfig {
            context_length: CONTEXT_LENGTH,
            vocab_size: 64,
            width: 24,
            heads: 3,
            layers: 2,
            mlp_ratio: 4.0,
            start_token_id: Some(62),
            end_token_id: END_TOKEN_ID,
        },
        quick_gelu: true,
    }
}

struct Fixture {
    clip: Clip,
    checks: Vec<TensorRecord>,
    device: Device,
}

impl Fixture {
    fn load() -> Self {
        let records =
            read(include_bytes!("fixtures/clip.safetensors")).expect("a safetensors file");
        let (checks, weights): (Vec<_>, Vec<_>) = records
            .into_iter()
            .partition(|record| record.name.starts_with("check."));
        let device = device::device();
        let mut clip = config().init(&device);
        clip.load(weights)
            .expect("names and shapes of transformers");
        Self {
            clip,
            checks,
            device,
        }
    }

    fn check(&self, name: &str) -> &TensorRecord {
        let name = format!("check.{name}");
        let found = self.checks.iter().find(|record| record.name == name);
        found.expect("the fixture holds every check")
    }

    fn images(&self) -> Tensor<4> {
        let images = self.check("images");
        let shape: [usize; 4] = images.shape.clone().try_into().expect("four dimensions");
        Tensor::from_data(TensorData::new(images.values.clone(), shape), &self.device)
    }

    fn integers(&self, name: &str) -> Vec<i64> {
        let values = self.check(name).values.iter();
        values.map(|value| value.round() as i64).collect()
    }

    /// Every caption padded to the context length.
    fn token_ids(&self) -> Tensor<2, Int> {
        let ids = self.integers("token_ids");
        let n_texts = ids.len() / CONTEXT_LENGTH;
        Tensor::from_data(
            TensorData::new(ids, [n_texts, CONTEXT_LENGTH]),
            &self.device,
        )
    }

    fn end_positions(&self) -> Vec<usize> {
        let ends = self.integers("end_positions").into_iter();
        ends.map(|end| usize::try_from(end).expect("an index"))
            .collect()
    }
}

fn assert_close<const D: usize>(found: Tensor<D>, expected: &[f32]) {
    let found = found.into_data();
    let found = found.as_slice::<f32>().expect("f32 on the CPU");
    assert_eq!(found.len(), expected.len(), "number of values");
    let size = expected
        .iter()
        .fold(0.0_f32, |size, value| size.max(value.abs()));
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= device::tolerance(TOLERANCE) * size,
            "value {index}: found {found}, expected {expected}, greatest {size}"
        );
    }
}

#[test]
fn text_features_are_those_of_transformers() {
    let fixture = Fixture::load();
    let features = fixture
        .clip
        .text
        .forward(fixture.token_ids(), &fixture.end_positions());
    assert_close(features, &fixture.check("text_features").values);
}

#[test]
fn image_features_are_those_of_transformers() {
    let fixture = Fixture::load();
    let features = fixture.clip.vision.forward(fixture.images());
    assert_close(features, &fixture.check("image_features").values);
}

#[test]
fn logits_are_those_of_transformers() {
    let fixture = Fixture::load();
    let text = fixture
        .clip
        .text
        .forward(fixture.token_ids(), &fixture.end_positions());
    let images = fixture.clip.vision.forward(fixture.images());
    assert_close(
        fixture.clip.logits(images, text),
        &fixture.check("logits_per_image").values,
    );
}

#[test]
fn a_caption_run_without_padding_gives_what_the_padded_batch_gives() {
    let fixture = Fixture::load();
    let expected = fixture.check("text_features");
    for (i_text, end) in fixture.end_positions().into_iter().enumerate() {
        let ids = fixture.token_ids().slice([i_text..i_text + 1, 0..end + 1]);
        let features = fixture.clip.text.forward(ids, &[end]);
        assert_close(features, &expected.values[i_text * 20..(i_text + 1) * 20]);
    }
}

#[test]
fn a_picture_alone_gives_what_it_gives_in_a_batch() {
    let fixture = Fixture::load();
    let expected = fixture.check("image_features");
    for i_image in 0..2 {
        let image = fixture.images().narrow(0, i_image, 1);
        let features = fixture.clip.vision.forward(image);
        assert_close(features, &expected.values[i_image * 20..(i_image + 1) * 20]);
    }
}

#[test]
fn what_was_loaded_is_what_would_be_saved() {
    let fixture = Fixture::load();
    let mut records =
        read(include_bytes!("fixtures/clip.safetensors")).expect("a safetensors file");
    records.retain(|record| !record.name.starts_with("check."));
    let mut saved = fixture.clip.named_tensors();
    saved.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(saved.len(), records.len(), "number of tensors");
    for (saved, record) in saved.into_iter().zip(records) {
        assert_eq!(saved.name, record.name, "names in order");
        assert_eq!(saved.shape, record.shape, "shape of {}", record.name);
        let values = saved.values.into_data();
        assert_eq!(
            values.as_slice::<f32>().expect("f32 on the CPU"),
            record.values,
            "values of {}",
            record.name
        );
    }
}
