//! The view of "none of these": pictures are named with classes, or with none of them by three rules.

use crate::explorer::number::percent;
use crate::explorer::pair_text::nats_text;
use crate::explorer::readings::best::free_offset;
use crate::explorer::readings::cache::ReadingCache;
use crate::explorer::readings::pair_view::posterior;
use crate::explorer::text::cut_off_note;
use crate::numerics::Family;
use crate::protocol::shortened;

/// Classes at most: each is a bar.
pub const MAX_CLASSES: usize = 12;
/// Stands for the name in a template.
const PLACE: &str = "{}";

/// Class names as the visitor writes them, and the rules by which a picture is none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// The names, with commas between them.
    pub names: String,
    /// The caption of a class, with `{}` for its name.
    pub template: String,
    /// The caption that stands for none of the classes; empty for none.
    pub dummy: String,
    /// Least cosine, in thousandths: a picture whose best cosine lies below is none of the classes.
    pub threshold: u16,
    /// Least margin, in thousandths: a picture whose best two cosines lie closer is none of the classes.
    pub margin: u16,
}

impl Default for Classes {
    fn default() -> Self {
        Self {
            names: "red, yellow, green".into(),
            template: "something {}".into(),
            dummy: "a picture".into(),
            threshold: 200,
            margin: 50,
        }
    }
}

/// Answer for a picture: a class, none of them, or a tie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassAnswer {
    /// The class at this index, from 0, in the order of the names.
    Class(usize),
    /// None of the classes: the dummy is clearly likelier than each.
    NoneOfThese,
    /// The two likeliest are too near each other to part.
    Tie,
}

impl ClassAnswer {
    /// A class, or none of them.
    pub fn of(class: Option<usize>) -> Self {
        class.map_or(Self::NoneOfThese, Self::Class)
    }
}

/// Numbers and answers for one picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Whether the model can read the caption of each class, and last of the dummy if there is one.
    pub is_read: Vec<bool>,
    /// Nats of each class.
    pub nats: Vec<f64>,
    /// Nats by which training leaves the place of zero free.
    pub free_offset: f64,
    /// Nats of the caption that stands for none of them.
    pub dummy_nats: Option<f64>,
    /// Posterior of each class, and last of the dummy if there is one; NaN where the caption cannot be read.
    pub shares: Vec<f64>,
    /// The encoder's cosine of each class.
    pub cosines: Vec<f64>,
    /// The class with the most nats, of those that can be read.
    pub likeliest: usize,
    /// The class with the greatest cosine, of those that can be read.
    pub nearest: usize,
    /// The greatest cosine minus the next; `None` with a single class.
    pub cosine_margin: Option<f64>,
    /// The answer by likelihood.
    pub by_likelihood: ClassAnswer,
    /// The answer by cosine with a threshold.
    pub by_threshold: Option<usize>,
    /// The answer by cosine with a margin.
    pub by_margin: Option<usize>,
}

impl Classes {
    /// The names, each once, as many as fit.
    pub fn list(&self) -> Vec<String> {
        let mut list: Vec<String> = Vec::new();
        for name in self.names.split(',').map(str::trim) {
            if !name.is_empty()
                && !list.iter().any(|known| known == name)
                && list.len() < MAX_CLASSES
            {
                list.push(name.to_owned());
            }
        }
        list
    }

    /// The caption of a class.
    pub fn caption(&self, name: &str) -> String {
        let caption = if self.template.contains(PLACE) {
            self.template.replace(PLACE, name)
        } else {
            format!("{} {name}", self.template).trim().to_owned()
        };
        shortened(&caption).to_owned()
    }

    /// Captions of all classes, and the dummy.
    pub fn captions(&self) -> Vec<String> {
        let classes = self.list().into_iter().map(|name| self.caption(&name));
        classes.chain(self.dummy()).collect()
    }

    /// The caption that stands for none of the classes.
    pub fn dummy(&self) -> Option<String> {
        (!self.dummy.trim().is_empty()).then(|| self.dummy.clone())
    }

    /// Note about the texts: whether one lost its end, and which classes the model cannot read; empty if there is
    /// nothing to say.
    pub fn note(&self, cache: &ReadingCache, family: Family) -> String {
        let fields = [self.names.clone(), self.template.clone()];
        let texts = self.captions().into_iter().chain(fields);
        let mut notes = texts.map(|text| cut_off_note(&text));
        let cut_off = notes.find(|note| !note.is_empty()).unwrap_or_default();
        match self.unread(cache, family) {
            unread if unread.is_empty() => cut_off.to_owned(),
            unread => {
                let unread = unread.join(", ");
                format!("{cut_off}Not read by the model, and so no answer: {unread}.")
            }
        }
    }

