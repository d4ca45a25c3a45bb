//! The page's state as the fragment of its address, and back: one table of fields, each of which is written and read.
//!
//! A fragment never reaches a server. Unknown fields are passed over, so that old links keep working in newer pages and
//! new links do what they can in older ones. A link that names no model was made for the scenes, which every page
//! opened with before there were others; all that a link leaves out is as usual in the world of its model.

use percent_encoding::{
    AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_decode_str, utf8_percent_encode,
};

use super::locks::Access;
use super::measure::{Measure, SecondNumber};
use super::number::decimal;
use super::state::{ExplorerState, ModelChoice, OWN};
use super::views::View;
use super::views::corruption::image_corruption_of_link;
use super::views::geometry::{MAX_DIMENSION, MIN_DIMENSION};
use super::views::ladder::Ladder;
use super::views::studio::drawing::Drawing;
use super::world::World;
use crate::corruption::{CorruptionKind as _, Misspelling};
use crate::numerics::Family;
use crate::protocol::shortened;

/// The largest limit on a cosine that means anything, in thousandths.
const MAX_LIMIT: u16 = 1000;
/// Characters that a link escapes: all but RFC 3986's unreserved ones.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// The field that names the model.
const MODEL: &str = "m";
/// Models in a link, by their names there; the first is meant where none is named.
const MODELS: [ModelChoice; 3] = [
    ModelChoice::SCENES,
    ModelChoice::BuiltIn(World::Photographs),
    ModelChoice::Clip,
];
/// Names of values in a link; of these and the next, the first is the usual one.
const FAMILIES: &[(&str, Family)] = &[
    ("vmf", Family::VonMisesFisher),
    ("power-spherical", Family::PowerSpherical),
];
const MEASURES: &[(&str, Measure)] = &[
    ("likelihood", Measure::Likelihood),
    ("cosine", Measure::Cosine),
];
const SECOND_NUMBERS: &[(&str, SecondNumber)] = &[
    ("none", SecondNumber::None),
    ("posterior", SecondNumber::Posterior),
    ("nats", SecondNumber::Nats),
    ("cosine", SecondNumber::Cosine),
    ("log-density", SecondNumber::LogDensity),
];

/// A state while its link is read.
struct Draft {
    state: ExplorerState,
    /// Whether the link is one of this page.
    is_ours: bool,
    /// Pictures of the sender that are in no link.
    n_own: usize,
    /// Row of the chosen caption.
    row: Option<usize>,
}

/// Name of a field, its values in the link of a state, and what a value does to the state that is read.
///
/// Usual values are not written, so that addresses stay short.
type Field = (
    &'static str,
    fn(&ExplorerState) -> Vec<String>,
    fn(&mut Draft, &str),
);

/// A field with a value out of a list of names.
macro_rules! choice {
    ($name:literal, $place:ident, $names:expr) => {
        (
            $name,
            |state| {
                let name = name_of($names, state.$place);
                list((name != $names[0].0).then_some(name))
            },
            |draft, value| {
                let known = $names.iter().find(|(name, _)| *name == value);
                replace(&mut draft.state.$place, known.map(|(_, value)| *value));
            },
        )
    };
}

/// A field with a value that has a name, by what names it and what reads the name.
macro_rules! variant {
    ($name:literal, $place:ident, $slug:ident, $read:expr) => {
        (
            $name,
            |state| list((state.$place != Default::default()).then(|| state.$place.$slug())),
            |draft, value| replace(&mut draft.state.$place, $read(value)),
        )
    };
}

/// A field of the classes, by what its value is read with.
macro_rules! classes {
    ($name:literal, $place:ident, $read:expr) => {
        (
            $name,
            |state| {
                let (value, usual) = (&state.classes.$place, usual(state).classes.$place);
                list((*value != usual).then_some(value))
            },
            |draft, value| replace(&mut draft.state.classes.$place, $read(value)),
        )
    };
}

/// A field with the controls that have this access.
macro_rules! locks {
    ($name:literal, $access:expr) => {
        (
            $name,
            |state| list(state.locks.encode($access)),
            |draft, value| draft.state.locks.decode(value, $access),
        )
    };
}

