//! SHA-256 of a model's files at the model hub: compiled in for the pinned models, and for every other file as it was
//! when it first came.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Result, refuse};

/// A model at the commit that is taken where none is asked for, with the files that are known of it.
#[derive(Debug)]
pub struct PinnedModel {
    /// Owner and name of the model at the hub.
    pub id: &'static str,
    /// Commit whose files have these hashes.
    pub revision: &'static str,
    /// Files and their SHA-256.
    files: &'static [(&'static str, &'static str)],
}

/// `OpenAI`'s ViT-B/32 as safetensors, which the page offers.
pub const PAGE_CLIP: PinnedModel = PinnedModel {
    id: "openai/clip-vit-base-patch32",
    revision: "b33cedfd0df4e43b8238760678fcc89e1a0d38b3",
    files: &[
        ("config.json", CLIP_CONFIG),
        ("preprocessor_config.json", CLIP_PREPROCESSOR),
        ("tokenizer.json", CLIP_TOKENIZER),
        (
            "model.safetensors",
            "99d28a652e6ec46629ab7047a0ac82c69b1fe11e0ce672c43af65d3a9a3fc05d",
        ),
    ],
};

const CLIP_CONFIG: &str = "b575ef3c36f2a057fa19e221650105052d61cc9c1a972ec15019c6261ec98770";
const CLIP_PREPROCESSOR: &str = "910e70b3956ac9879ebc90b22fb3bc8a75b6a0677814500101a4c072bd7857bd";
const CLIP_TOKENIZER: &str = "b556ac8c99757ffb677208af34bc8c6721572114111a6e0aaf5fa69ff0b8d842";

/// All pinned models; the hashes are those that others published of the same commits.
const PINNED: [PinnedModel; 3] = [
    PAGE_CLIP,
    PinnedModel {
        id: "openai/clip-vit-base-patch32",
        revision: "3d74acf9a28c67741b2f4f2ea7635f0aaf6f0268",
        files: &[
            ("config.json", CLIP_CONFIG),
            ("preprocessor_config.json", CLIP_PREPROCESSOR),
            ("tokenizer.json", CLIP_TOKENIZER),
            (
                "pytorch_model.bin",
                "a63082132ba4f97a80bea76823f544493bffa8082296d62d71581a4feff1576f",
            ),
        ],
    },
    PinnedModel {
        id: "google/siglip-base-patch16-224",
        revision: "7fd15f0689c79d79e38b1c2e2e2370a7bf2761ed",
        files: &[
            (
                "config.json",
                "cd85b3d28829722820bcb89a2cfbb4160e55fd359249a3044da724166a8d9688",
            ),
            (
                "preprocessor_config.json",
                "d11ccb80f15d358a11bdb070e92e2d889005874b7db15823d5f10d9b2533b14a",
            ),
            (
                "tokenizer.json",
                "c6e405cb7c670d56636a9402c81023a55bc6c3c53d89cf02b92f5c5005bfe920",
            ),
            (
                "spiece.model",
                "1e5036bed065526c3c212dfbe288752391797c4bb1a284aa18c9a0b23fcaf8ec",
            ),
            (
                "model.safetensors",
                "2c63cb7d1f2e95ba501893cbb8faeb4ea9a3af295498d35097126228659c2af8",
            ),
        ],
    },
];

/// The hash that is compiled in of a model's file.
#[must_use]
pub fn compiled_in(id: &str, revision: &str, file: &str) -> Option<&'static str> {
    let is_model = |model: &&PinnedModel| model.id == id && model.revision == revision;
    let model = PINNED.iter().find(is_model)?;
    let known = model.files.iter().find(|(name, _)| *name == file);
    known.map(|(_, sha256)| *sha256)
}

/// Refuses a file of a pinned model that is not the one whose hash is compiled in; any other file passes.
///
/// # Errors
///
/// Another SHA-256.
pub fn check_compiled_in(id: &str, revision: &str, file: &str, sha256: &str) -> Result<()> {
    match compiled_in(id, revision, file) {
        Some(known) if known != sha256 => {
            refuse!("{file}: sha256 is {sha256}, this program expects {known}")
        }
        _ => Ok(()),
    }
}

/// Refuses the absence of a pinned model's file whose hash is compiled in: defaults would take its place.
///
/// # Errors
///
/// A file whose hash is compiled in.
pub fn check_may_lack(id: &str, revision: &str, file: &str) -> Result<()> {
    match compiled_in(id, revision, file) {
        Some(known) => refuse!("{file}: is missing, this program expects it with sha256 {known}"),
        None => Ok(()),
    }
}

/// Known hashes of the files of one model, kept beside them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HubHashes {
    /// Owner and name of the model at the hub.
    pub id: String,
    /// Commit that the files were taken from.
    pub revision: String,
    /// SHA-256 of each file or part of one as it first came; empty where the hub said that there is no such file.
    first: BTreeMap<String, String>,
}

impl HubHashes {
    /// No hashes yet but those that are compiled in.
    #[must_use]
    pub fn new(id: &str, revision: &str) -> Self {
        Self {
            id: id.to_owned(),
            revision: revision.to_owned(),
            first: BTreeMap::new(),
        }
    }