    /// The classes whose captions the model cannot read.
    fn unread(&self, cache: &ReadingCache, family: Family) -> Vec<String> {
        let is_unread = |name: &String| {
            let view = cache.caption(&self.caption(name), family);
            view.is_some_and(|view| view.is_unread())
        };
        self.list().into_iter().filter(is_unread).collect()
    }

    /// Numbers and answers for a picture; `None` without classes that can be read or while numbers are missing.
    pub fn judge(&self, cache: &ReadingCache, image: &str, family: Family) -> Option<Judgement> {
        let pair = |caption: &String| cache.pair(caption, image, family);
        let is_read = |caption: &String| Some(!cache.caption(caption, family)?.is_unread());
        let captions = self.captions();
        let pairs: Vec<_> = captions.iter().map(pair).collect::<Option<_>>()?;
        let is_read: Vec<bool> = captions.iter().map(is_read).collect::<Option<_>>()?;
        let mut nats: Vec<f64> = pairs.iter().map(|pair| pair.nats).collect();
        let mut cosines: Vec<f64> = pairs.iter().map(|pair| pair.cosine).collect();
        let scale = *cache.card()?.logit_scale.get(family);
        let shares = shares(&nats, &is_read, scale);
        let free_offset = free_offset(scale);
        let by_likelihood = likeliest(&nats, &is_read, self.list().len(), free_offset);
        let dummy_nats = self.dummy().and_then(|_| nats.pop());
        cosines.truncate(nats.len());
        let (likeliest, nearest) = (greatest(&nats, &is_read)?, greatest(&cosines, &is_read)?);
        let cosine_margin = margin(&cosines, &is_read);
        let is_near = cosines[nearest] >= thousandths(self.threshold);
        let stands_out = cosine_margin.is_none_or(|margin| margin >= thousandths(self.margin));
        Some(Judgement {
            by_likelihood,
            by_threshold: is_near.then_some(nearest),
            by_margin: stands_out.then_some(nearest),
            is_read,
            shares,
            nats,
            free_offset,
            dummy_nats,
            cosines,
            likeliest,
            nearest,
            cosine_margin,
        })
    }
}

/// Posterior over the candidates that can be read; NaN for the others.
fn shares(nats: &[f64], is_read: &[bool], logit_scale: f64) -> Vec<f64> {
    let read = nats.iter().zip(is_read).filter(|(_, is_read)| **is_read);
    let mut shares = posterior(read.map(|(nats, _)| *nats), logit_scale).into_iter();
    let share = |is_read: &bool| is_read.then(|| shares.next()).flatten().unwrap_or(f64::NAN);
    is_read.iter().map(share).collect()
}

/// The likeliest of the candidates that can be read, the classes first and the dummy behind them.
fn likeliest(nats: &[f64], is_read: &[bool], n_classes: usize, offset: f64) -> ClassAnswer {
    match greatest(nats, is_read) {
        _ if margin(nats, is_read).is_some_and(|margin| margin <= offset) => ClassAnswer::Tie,
        Some(class) if class < n_classes => ClassAnswer::Class(class),
        _ => ClassAnswer::NoneOfThese,
    }
}

/// A number out of its thousandths.
pub fn thousandths(n: u16) -> f64 {
    f64::from(n) / 1000.0
}

/// An answer in words.
pub fn answer_name(answer: ClassAnswer, names: &[String]) -> String {
    match answer {
        ClassAnswer::Class(i) => names.get(i).cloned().unwrap_or_default(),
        ClassAnswer::NoneOfThese => "none".into(),
        ClassAnswer::Tie => "a tie".into(),
    }
}

