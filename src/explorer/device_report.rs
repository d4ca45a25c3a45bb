//! Times of the loaded model on this device, as JSON for those who compare devices.

use std::fmt::Write as _;

use super::export::json_text;
use super::supervisor::LoadedModel;
use crate::protocol::DeviceTiming;

/// A JSON object with the model, the engine, the browser, how long the load took and an object for each kind of work.
pub fn device_report(model: &LoadedModel, timings: &[DeviceTiming], browser: &str) -> String {
    let mut json = String::from("{");
    for (key, text) in [
        ("model", model.title()),
        ("engine", model.engine()),
        ("device", model.device()),
        ("browser", browser),
    ] {
        write!(json, "\"{key}\":{},", json_text(text)).ok();
    }
    let (millis, is_kept) = model.load_time();
    write!(json, "\"load_millis\":{millis},").ok();
    write!(json, "\"loaded_from_disk\":{is_kept},\"timings\":[").ok();
    for (i, timing) in timings.iter().enumerate() {
        let DeviceTiming {
            work,
            first_millis,
            median_millis,
        } = timing;
        let (comma, work) = (if i == 0 { "" } else { "," }, json_text(work));
        write!(
            json,
            "{comma}\n{{\"work\":{work},\"first_millis\":{first_millis},\"median_millis\":{median_millis}}}"
        )
        .ok();
    }
    json + "]}\n"
}

/// Milliseconds for people: tenths of short ones, seconds of long ones.
pub fn millis_text(millis: f64) -> String {
    match millis {
        short if short < 100.0 => format!("{short:.1} ms"),
        long if long < 10_000.0 => format!("{long:.0} ms"),
        longer => format!("{:.1} s", longer / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::BareCard;

    fn model() -> LoadedModel {
        LoadedModel::Bare(Box::new(BareCard {
            name: "clip".into(),
            title: "CLIP “B/32”".into(),
            embed_dim: 512,
            provenance: String::new(),
            weights: String::new(),
            image_encoder: Vec::new(),
            license: String::new(),
            engine: "cpu".into(),
            device: "Flex".into(),
            self_test: None,
            is_vit_b_32: false,
            weights_bytes: 1,
            has_vision: false,
            from_cache: true,
            load_millis: 812.5,
            probe: Vec::new(),
        }))
    }

    #[test]
    fn the_report_is_json_and_says_what_was_measured() {
        let timing = |work: &str, median_millis| DeviceTiming {
            work: work.to_owned(),
            first_millis: 2.0 * median_millis,
            median_millis,
        };
        let timings = [timing("one \"caption\"", 12.25), timing("a picture", 80.0)];
        let report = device_report(&model(), &timings, "Browser/1 \\ x");
        let report: serde_json::Value = serde_json::from_str(&report).expect("it is JSON");
        assert_eq!(report["load_millis"], 812.5, "the load");
        assert_eq!(report["loaded_from_disk"], true, "from the disk");
        assert_eq!(report["browser"], "Browser/1 \\ x", "the browser");
        let works = report["timings"].as_array().expect("a list");
        assert_eq!(works.len(), 2, "an object each");
        assert_eq!(works[0]["work"], "one \"caption\"", "as it was called");
        assert_eq!(works[1]["median_millis"], 80.0, "of the second");
        assert_eq!(works[1]["first_millis"], 160.0, "of the second");
    }

    #[test]
    fn times_are_as_fine_as_they_are_short() {
        for (millis, text) in [(3.456, "3.5 ms"), (812.5, "812 ms"), (29_500.0, "29.5 s")] {
            assert_eq!(millis_text(millis), text, "for {millis}");
        }
    }
}
