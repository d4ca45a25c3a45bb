//! The page's state as the fragment of its address, and back.
//!
//! A fragment never reaches a server. Unknown parts are passed over, so that old links keep working in newer pages and
//! new links do what they can in older ones.

use std::fmt::Write as _;

use crate::explorer::locks::Access;
use crate::explorer::state::{Beside, ExplorerState, Measure, ModelChoice};
use crate::explorer::view::View;
use crate::explorer::views::corruption::disturb::Harm;
use crate::explorer::views::corruption::misspell::Slip;
use crate::explorer::views::geometry::{MAX_DIMENSION, MIN_DIMENSION};
use crate::explorer::views::ladder::Ladder;
use crate::explorer::views::none_of_these::Classes;
use crate::explorer::views::studio::drawing::Drawing;
use crate::numerics::Family;

/// Starts the names of the visitor's own pictures, which stay on the machine and so in no link.
pub const OWN: &str = "own-";
/// The largest limit on a cosine that means anything, in thousandths.
const MAX_LIMIT: u16 = 1000;
/// The name of [`ModelChoice::Clip`].
const CLIP: &str = "clip";

/// The fragment that restores this state, without `#`.
pub fn encode(state: &ExplorerState) -> String {
    let mut parts = vec!["v=1".to_owned()];
    if state.model == ModelChoice::Clip {
        parts.push(format!("m={CLIP}"));
    }
    parts.extend(
        state
            .captions
            .iter()
            .map(|caption| format!("c={}", escape(&caption.text))),
    );
    let shared = || state.pictures.iter().filter(|id| !id.starts_with(OWN));
    parts.extend(shared().map(|id| format!("g={}", escape(id))));
    let n_own = state.pictures.len() - shared().count();
    if n_own > 0 {
        parts.push(format!("own={n_own}"));
    }
    if state.family == Family::PowerSpherical {
        parts.push("law=power-spherical".into());
    }
    match state.beside {
        Beside::Posterior => {}
        Beside::Cosine => parts.push("beside=cosine".into()),
        Beside::LogDensity => parts.push("beside=log-density".into()),
    }
    if state.measure == Measure::Cosine {
        parts.push("by=cosine".into());
    }
    if state.counts_none {
        parts.push("none=1".into());
    }
    if let Some(id) = state.picture.as_ref().filter(|id| !id.starts_with(OWN)) {
        parts.push(format!("p={}", escape(id)));
    }
    let row = state
        .captions
        .iter()
        .position(|caption| Some(caption.key) == state.caption);
    parts.extend(row.map(|row| format!("r={row}")));
    parts.extend(encode_views(state));
    parts.join("&")
}

/// The fragment of the same page with another view open.
pub fn encode_view(state: &ExplorerState, view: View) -> String {
    let mut there = state.clone();
    there.view = view;
    encode(&there)
}

/// The parts that belong to single views; none for what a view starts from.
fn encode_views(state: &ExplorerState) -> Vec<String> {
    let mut parts = Vec::new();
    if state.view != View::default() {
        parts.push(format!("view={}", state.view.slug()));
    }
    parts.extend(state.dimension.map(|dimension| format!("d={dimension}")));
    if state.ladder != Ladder::default() {
        parts.push("ladder=own".into());
        let rungs = state.ladder.rungs.iter();
        parts.extend(rungs.map(|rung| format!("l={}", escape(&rung.text))));
    }
    if state.harm != Harm::default() {
        parts.push(format!("harm={}", state.harm.name()));
    }
    if state.slip != Slip::default() {
        parts.push(format!("slip={}", state.slip.name()));
    }
    if state.drawing != Drawing::default() {
        parts.push(format!("scene={}", state.drawing.encode()));
    }
    let (classes, usual) = (&state.classes, Classes::default());
    let texts = [
        ("names", &classes.names, &usual.names),
        ("template", &classes.template, &usual.template),
        ("dummy", &classes.dummy, &usual.dummy),
    ];
    let changed = texts.into_iter().filter(|(_, text, usual)| text != usual);
    parts.extend(changed.map(|(name, text, _)| format!("{name}={}", escape(text))));
    let limits = [
        ("threshold", classes.threshold, usual.threshold),
        ("margin", classes.margin, usual.margin),
    ];
    let changed = limits
        .into_iter()
        .filter(|(_, limit, usual)| limit != usual);
    parts.extend(changed.map(|(name, limit, _)| format!("{name}={limit}")));
    parts.extend(encode_teaching(state));
    parts
}