/// The three answers for a picture, in one sentence.
pub fn judgement_text(judgement: &Judgement, names: &[String]) -> String {
    let quoted = |answer: ClassAnswer| match answer {
        ClassAnswer::Class(_) => format!("“{}”", answer_name(answer, names)),
        ClassAnswer::NoneOfThese => "none of these".to_owned(),
        ClassAnswer::Tie => "a tie".to_owned(),
    };
    let name = |answer: Option<usize>| quoted(ClassAnswer::of(answer));
    let share = match judgement.by_likelihood {
        ClassAnswer::Class(i) => judgement.shares.get(i),
        ClassAnswer::NoneOfThese => judgement.shares.last(),
        ClassAnswer::Tie => None,
    };
    let by_likelihood = format!(
        "By likelihood {} ({}{} nats for the best class)",
        quoted(judgement.by_likelihood),
        share.map_or_else(String::new, |share| percent(*share) + ", "),
        nats_text(judgement.nats[judgement.likeliest], judgement.free_offset)
    );
    format!(
        "{by_likelihood}; by cosine: {} with the threshold, {} with the margin.",
        name(judgement.by_threshold),
        name(judgement.by_margin)
    )
}

/// Whether the three answers differ.
pub fn is_disputed(judgement: &Judgement) -> bool {
    judgement.by_likelihood != ClassAnswer::of(judgement.by_threshold)
        || judgement.by_threshold != judgement.by_margin
}

/// Index of the greatest value, of those that can be read.
fn greatest(values: &[f64], is_read: &[bool]) -> Option<usize> {
    let read = (0..values.len()).filter(|&i| is_read[i]);
    read.max_by(|&a, &b| values[a].total_cmp(&values[b]))
}