/// The fields in the order in which a link has them.
const FIELDS: &[Field] = &[
    ("v", |_| vec!["1".into()], |draft, _| draft.is_ours = true),
    (
        MODEL,
        |state| list((state.model != MODELS[0]).then(|| state.model.slug())),
        // The state belongs to this model from the start.
        |_, _| {},
    ),
    (
        "c",
        |state| list(state.captions.texts()),
        |draft, value| _ = draft.state.captions.add(value),
    ),
    (
        "g",
        |state| list(shared(&state.pictures)),
        // No link has a visitor's own picture, and one that names it would choose among those on this device.
        |draft, value| {
            if !value.starts_with(OWN) {
                draft.state.add_picture(value);
            }
        },
    ),
    (
        "own",
        |state| above_zero(state.pictures.len() - shared(&state.pictures).count()),
        |draft, value| draft.n_own = value.parse().unwrap_or(0),
    ),
    choice!("law", family, FAMILIES),
    choice!("beside", beside, SECOND_NUMBERS),
    choice!("by", measure, MEASURES),
    choice!("none", counts_none, &[("0", false), ("1", true)]),
    (
        "p",
        |state| list(shared(&state.picture)),
        |draft, value| {
            let is_shown = draft.state.pictures.iter().any(|known| known == value);
            replace(
                &mut draft.state.picture,
                is_shown.then(|| Some(value.to_owned())),
            );
        },
    ),
    (
        "r",
        |state| list(state.caption.and_then(|key| state.captions.index(key))),
        |draft, value| draft.row = value.parse().ok(),
    ),
    variant!("view", view, slug, View::from_slug),
    (
        "d",
        |state| list(state.dimension),
        |draft, value| draft.state.dimension = within(value, MIN_DIMENSION, MAX_DIMENSION),
    ),
    (
        "ladder",
        |state| list(own_ladder(state).map(|_| "own")),
        |draft, _| draft.state.ladder = Ladder::new([]),
    ),
    (
        "l",
        |state| list(own_ladder(state).into_iter().flat_map(Ladder::texts)),
        |draft, value| _ = draft.state.ladder.add(value),
    ),
    variant!("harm", image_corruption, name, image_corruption_of_link),
    variant!("slip", misspelling, name, Misspelling::named),
    (
        "scene",
        |state| list((state.drawing != Drawing::default()).then(|| state.drawing.encode())),
        |draft, value| replace(&mut draft.state.drawing, Drawing::decode(value)),
    ),
    classes!("names", names, text),
    classes!("template", template, text),
    classes!("dummy", dummy, text),
    classes!("threshold", threshold, limit),
    classes!("margin", margin, limit),
    locks!("lock", Access::Locked),
    locks!("hide", Access::Hidden),
    (
        "tour",
        |state| list(state.tour_step),
        |draft, value| draft.state.tour_step = value.parse().ok(),
    ),
    (
        "lesson",
        |state| above_zero(state.lesson),
        |draft, value| draft.state.lesson = value.parse().unwrap_or_default(),
    ),
    (
        "game",
        |state| list(state.game),
        |draft, value| draft.state.game = value.parse().ok(),
    ),
    choice!("big", is_big, &[("0", false), ("1", true)]),
    (
        "cover",
        |state| list((state.coverage != usual(state).coverage).then_some(state.coverage)),
        |draft, value| replace(&mut draft.state.coverage, share(value)),
    ),
    (
        "w",
        |state| list((!state.weights.is_empty()).then_some(&state.weights)),
        |draft, value| replace(&mut draft.state.weights, weights(value)),
    ),
    (
        "ask",
        |state| list((!state.questions.is_empty()).then_some(&state.questions)),
        |draft, value| draft.state.ask(value),
    ),
];

/// The fragment that restores this state, without `#`.
pub fn encode(state: &ExplorerState) -> String {
    let fields = FIELDS.iter().flat_map(|(name, write, _)| {
        let values = write(state).into_iter();
        values.map(move |value| format!("{name}={}", escape(&value)))
    });
    fields.collect::<Vec<_>>().join("&")
}

