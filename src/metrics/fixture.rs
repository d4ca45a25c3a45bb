//! Expected numbers that `SciPy` and `NumPy` wrote.

use serde_json::Value;

/// Absolute error that is allowed: `SciPy` computes in f64 too, in another order.
const TOLERANCE: f64 = 1e-13;

/// A file of `tests/fixtures`.
pub(super) fn fixture(name: &str) -> Value {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the fixture is committed");
    serde_json::from_str(&text).expect("the fixture is JSON")
}

pub(super) fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|x| x.as_f64().expect("a number")).collect()
}

pub(super) fn assert_close(name: &str, found: f64, expected: &Value) {
    let expected = expected.as_f64().expect("a number");
    assert!(
        (found - expected).abs() < TOLERANCE,
        "{name}: found {found}, expected {expected}"
    );
}
