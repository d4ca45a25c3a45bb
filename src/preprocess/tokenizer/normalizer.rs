//! Steps that rewrite a caption before it is cut into words.

use serde_json::Value;

use super::aligned::{AlignedChar, place_of, prepend, text_of};
use super::character_map::CharacterMap;
use super::pattern::Pattern;
use super::rules::{check_length, parts, refused, short_text};
use crate::error::Result;
use crate::unicode::{Category, NormalForm};

/// Steps one after the other.
#[derive(Debug, Clone)]
pub(super) struct Normalizer {
    steps: Vec<NormalizerStep>,
}

#[derive(Debug, Clone)]
enum NormalizerStep {
    Form(NormalForm),
    Lowercase,
    Strip { left: bool, right: bool },
    StripAccents,
    Prepend(String),
    Replace(Pattern, String),
    Map(CharacterMap),
    Bert(BertRules),
}

/// What BERT's own program does to a text (`BasicTokenizer`).
#[derive(Debug, Clone, Copy)]
struct BertRules {
    cleans: bool,
    spaces_chinese: bool,
    strips_accents: bool,
    lowers: bool,
}

impl Normalizer {
    /// Reads `normalizer` of a `tokenizer.json`.
    ///
    /// # Errors
    ///
    /// [`Error::Text`](crate::error::Error::Text) with the step that is not known.
    pub(super) fn from_json(normalizer: &Value) -> Result<Self> {
        let steps = parts(normalizer, "normalizer", "normalizers")?;
        let steps = steps.into_iter().map(NormalizerStep::from_json);
        Ok(Self {
            steps: steps.collect::<Result<_>>()?,
        })
    }

    /// # Errors
    ///
    /// [`Error::Text`](crate::error::Error::Text) if the text becomes too long.
    pub(super) fn apply(&self, mut text: Vec<AlignedChar>) -> Result<Vec<AlignedChar>> {
        for step in &self.steps {
            text = step.apply(text)?;
            check_length(text.len())?;
        }
        Ok(text)
    }
}

impl NormalizerStep {
    fn from_json(step: &Value) -> Result<Self> {
        let flag = |field: &str| step[field].as_bool().unwrap_or(true);
        Ok(match step["type"].as_str().unwrap_or_default() {
            "NFC" => Self::Form(NormalForm::Nfc),
            "NFD" => Self::Form(NormalForm::Nfd),
            "NFKC" => Self::Form(NormalForm::Nfkc),
            "NFKD" => Self::Form(NormalForm::Nfkd),
            "Lowercase" => Self::Lowercase,
            "Strip" => Self::Strip {
                left: flag("strip_left"),
                right: flag("strip_right"),
            },
            "StripAccents" => Self::StripAccents,
            "Prepend" => Self::Prepend(short_text(step, "prepend")?.unwrap_or_default().to_owned()),
            "Replace" => {
                let content = short_text(step, "content")?.unwrap_or_default();
                Self::Replace(Pattern::from_json(&step["pattern"])?, content.to_owned())
            }
            "Precompiled" => {
                let map = step["precompiled_charsmap"].as_str();
                let map = map.ok_or_else(|| {
                    refused("normalizer has no precompiled_charsmap, expected base64")
                })?;
                Self::Map(CharacterMap::from_base64(map)?)
            }
            "BertNormalizer" => Self::Bert(BertRules {
                cleans: flag("clean_text"),
                spaces_chinese: flag("handle_chinese_chars"),
                strips_accents: step["strip_accents"]
                    .as_bool()
                    .unwrap_or_else(|| flag("lowercase")),
                lowers: flag("lowercase"),
            }),
            _ => {
                return Err(refused(&format!(
                    "normalizer has the step {}, expected NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, \
                     Prepend, Replace, Precompiled or BertNormalizer",
                    step["type"]
                )));
            }
        })
    }

    fn apply(&self, mut text: Vec<AlignedChar>) -> Result<Vec<AlignedChar>> {
        match self {
            Self::Form(form) => text = normalize(&text, *form),
            Self::Lowercase => text = lowercase(&text),
            Self::Strip { left, right } => strip(&mut text, *left, *right),
            Self::StripAccents => text.retain(|at| !Category::Mark.has(at.character)),
            Self::Prepend(content) => prepend(content, &mut text),
            Self::Replace(pattern, content) => return replace(&text, pattern, content),
            Self::Map(map) => return map.apply(&text),
            Self::Bert(rules) => text = rules.apply(text),
        }
        Ok(text)
    }
}

fn lowercase(text: &[AlignedChar]) -> Vec<AlignedChar> {
    let lower = text
        .iter()
        .flat_map(|at| at.character.to_lowercase().map(|lower| at.with(lower)));
    lower.collect()
}

fn strip(text: &mut Vec<AlignedChar>, left: bool, right: bool) {
    let is_space = |at: &AlignedChar| at.character.is_whitespace();
    while right && text.last().is_some_and(is_space) {
        text.pop();
    }
    let n_spaces = text.iter().take_while(|at| left && is_space(at)).count();
    text.drain(..n_spaces);
}

fn replace(text: &[AlignedChar], pattern: &Pattern, content: &str) -> Result<Vec<AlignedChar>> {
    let (mut replaced, n_written) = (Vec::with_capacity(text.len()), content.chars().count());
    for (span, fits) in pattern.spans(text)? {
        check_length(replaced.len() + n_written)?;
        if !fits {
            replaced.extend_from_slice(&text[span]);
            continue;
        }
        let place = place_of(&text[span]);
        replaced.extend(content.chars().map(|character| AlignedChar {
            character,
            from: place.start,
            to: place.end,
        }));
    }
    Ok(replaced)
}

/// The normal form of a text, whose characters stand for what they were made of.
fn normalize(text: &[AlignedChar], form: NormalForm) -> Vec<AlignedChar> {
    let mut formed = Vec::with_capacity(text.len());
    for cluster in text.chunk_by(|_, next| form.may_join(next.character)) {
        let characters = form.of(&text_of(cluster));
        if characters.chars().eq(cluster.iter().map(|at| at.character)) {
            formed.extend_from_slice(cluster);
            continue;
        }
        let place = place_of(cluster);
        formed.extend(characters.chars().map(|character| AlignedChar {
            character,
            from: place.start,
            to: place.end,
        }));
    }
    formed
}

impl BertRules {
    fn apply(self, mut text: Vec<AlignedChar>) -> Vec<AlignedChar> {
        if self.cleans {
            text.retain(|at| !is_removed(at.character));
            for at in text.iter_mut().filter(|at| at.character.is_whitespace()) {
                at.character = ' ';
            }
        }
        if self.spaces_chinese {
            let spaced = |at: AlignedChar| match is_chinese(at.character) {
                true => vec![at.with(' '), at, at.with(' ')],
                false => vec![at],
            };
            text = text.into_iter().flat_map(spaced).collect();
        }
        if self.strips_accents {
            text = normalize(&text, NormalForm::Nfd);
            text.retain(|at| !Category::NonspacingMark.has(at.character));
        }
        if self.lowers {
            text = lowercase(&text);
        }
        text
    }
}

/// Control characters, and the one that stands for broken text.
fn is_removed(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        _ => [Category::Control, Category::Format, Category::PrivateUse]
            .into_iter()
            .any(|category| category.has(character)),
    }
}

/// The blocks of ideographs that BERT's program names.
fn is_chinese(character: char) -> bool {
    matches!(character, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}' | '\u{2b820}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}