    /// Compares a file's hash with the compiled-in one, else with the one noted when it first came; notes it if it is
    /// new.
    ///
    /// # Errors
    ///
    /// Another SHA-256 than is known; nothing is noted then.
    pub fn check(&mut self, file: &str, sha256: &str) -> Result<()> {
        check_compiled_in(&self.id, &self.revision, file, sha256)?;
        match self.first.get(file).filter(|first| !first.is_empty()) {
            Some(first) if first != sha256 => {
                refuse!("{file}: sha256 is {sha256}, it was {first} when it first came")
            }
            _ => self.first.insert(file.to_owned(), sha256.to_owned()),
        };
        Ok(())
    }

    /// Notes that the hub has no such file.
    ///
    /// # Errors
    ///
    /// A file of a pinned model, as by [`check_may_lack`]; nothing is noted then.
    pub fn note_absent(&mut self, file: &str) -> Result<()> {
        check_may_lack(&self.id, &self.revision, file)?;
        self.first.entry(file.to_owned()).or_default();
        Ok(())
    }

    /// Whether the hub said that there is no such file, which it cannot have said of a pinned model's.
    #[must_use]
    pub fn is_absent(&self, file: &str) -> bool {
        let is_noted = self.first.get(file).is_some_and(String::is_empty);
        is_noted && check_may_lack(&self.id, &self.revision, file).is_ok()
    }

    /// Forgets the hash noted of a file.
    pub fn forget(&mut self, file: &str) {
        self.first.remove(file);
    }

    /// A line for people for each file: its hash, and why it is trusted.
    #[must_use]
    pub fn lines(&self) -> String {
        let mut lines = format!("{} at {}\n", self.id, self.revision);
        for (file, sha256) in self.first.iter().filter(|(_, sha256)| !sha256.is_empty()) {
            let why = match compiled_in(&self.id, &self.revision, file) {
                Some(_) => "compiled in",
                None => "trusted since it first came",
            };
            lines += &format!("{sha256} {file}: {why}\n");
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: &str = "0000000000000000000000000000000000000000000000000000000000000000";

    #[test]
    fn a_small_file_of_a_pinned_model_must_be_the_one_that_is_compiled_in() {
        for model in &PINNED {
            for (file, sha256) in model.files {
                let is_hash =
                    sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
                assert!(is_hash, "{file}: {sha256}");
                let mut hashes = HubHashes::new(model.id, model.revision);
                assert_eq!(hashes.check(file, sha256), Ok(()), "{file}");
                let error = hashes.check(file, OTHER).expect_err("another file");
                assert!(
                    error.to_string().contains("this program expects"),
                    "{error}"
                );
            }
            assert_eq!(model.revision.len(), 40, "a whole commit");
        }
    }

    #[test]
    fn the_model_that_the_page_offers_is_a_pinned_one() {
        let offered = crate::protocol::Hub::vit_b_32();
        assert_eq!(
            (&*offered.id, &*offered.revision),
            (PAGE_CLIP.id, PAGE_CLIP.revision),
            "its files are known"
        );
    }

    #[test]
    fn every_other_file_must_stay_what_it_was_when_it_first_came() {
        let mut hashes = HubHashes::new("someone/clip", "abc");
        assert_eq!(hashes.check("text", "1"), Ok(()), "the first time");
        assert_eq!(hashes.check("text", "1"), Ok(()), "the same again");
        let error = hashes.check("text", "2").expect_err("another");
        assert!(error.to_string().contains("it was 1"), "{error}");
        let json = serde_json::to_vec(&hashes).expect("JSON");
        let mut kept: HubHashes = serde_json::from_slice(&json).expect("the same");
        assert!(kept.check("text", "2").is_err(), "also at the next visit");
        kept.forget("text");
        assert_eq!(kept.check("text", "2"), Ok(()), "it was forgotten");
    }

    #[test]
    fn a_file_that_was_not_there_may_come_later() {
        let mut hashes = HubHashes::new("someone/clip", "abc");
        assert_eq!(hashes.note_absent("config.json"), Ok(()), "it may lack it");
        assert!(hashes.is_absent("config.json"), "the hub said so");
        assert_eq!(hashes.check("config.json", "1"), Ok(()), "a passing 404");
        assert_eq!(hashes.note_absent("config.json"), Ok(()), "once more");
        assert!(!hashes.is_absent("config.json"), "it is known to be there");
    }

    #[test]
    fn a_file_of_a_pinned_model_is_never_absent() {
        for model in &PINNED {
            for (file, sha256) in model.files {
                let mut hashes = HubHashes::new(model.id, model.revision);
                let error = hashes.note_absent(file).expect_err("defaults would apply");
                assert!(error.to_string().contains(sha256), "{error}");
                hashes.first.insert((*file).to_owned(), String::new());
                assert!(!hashes.is_absent(file), "{file}: noted by an older page");
            }
            let mut hashes = HubHashes::new(model.id, model.revision);
            assert_eq!(hashes.note_absent("vocab.json"), Ok(()), "of {}", model.id);
        }
    }

    #[test]
    fn people_are_told_why_each_file_is_trusted() {
        let mut hashes = HubHashes::new(PAGE_CLIP.id, PAGE_CLIP.revision);
        hashes.check("config.json", CLIP_CONFIG).expect("it");
        hashes.check("text-f16", "12").expect("new");
        hashes.note_absent("merges.txt").expect("it may lack it");
        let expected = format!(
            "{} at {}\n{CLIP_CONFIG} config.json: compiled in\n12 text-f16: trusted since it first came\n",
            PAGE_CLIP.id, PAGE_CLIP.revision
        );
        assert_eq!(hashes.lines(), expected, "no line for what is not there");
    }
}
