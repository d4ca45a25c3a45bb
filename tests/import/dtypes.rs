//! What fewer bytes do to a model's answers.

use std::path::Path;

#[path = "../../examples/dtypes.rs"]
#[expect(dead_code, reason = "its main is the example's")]
mod example;

use example::{Pairs, measure};

/// The built-in model is stored in f16, so that f16 must change nothing; int8 changes a little.
#[test]
fn f16_changes_nothing_of_a_model_that_is_f16_and_int8_changes_little() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/models/scenes");
    let rows = measure(&model, &Pairs::scenes(24)).expect("the built-in model");
    let [f32_row, f16_row, int8_row] = &rows[..] else {
        panic!("three precisions: {rows:?}");
    };
    assert_eq!(f16_row.recall, f32_row.recall, "the same ranks");
    for row in [f32_row, f16_row] {
        assert_eq!(row.same_first, 1.0, "the same first pictures: {row}");
        assert!(row.text_cosine.worst > 1.0 - 1e-6, "{row}");
        assert!(row.image_cosine.worst > 1.0 - 1e-6, "{row}");
        let change = row.concentration_change.expect("there are adapters");
        assert_eq!(change.worst, 0.0, "the same κ: {row}");
        assert_eq!(
            row.nats_change.expect("adapters").worst,
            0.0,
            "the same nats: {row}"
        );
    }
    assert!(int8_row.text_cosine.worst > 0.99, "{int8_row}");
    assert!(int8_row.image_cosine.worst > 0.99, "{int8_row}");
    let change = int8_row.concentration_change.expect("there are adapters");
    assert!(change.worst > 0.0 && change.median < 0.05, "{int8_row}");
    assert!(
        int8_row.towers_bytes * 3 < f32_row.towers_bytes
            && f16_row.towers_bytes < f32_row.towers_bytes,
        "{rows:?}"
    );
}

mod shared_data {
    use super::*;
    use crate::shared::shared;

    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn photographs_come_with_their_captions() {
        let pairs = Pairs::photos(&shared("ccby_photos")).expect("photographs and captions");
        assert_eq!(pairs.len(), 248, "all of them");
    }
}