/// The parts of the tour, the lessons and the teacher.
fn encode_teaching(state: &ExplorerState) -> Vec<String> {
    let named = |name: &str, value: Option<String>| value.map(|value| format!("{name}={value}"));
    let parts = [
        named("lock", state.locks.encode(Access::Locked)),
        named("hide", state.locks.encode(Access::Hidden)),
        named(
            "tour",
            state.tour_step.map(|tour_step| tour_step.to_string()),
        ),
        named(
            "lesson",
            (state.lesson > 0).then(|| state.lesson.to_string()),
        ),
    ];
    parts.into_iter().flatten().collect()
}

/// Takes a part that belongs to a single view into the state; others are passed over.
fn decode_view(state: &mut ExplorerState, name: &str, value: String) {
    let limit = || value.parse().ok().filter(|limit: &u16| *limit <= MAX_LIMIT);
    match name {
        "view" => state.view = View::from_slug(&value).unwrap_or_default(),
        "d" => {
            let dimension = value.parse::<usize>().ok();
            state.dimension = dimension.filter(|d| (MIN_DIMENSION..=MAX_DIMENSION).contains(d));
        }
        "ladder" => state.ladder = Ladder::new([]),
        "l" => {
            // A rung beyond the last is left out.
            state.ladder.add(&value);
        }
        "harm" => {
            let named = Harm::ALL.into_iter().find(|harm| harm.name() == value);
            state.harm = named.unwrap_or(state.harm);
        }
        "slip" => {
            let named = Slip::ALL.into_iter().find(|slip| slip.name() == value);
            state.slip = named.unwrap_or(state.slip);
        }
        "scene" => {
            if let Some(drawing) = Drawing::decode(&value) {
                state.drawing = drawing;
            }
        }
        "lock" => state.locks.decode(&value, Access::Locked),
        "hide" => state.locks.decode(&value, Access::Hidden),
        "tour" => state.tour_step = value.parse().ok(),
        "lesson" => state.lesson = value.parse().unwrap_or_default(),
        "names" => state.classes.names = value,
        "template" => state.classes.template = value,
        "dummy" => state.classes.dummy = value,
        "threshold" => state.classes.threshold = limit().unwrap_or(state.classes.threshold),
        "margin" => state.classes.margin = limit().unwrap_or(state.classes.margin),
        _ => {}
    }
}

/// The state that a fragment holds and the number of own pictures its sender had; `None` for a fragment that holds none.
pub fn decode(fragment: &str) -> Option<(ExplorerState, usize)> {
    let mut state = ExplorerState::new([], []);
    let (mut known, mut n_own, mut row) = (false, 0, None);
    for part in fragment.trim_start_matches('#').split('&') {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let value = unescape(value);
        match (name, value.as_str()) {
            ("v", _) => known = true,
            ("m", CLIP) => state.model = ModelChoice::Clip,
            ("c", text) => {
                state.add_caption(text);
            }
            ("g", id) => {
                state.add_picture(id);
            }
            ("own", n) => n_own = n.parse().unwrap_or(0),
            ("law", "power-spherical") => state.family = Family::PowerSpherical,
            ("beside", "cosine") => state.beside = Beside::Cosine,
            ("beside", "log-density") => state.beside = Beside::LogDensity,
            ("by", "cosine") => state.measure = Measure::Cosine,
            ("none", "1") => state.counts_none = true,
            ("p", id) if state.pictures.iter().any(|known| known == id) => {
                state.picture = Some(id.to_owned());
            }
            ("r", n) => row = n.parse::<usize>().ok(),
            _ => decode_view(&mut state, name, value),
        }
    }
    state.caption = row.and_then(|row| Some(state.captions.get(row)?.key));
    known.then_some((state, n_own))
}

/// Text with everything but letters, digits and `-_.~` as percent and two digits.
pub(crate) fn escape(text: &str) -> String {
    text.bytes()
        .fold(String::with_capacity(text.len()), |mut escaped, byte| {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    escaped.push(char::from(byte));
                }
                _ => drop(write!(escaped, "%{byte:02X}")),
            }
            escaped
        })
}

