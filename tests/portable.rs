//! What must come out the same natively and in the browser, where `usize` has 32 bits and libm is another.
//!
//! Each test runs in both: under `cargo test`, and under wasm-bindgen's runner inside a headless browser.
#![allow(missing_docs, reason = "an integration test has no users")]

use kappascope::numerics::{PowerSpherical, VonMisesFisher};
use kappascope::scenes::{Compositions, Scene, Wording, grammar, render, say};
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
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}
