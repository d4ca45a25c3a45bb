//! What must come out the same natively and in the browser, where `usize` has 32 bits and libm is another.
//!
//! Each test runs in both: under `cargo test`, and under wasm-bindgen's runner inside a headless browser.
#![allow(missing_docs, reason = "an integration test has no users")]

use half::f16;
use kappascope::numerics::{PowerSpherical, VonMisesFisher};
use kappascope::scenes::{Compositions, Scene, Wording, grammar, render, say};
use kappascope::weights::manifest::TensorEntry;
use kappascope::weights::original::TensorDtype;
use kappascope::weights::shard::stored;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use serde_json::Value;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::{wasm_bindgen_test as test, wasm_bindgen_test_configure};

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Checksums of twenty scenes. Whoever changes the world on purpose changes them too: models were trained on the old one.
const CAPTIONS: u64 = 11_228_781_926_474_670_136;
const PIXELS: u64 = 634_485_549_242_620_650;

/// What the documentation of the distributions promises, relative to the value or to 1.
const ACCURACY: f64 = 2e-12;

#[test]
fn a_seed_draws_the_same_scenes_everywhere() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut pixels = Vec::new();
    let mut captions = String::new();
    for _ in 0..20 {
        let scene = Scene::sample(Compositions::All, &mut rng);
        pixels.extend(render(&scene, 64));
        for description in grammar::hierarchy(&scene, &mut rng) {
            captions.push_str(&say(&description, Wording::Varied, &mut rng));
            captions.push('\n');
        }
    }
    assert_eq!(
        checksum(captions.as_bytes()),
        CAPTIONS,
        "captions:\n{captions}"
    );
    assert_eq!(
        checksum(&pixels),
        PIXELS,
        "{} bytes of pixels",
        pixels.len()
    );
}

#[test]
fn the_distributions_have_the_same_normalisers_everywhere() {
    let fixture: Value =
        serde_json::from_str(include_str!("fixtures/numerics.json")).expect("the fixture is JSON");
    for row in fixture["distributions"]
        .as_array()
        .expect("the fixture lists distributions")
    {
        let embed_dim = row["embed_dim"]
            .as_u64()
            .and_then(|d| usize::try_from(d).ok())
            .expect("a dimension");
        let concentration = row["concentration"].as_f64().expect("a concentration");
        let vmf = VonMisesFisher::new(embed_dim, concentration).log_normalizer_ratio();
        let power_spherical = PowerSpherical::new(embed_dim, concentration).log_normalizer_ratio();
        for (key, found) in [
            ("vmf_log_normalizer_ratio", vmf),
            ("ps_log_normalizer_ratio", power_spherical),
        ] {
            let expected = row[key].as_f64().expect("a value");
            let close = (found - expected).abs() <= ACCURACY * expected.abs().max(1.0);
            assert!(
                close,
                "{key} at d = {embed_dim}, κ = {concentration}: {found} instead of {expected}"
            );
        }
    }
}

/// FNV-1a, which is short enough to be seen to be the same everywhere.
#[test]
fn weights_of_two_bytes_and_of_one_are_the_same_numbers_everywhere() {
    let halves: Vec<u16> = (0..=u16::MAX).collect();
    // Of any number of values, not of whole vectors alone.
    for halves in [&halves[..], &halves[..13], &halves[31_739..31_750]] {
        let bytes: Vec<u8> = halves.iter().copied().flat_map(u16::to_le_bytes).collect();
        let found = TensorDtype::F16.decode("halves", &bytes).expect("floats");
        assert_eq!(found.len(), halves.len(), "a value for each");
        for (half, found) in halves.iter().zip(found) {
            let expected = f16::from_bits(*half).to_f32();
            let is_same = found.to_bits() == expected.to_bits();
            assert!(
                is_same || found.is_nan() && expected.is_nan(),
                "{half:#x}: {found}"
            );
        }
    }

    let rows: Vec<i8> = (-127..=127).chain(-127..=127).collect();
    let bytes: Vec<u8> = rows.iter().map(|value| value.cast_unsigned()).collect();
    let scales = [0.5_f32, 3.25];
    let scale_bytes: Vec<u8> = scales.into_iter().flat_map(f32::to_le_bytes).collect();
    let entry = TensorEntry {
        name: "rows".to_owned(),
        dtype: "I8".to_owned(),
        shape: vec![2, 255],
    };
    let found = stored(&entry, bytes.clone(), Some(&scale_bytes))
        .expect("a scale for each row")
        .widened();
    for (i, (value, found)) in rows.iter().zip(found.values).enumerate() {
        assert_eq!(found, f32::from(*value) * scales[i / 255], "value {i}");
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}