/// Reverses [`escape`]; a broken escape stands for itself, and broken UTF-8 becomes the replacement character.
fn unescape(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((&first, tail)) = rest.split_first() {
        let code = (first == b'%').then(|| tail.get(..2)).flatten();
        let byte = code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::explorer::locks::Control;

    proptest! {
        #[test]
        fn every_state_comes_back_from_its_link(
            captions in prop::collection::vec(".*", 0..8),
            pictures in prop::collection::btree_set("[a-z]{1,8}-?[0-9]{0,3}", 0..8),
            power_spherical: bool,
            is_clip: bool,
            beside in prop::sample::select(vec![Beside::Posterior, Beside::Cosine, Beside::LogDensity]),
            measure in prop::sample::select(vec![Measure::Likelihood, Measure::Cosine]),
            counts_none: bool,
            row in 0..8_usize,
            view in prop::sample::select(View::ALL.to_vec()),
            dimension in prop::option::of(MIN_DIMENSION..=MAX_DIMENSION),
            rungs in prop::option::of(prop::collection::vec(".*", 0..6)),
            texts in prop::option::of([".*", ".*", ".*"]),
            limits in (0..=MAX_LIMIT, 0..=MAX_LIMIT),
            harm in prop::sample::select(Harm::ALL.to_vec()),
            slip in prop::sample::select(Slip::ALL.to_vec()),
            drawn in prop::option::of((0..4_usize, -400..400_i16, -400..400_i16)),
            locked in prop::collection::vec((prop::sample::select(Control::ALL.to_vec()), prop::sample::select(vec![Access::Locked, Access::Hidden])), 0..5),
            tour_step in prop::option::of(0..20_usize),
            lesson in 0..5_usize,
        ) {
            let pictures: Vec<_> = pictures.iter().map(String::as_str).filter(|id| !id.starts_with(OWN)).collect();
            let mut state = ExplorerState::new(captions.iter().map(String::as_str), pictures.iter().copied());
            state.family = if power_spherical { Family::PowerSpherical } else { Family::VonMisesFisher };
            (state.beside, state.measure, state.counts_none) = (beside, measure, counts_none);
            state.model = if is_clip { ModelChoice::Clip } else { ModelChoice::Scenes };
            state.picture = pictures.last().map(|&id| id.to_owned());
            state.caption = state.captions.get(row).map(|caption| caption.key);
            (state.view, state.dimension) = (view, dimension);
            if let Some(rungs) = rungs {
                state.ladder = Ladder::new(rungs.iter().map(String::as_str));
            }
            if let Some([names, template, dummy]) = texts {
                let (threshold, margin) = limits;
                state.classes = Classes { names, template, dummy, threshold, margin };
            }
            (state.harm, state.slip) = (harm, slip);
            if let Some((i, dx, dy)) = drawn {
                state.drawing.add();
                state.drawing.shift(i, dx, dy);
            }
            for (control, access) in locked {
                state.locks.set(control, access);
            }
            (state.tour_step, state.lesson) = (tour_step, lesson);
            let link = encode(&state);
            prop_assert!(link.is_ascii(), "a link is plain text: {link}");
            prop_assert_eq!(decode(&link), Some((state.clone(), 0)), "through {}", link);
            let link = encode_view(&state, View::Words);
            state.view = View::Words;
            prop_assert_eq!(decode(&link), Some((state, 0)), "the same page with another view, through {}", link);
        }

        #[test]
        fn no_fragment_stops_the_page(fragment in ".*") {
            decode(&fragment);
        }
    }

    #[test]
    fn a_page_on_which_no_view_was_opened_has_the_address_it_always_had() {
        let link = encode(&ExplorerState::new(["a star"], ["star"]));
        assert_eq!(link, "v=1&c=a%20star&g=star&p=star", "nothing was added");
    }

    #[test]
    fn views_and_limits_that_are_not_there_are_passed_over() {
        let (state, _) = decode("v=1&view=attic&scene=99&d=2&margin=4000&threshold=x&d=1e9")
            .expect("it is a link of ours");
        assert_eq!(state, ExplorerState::new([], []), "all is as usual");
    }

    #[test]
    fn own_pictures_are_counted_and_not_named() {
        let state = ExplorerState::new(["a"], ["own-1-holiday", "star"]);
        let link = encode(&state);
        assert!(
            !link.contains("holiday"),
            "a visitor's file stays private: {link}"
        );
        let (restored, n_own) = decode(&link).expect("it is a link of ours");
        assert_eq!(
            (restored.pictures, n_own),
            (vec!["star".to_owned()], 1),
            "from {link}"
        );
    }

    #[test]
    fn a_foreign_fragment_is_no_state() {
        for fragment in ["", "#", "#top", "a=b"] {
            assert_eq!(decode(fragment), None, "the fragment {fragment:?}");
        }
    }

    #[test]
    fn a_broken_escape_stands_for_itself() {
        assert_eq!(
            unescape("100%25 %zz %4"),
            "100% %zz %4",
            "broken escapes are kept"
        );
    }
}