/// The fragment of the same page with another view open.
pub fn encode_view(state: &ExplorerState, view: View) -> String {
    encode(&ExplorerState {
        view,
        ..state.clone()
    })
}

/// The fragment of a lesson whose class is asked these questions, too.
pub fn encode_class(lesson: &str, questions: &str) -> String {
    match decode(lesson) {
        Some((mut state, _)) => {
            state.ask(questions);
            encode(&state)
        }
        None => lesson.to_owned(),
    }
}

/// The state that a fragment holds and the number of own pictures its sender had; `None` for a fragment that holds
/// none.
pub fn decode(fragment: &str) -> Option<(ExplorerState, usize)> {
    let parts = fragment.trim_start_matches('#').split('&');
    let parts = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
    let mut draft = Draft {
        state: ExplorerState::new(model_of(parts.clone()), [], []),
        is_ours: false,
        n_own: 0,
        row: None,
    };
    for (name, value) in parts {
        let field = FIELDS.iter().find(|(known, ..)| *known == name);
        if let Some((_, _, read)) = field {
            read(&mut draft, &unescape(value));
        }
    }
    let mut state = draft.state;
    state.caption = draft.row.and_then(|row| Some(state.captions.get(row)?.key));
    draft.is_ours.then_some((state, draft.n_own))
}

/// The model that the fields of a link name.
fn model_of<'a>(mut fields: impl Iterator<Item = (&'a str, &'a str)>) -> ModelChoice {
    let named = fields.find(|(name, _)| *name == MODEL);
    let known = named.and_then(|(_, slug)| MODELS.into_iter().find(|model| model.slug() == slug));
    known.unwrap_or(MODELS[0])
}

/// A page of the same model on which nothing was changed.
fn usual(state: &ExplorerState) -> ExplorerState {
    ExplorerState::new(state.model, [], [])
}

/// The ladder, where it is not the one of the start.
fn own_ladder(state: &ExplorerState) -> Option<&Ladder> {
    Some(&state.ladder).filter(|ladder| **ladder != usual(state).ladder)
}

/// The family's name in links, files and commands.
pub(super) fn family_slug(family: Family) -> &'static str {
    name_of(FAMILIES, family)
}

/// Text with everything but letters, digits and `-_.~` as percent and two digits.
pub(super) fn escape(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, ESCAPED)
}

/// Reverses [`escape`]; a broken escape stands for itself, and broken UTF-8 becomes the replacement character.
fn unescape(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn list<T: ToString>(values: impl IntoIterator<Item = T>) -> Vec<String> {
    values.into_iter().map(|value| value.to_string()).collect()
}

fn above_zero(n: usize) -> Vec<String> {
    list((n > 0).then_some(n))
}

fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    let known = names.iter().find(|(_, known)| *known == value);
    known.map_or("", |(name, _)| name)
}

fn replace<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// A number from `least` to `most`.
fn within<T: std::str::FromStr + PartialOrd>(value: &str, least: T, most: T) -> Option<T> {
    let number = value.parse().ok();
    number.filter(|number| (least..=most).contains(number))
}

fn share(value: &str) -> Option<f64> {
    decimal(value).filter(|share| *share <= 1.0)
}

fn limit(value: &str) -> Option<u16> {
    within(value, 0, MAX_LIMIT)
}

fn text(value: &str) -> Option<String> {
    Some(shortened(value).to_owned())
}

/// The eight hexadecimal digits by which a link names weights; `None` for anything else.
fn weights(value: &str) -> Option<String> {
    let is_sound = value.len() == 8 && value.chars().all(|c| c.is_ascii_hexdigit());
    is_sound.then(|| value.to_owned())
}