/// The greatest value minus the next, of those that can be read.
fn margin(values: &[f64], is_read: &[bool]) -> Option<f64> {
    let best = greatest(values, is_read)?;
    let others = (0..values.len()).filter(|&i| i != best && is_read[i]);
    let next = others.map(|i| values[i]).max_by(f64::total_cmp)?;
    Some(values[best] - next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::readings::cache::tests::{answer_of, cache_with};
    use crate::protocol::MAX_CAPTION_CHARACTERS;

    fn classes(names: &str) -> Classes {
        Classes {
            names: names.into(),
            ..Classes::default()
        }
    }

    /// Three captions against "x", which is red, and "y", which is neither.
    fn cache() -> ReadingCache {
        let captions = [
            ("something red", 20.0),
            ("something green", 20.0),
            ("a picture", 1.0),
        ];
        let cosines = [0.6, -0.2, 0.1, 0.05, 0.4, 0.4];
        cache_with(&answer_of(&captions, &["x", "y"], &cosines))
    }

    #[test]
    fn names_are_split_at_commas_and_counted_once() {
        let many = (0..40).map(|i| format!("{i}, ")).collect::<String>();
        let names = classes(" red,, green ,red ").list();
        assert_eq!(names, ["red", "green"], "spaces and doubles");
        assert_eq!(classes(&many).list().len(), MAX_CLASSES, "as many as fit");
    }

    #[test]
    fn a_template_without_a_place_is_put_before_the_name() {
        let mut classes = classes("dog");
        classes.template = "a photo of a".into();
        assert_eq!(classes.caption("dog"), "a photo of a dog", "no place");
        classes.template = "the {}, only the {}".into();
        let caption = classes.caption("dog");
        assert_eq!(caption, "the dog, only the dog", "two places");
        classes.template = String::new();
        assert_eq!(classes.caption("dog"), "dog", "no template");
    }

    #[test]
    fn a_picture_that_fits_no_class_goes_to_the_dummy() {
        let (classes, cache) = (classes("red, green"), cache());
        let fits = classes
            .judge(&cache, "x", Family::VonMisesFisher)
            .expect("all is known");
        let alien = classes
            .judge(&cache, "y", Family::VonMisesFisher)
            .expect("all is known");
        assert_eq!(
            fits.by_likelihood,
            ClassAnswer::Class(0),
            "x is red: {:?}",
            fits.nats
        );
        assert_eq!(
            alien.by_likelihood,
            ClassAnswer::NoneOfThese,
            "y is neither: {alien:?}"
        );
        assert_eq!(alien.by_threshold, None, "its best cosine is 0.05");
    }

    #[test]
    fn the_margin_and_the_threshold_are_kept_apart() {
        let (mut classes, cache) = (classes("red, green"), cache());
        (classes.threshold, classes.margin) = (0, 260);
        let judgement = classes
            .judge(&cache, "y", Family::VonMisesFisher)
            .expect("all is known");
        let margin = judgement.cosine_margin.expect("there are two classes");
        assert!((margin - 0.25).abs() < 1e-12, "0.05 − (−0.2) is {margin}");
        assert_eq!(judgement.by_threshold, Some(1), "0.05 ≥ 0");
        assert_eq!(judgement.by_margin, None, "0.25 < 0.26");
        assert!(is_disputed(&judgement), "the answers differ");
    }

    #[test]
    fn without_a_dummy_likelihood_always_names_a_class() {
        let (mut classes, cache) = (classes("red, green"), cache());
        classes.dummy = " ".into();
        let judgement = classes
            .judge(&cache, "y", Family::VonMisesFisher)
            .expect("all is known");
        assert_eq!(
            judgement.by_likelihood,
            ClassAnswer::Class(1),
            "the less unlikely one"
        );
        let sum: f64 = judgement.shares.iter().sum();
        assert!((sum - 1.0).abs() < 1e-12, "the shares sum to {sum}");
        assert_eq!(judgement.shares.len(), 2, "one for each class");
    }

    #[test]
    fn a_class_that_the_model_cannot_read_names_no_picture() {
        let captions = [
            ("something red", 20.0),
            ("something bird", 20.0),
            ("a picture", 1.0),
        ];
        let mut answer = answer_of(&captions, &["x"], &[-0.2, 0.6, 0.4]);
        answer.captions[1].unknown_words = vec!["bird".into()];
        let cache = cache_with(&answer);
        let (family, both) = (Family::VonMisesFisher, classes("red, bird"));
        let judgement = both.judge(&cache, "x", family).expect("red is read");
        assert_eq!(
            judgement.by_likelihood,
            ClassAnswer::NoneOfThese,
            "{judgement:?}"
        );
        assert_eq!(
            (judgement.nearest, judgement.cosine_margin),
            (0, None),
            "red alone"
        );
        assert!(judgement.shares[1].is_nan(), "no share: {judgement:?}");
        let note = "Not read by the model, and so no answer: bird.";
        assert_eq!(both.note(&cache, family), note, "it is named");
        let judgement = classes("bird").judge(&cache, "x", family);
        assert_eq!(judgement, None, "no class is left");
    }

    #[test]
    fn a_text_of_the_classes_that_lost_its_end_has_a_note() {
        let full = "a".repeat(MAX_CAPTION_CHARACTERS);
        let (half, cache) = ("b".repeat(MAX_CAPTION_CHARACTERS / 2), cache());
        let of = |names: &str, template: &str, dummy: &str| Classes {
            names: names.to_owned(),
            template: template.to_owned(),
            dummy: dummy.to_owned(),
            ..Classes::default()
        };
        for (classes, is_cut) in [
            (of("red", "something {}", "a picture"), false),
            (of("red", "something {}", &full[1..]), false),
            (of("red", "something {}", &full), true),
            (of("red", &full, ""), true),
            (of(&full, "{}", ""), true),
            (of("", &full, ""), true),
            // Each fits, and the caption made of both does not.
            (of(&half, &format!("{half} {{}}"), ""), true),
        ] {
            let note = classes.note(&cache, Family::VonMisesFisher);
            assert_eq!(
                note.contains("2,000 characters"),
                is_cut,
                "{classes:?}: {note}"
            );
        }
    }

    #[test]
    fn classes_that_are_too_near_each_other_are_a_tie() {
        let captions = [
            ("something red", 20.0),
            ("something green", 20.0),
            ("a picture", 1.0),
        ];
        let cache = cache_with(&answer_of(&captions, &["x"], &[0.6, 0.59, 0.1]));
        let judgement = classes("red, green").judge(&cache, "x", Family::VonMisesFisher);
        let answer = judgement.map(|judgement| judgement.by_likelihood);
        assert_eq!(answer, Some(ClassAnswer::Tie), "0.2 nats apart");
    }

    #[test]
    fn nothing_is_judged_while_numbers_are_missing() {
        let cache = cache();
        for (names, reason) in [("red, blue", "blue is unknown"), (" , ", "no class")] {
            let judgement = classes(names).judge(&cache, "x", Family::VonMisesFisher);
            assert_eq!(judgement, None, "{reason}");
        }
    }

    #[test]
    fn the_sentence_names_the_three_answers() {
        let (classes, cache) = (classes("red, green"), cache());
        let judgement = classes
            .judge(&cache, "y", Family::VonMisesFisher)
            .expect("all is known");
        let sentence = judgement_text(&judgement, &classes.list());
        let start = "By likelihood none of these (";
        let end = "by cosine: none of these with the threshold, “green” with the margin.";
        let is_whole = sentence.starts_with(start) && sentence.ends_with(end);
        assert!(is_whole, "the sentence was: {sentence}");
    }
}