/// Names of pictures that are not the visitor's own.
fn shared<'a>(pictures: impl IntoIterator<Item = &'a String>) -> impl Iterator<Item = &'a String> {
    let pictures = pictures.into_iter();
    pictures.filter(|id| !id.starts_with(OWN))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::corruption::ImageCorruption;
    use crate::explorer::locks::PageControl;
    use crate::explorer::state::MAX_QUESTION_BYTES;
    use crate::explorer::views::learn::Lesson;
    use crate::explorer::views::learn::tests::shipped;
    use crate::explorer::views::none_of_these::Classes;
    use crate::protocol::MAX_CAPTION_CHARACTERS;

    proptest! {
        #[test]
        fn every_state_comes_back_from_its_link(
            captions in prop::collection::vec(".*", 0..8),
            pictures in prop::collection::btree_set("[a-z]{1,8}-?[0-9]{0,3}", 0..8),
            power_spherical: bool,
            model in prop::sample::select(MODELS.to_vec()),
            beside in prop::sample::select(SECOND_NUMBERS.iter().map(|(_, number)| *number).collect::<Vec<_>>()),
            measure in prop::sample::select(vec![Measure::Likelihood, Measure::Cosine]),
            counts_none: bool,
            row in 0..8_usize,
            view in prop::sample::select(View::ALL.to_vec()),
            dimension in prop::option::of(MIN_DIMENSION..=MAX_DIMENSION),
            rungs in prop::option::of(prop::collection::vec(".*", 0..6)),
            texts in prop::option::of([".*", ".*", ".*"]),
            limits in (0..=MAX_LIMIT, 0..=MAX_LIMIT),
            image_corruption in prop::sample::select(ImageCorruption::ALL.to_vec()),
            misspelling in prop::sample::select(Misspelling::ALL.to_vec()),
            drawn in prop::option::of((0..4_usize, -400..400_i16, -400..400_i16)),
            locked in prop::collection::vec(
                (prop::sample::select(PageControl::ALL.to_vec()), prop::sample::select(vec![Access::Locked, Access::Hidden])),
                0..5,
            ),
            tour_step in prop::option::of(0..20_usize),
            lesson in 0..5_usize,
            game in prop::option::of(0..100_u32),
            coverage in (0..=10_000_u16).prop_map(|share| f64::from(share) / 1e4),
            questions in "(.|\n){0,700}",
            weights in "([0-9a-f]{8})?",
        ) {
            let pictures: Vec<_> = pictures.iter().map(String::as_str).filter(|id| !id.starts_with(OWN)).collect();
            let mut state = ExplorerState::new(model, captions.iter().map(String::as_str), pictures.iter().copied());
            state.family = if power_spherical { Family::PowerSpherical } else { Family::VonMisesFisher };
            (state.beside, state.measure, state.counts_none) = (beside, measure, counts_none);
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
            (state.image_corruption, state.misspelling) = (image_corruption, misspelling);
            if let Some((i, dx, dy)) = drawn {
                state.drawing.add();
                state.drawing.shift(i, dx, dy);
            }
            for (control, access) in locked {
                state.locks.set(control, access);
            }
            (state.tour_step, state.lesson, state.coverage) = (tour_step, lesson, coverage);
            (state.game, state.weights) = (game, weights);
            state.ask(&questions);
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
        let link = encode(&ExplorerState::new(MODELS[0], ["a star"], ["star"]));
        assert_eq!(link, "v=1&c=a%20star&g=star&p=star", "nothing was added");
    }

    #[test]
    fn views_and_limits_that_are_not_there_are_passed_over() {
        let (state, _) = decode("v=1&view=attic&scene=99&d=2&margin=4000&threshold=x&d=1e9")
            .expect("it is a link of ours");
        assert_eq!(
            state,
            ExplorerState::new(MODELS[0], [], []),
            "all is as usual"
        );
    }

    #[test]
    fn a_link_of_photographs_names_them_and_one_without_a_model_means_scenes() {
        let state = ExplorerState::start(World::Photographs, ["dog"]);
        let link = encode(&state);
        assert!(link.starts_with("v=1&m=photos&c=something"), "{link}");
        assert!(!link.contains("ladder"), "the usual is not written: {link}");
        let (old, _) = decode("v=1&c=a%20star").expect("it is a link of ours");
        assert_eq!(old.model, ModelChoice::SCENES, "as it always did");
        let (late, _) = decode("c=a%20dog&v=1&m=photos").expect("it is a link of ours");
        let usual = ExplorerState::new(state.model, ["a dog"], []);
        assert_eq!(late, usual, "wherever the model stands");
    }

    #[test]
    fn own_pictures_are_counted_and_not_named() {
        let state = ExplorerState::new(MODELS[0], ["a"], ["own-1-holiday", "star"]);
        let link = encode(&state);
        assert!(!link.contains("holiday"), "a file stays private: {link}");
        let (restored, n_own) = decode(&link).expect("it is a link of ours");
        assert_eq!(restored.pictures, ["star"], "from {link}");
        assert_eq!(n_own, 1, "from {link}");
        let (named, n_own) =
            decode("v=1&g=own-1-holiday&g=star&p=own-1-holiday").expect("our link");
        assert_eq!(
            (named.pictures, n_own),
            (vec!["star".to_owned()], 0),
            "a link that names one"
        );
        assert_eq!(named.picture.as_deref(), Some("star"), "nor is it chosen");
    }

    #[test]
    fn no_text_of_a_link_is_longer_than_a_caption_may_be() {
        let layers = "%26amp;".repeat(10_000);
        let fields = ["c", "l", "names", "template", "dummy"];
        let fields = fields.map(|name| format!("{name}={layers}"));
        let (state, _) = decode(&format!("v=1&ladder=own&{}", fields.join("&"))).expect("our link");
        let classes = &state.classes;
        let texts = [&classes.names, &classes.template, &classes.dummy];
        let texts = texts.into_iter().map(String::as_str);
        let texts = texts
            .chain(state.captions.texts())
            .chain(state.ladder.texts());
        let lengths: Vec<usize> = texts.map(|text| text.chars().count()).collect();
        assert_eq!(
            lengths, [MAX_CAPTION_CHARACTERS; 5],
            "each text of the link is cut"
        );
    }

    #[test]
    fn a_teachers_questions_are_in_the_link_of_the_class() {
        let lesson = "v=1&view=learn&hide=views.export&lesson=2";
        let asked = "Why?\n\n  Who asks? \n";
        let (state, _) = decode(&encode_class(lesson, asked)).expect("it is a link of ours");
        assert_eq!(state.own_questions(), ["Why?", "Who asks?"], "by line");
        assert_eq!((state.view, state.lesson), (View::Learn, 2), "the lesson");
        assert_eq!(encode_class(lesson, ""), lesson, "nothing was added");
    }

    #[test]
    fn the_link_of_a_class_fits_its_code_in_every_script() {
        /// Bytes in the largest QR code, with the least correction (ISO/IEC 18004, 40-L).
        const IN_CODE: usize = 2953;
        /// More than the page's address takes.
        const ADDRESS: usize = 400;
        let lessons = shipped().into_iter().flat_map(|(_, of)| of.lessons);
        for Lesson { link, .. } in lessons {
            let alone = encode_class(&link, "").len();
            for letter in ["x", "?", "ж", "犬", "🐶"] {
                let asked = encode_class(&link, &letter.repeat(3000));
                let n_bytes = asked.len() - alone - "&ask=".len();
                let is_cut = (MAX_QUESTION_BYTES - 11..=MAX_QUESTION_BYTES).contains(&n_bytes);
                assert!(is_cut, "{letter} takes {n_bytes} bytes of {link}");
                assert!(ADDRESS + asked.len() <= IN_CODE, "{letter}: {asked}");
            }
        }
    }

    #[test]
    fn a_foreign_fragment_is_no_state() {
        for fragment in ["", "#", "#top", "a=b"] {
            assert_eq!(decode(fragment), None, "the fragment {fragment:?}");
        }
    }

    #[test]
    fn a_broken_escape_stands_for_itself() {
        let text = unescape("100%25 %zz %4");
        assert_eq!(text, "100% %zz %4", "broken escapes are kept");
    }
}
