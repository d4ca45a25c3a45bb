//! A model at the model hub, by its address there.

use serde::{Deserialize, Serialize};

/// The hub that every page may ask.
const KNOWN: &str = "https://huggingface.co";

/// A model at the model hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hub {
    /// Origin or address of the hub, such as `https://huggingface.co`.
    pub origin: String,
    /// Owner and name of the model, such as `openai/clip-vit-base-patch32`.
    pub id: String,
    /// The commit; empty in a question for the newest, whose answer names it.
    pub revision: String,
}

impl Hub {
    /// `OpenAI`'s ViT-B/32, at a commit that has it as safetensors and whose files' hashes are compiled in.
    #[must_use]
    pub fn vit_b_32() -> Self {
        Self {
            origin: KNOWN.to_owned(),
            id: "openai/clip-vit-base-patch32".to_owned(),
            revision: "b33cedfd0df4e43b8238760678fcc89e1a0d38b3".to_owned(),
        }
    }

    /// Whether an address may name this hub: it is the known one, or lies where the page itself comes from.
    #[must_use]
    pub fn is_known(&self, page_origin: &str) -> bool {
        let below = self.origin.strip_prefix(page_origin);
        self.origin == KNOWN || below.is_some_and(|path| path.is_empty() || path.starts_with('/'))
    }

    /// The name under which the model is kept: no other has it, at this hub or another.
    #[must_use]
    pub fn key(&self) -> String {
        [&self.origin, &self.id, &self.revision]
            .map(|part| file_name(part))
            .join("+")
    }

    /// Host of the hub, for people.
    #[must_use]
    pub fn host(&self) -> &str {
        let rest = self.origin.split("://").last().unwrap_or_default();
        rest.split('/').next().unwrap_or_default()
    }

    /// Sentences about a query to the hub that failed, for people.
    #[must_use]
    pub fn failure_text(&self, failure: &HubFailure) -> String {
        let what = match failure.fault {
            HubFault::Absent => "has no such model",
            HubFault::Unreachable => "could not be reached",
            HubFault::Other => "did not answer as expected",
        };
        let (host, message) = (self.host(), &failure.message);
        format!("{host} {what}: {message}. Nothing changed.")
    }

    /// The address that [`Self::parse`] reads.
    #[must_use]
    pub fn address(&self) -> String {
        format!("{}/{}@{}", self.origin, self.id, self.revision)
    }

    /// Another model at the same hub, by its owner and name, at the newest commit.
    #[must_use]
    pub fn named(&self, id: &str) -> Option<Self> {
        let (owner, name) = id.trim().split_once('/')?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_plain = |part: &str| !part.is_empty() && part.chars().all(plain);
        (is_plain(owner) && is_plain(name)).then(|| Self {
            origin: self.origin.clone(),
            id: format!("{owner}/{name}"),
            revision: String::new(),
        })
    }

    /// The model that an address such as `https://huggingface.co/openai/clip-vit-base-patch32@COMMIT` names.
    #[must_use]
    pub fn parse(address: &str) -> Option<Self> {
        let (path, revision) = address.rsplit_once('@')?;
        let (owner_path, name) = path.rsplit_once('/')?;
        let (origin, owner) = owner_path.rsplit_once('/')?;
        let is_whole = origin.contains("://") && ![owner, name, revision].contains(&"");
        is_whole.then(|| Self {
            origin: origin.to_owned(),
            id: format!("{owner}/{name}"),
            revision: revision.to_owned(),
        })
    }
}

/// Failure of a query to the hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HubFailure {
    /// Kind of the failure, whatever the message says.
    pub fault: HubFault,
    /// Message of the error, ready to be shown.
    pub message: String,
}

/// Kind of a failed query to the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HubFault {
    /// The hub answered that it does not have the model.
    Absent,
    /// No answer of the hub came.
    Unreachable,
    /// Any other failure, such as an answer that is no model's.
    Other,
}

/// A text with everything but letters, digits, `-` and `.` as `_` and two digits a byte.
fn file_name(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let mut name = String::new();
    for byte in text.bytes() {
        if plain(byte) {
            name.push(char::from(byte));
        } else {
            name += &format!("_{byte:02x}");
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_model_at_a_hub() {
        let address = Hub::vit_b_32().address();
        assert_eq!(Hub::parse(&address), Some(Hub::vit_b_32()), "{address}");
    }

    #[test]
    fn only_the_known_hub_and_the_page_s_own_place_may_be_named() {
        let page = "https://kappascope.example";
        for (origin, expected) in [
            (KNOWN, true),
            (page, true),
            ("https://kappascope.example/hub", true),
            ("https://kappascope.example.org", false),
            ("https://kappascope.example@elsewhere.org", false),
            ("https://huggingface.co.elsewhere.org", false),
            ("http://huggingface.co", false),
        ] {
            let hub = Hub {
                origin: origin.to_owned(),
                ..Hub::vit_b_32()
            };
            assert_eq!(hub.is_known(page), expected, "{origin}");
        }
    }

    #[test]
    fn no_two_models_are_kept_under_one_name() {
        let hub = |origin: &str, id: &str, revision: &str| Hub {
            origin: origin.to_owned(),
            id: id.to_owned(),
            revision: revision.to_owned(),
        };
        let keys = [
            hub(KNOWN, "a/b", "c"),
            hub("https://elsewhere.org", "a/b", "c"),
            hub(KNOWN, "a-b/c", "d"),
            hub(KNOWN, "a/b-c", "d"),
            hub(KNOWN, "a/b", "c-d"),
        ]
        .map(|hub| hub.key());
        for (i, key) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(key), "{key} is another's, too");
            assert!(!key.contains('/'), "{key} is the name of a file");
        }
    }

    #[test]
    fn each_failure_has_words_of_its_own_and_names_the_host() {
        let own = Hub {
            origin: "https://kappascope.example/hub".to_owned(),
            ..Hub::vit_b_32()
        };
        for (hub, fault, message, expected) in [
            (
                Hub::vit_b_32(),
                HubFault::Absent,
                "config.json: the server answered 404",
                "huggingface.co has no such model",
            ),
            (
                Hub::vit_b_32(),
                HubFault::Unreachable,
                "config.json: TypeError: Failed to fetch",
                "huggingface.co could not be reached",
            ),
            (
                own,
                HubFault::Other,
                "config.json: the server answered 503",
                "kappascope.example did not answer as expected",
            ),
        ] {
            let words = hub.failure_text(&failure(fault, message));
            let expected = format!("{expected}: {message}. Nothing changed.");
            assert_eq!(words, expected, "{fault:?}");
        }
    }

    #[test]
    fn a_message_alone_changes_nothing() {
        for message in [
            "config.json: the server answered 404",
            "config.json: TypeError: Failed to fetch",
            "",
        ] {
            let words = Hub::vit_b_32().failure_text(&failure(HubFault::Other, message));
            let expected = "huggingface.co did not answer as expected";
            assert!(words.starts_with(expected), "{words}");
        }
    }

    fn failure(fault: HubFault, message: &str) -> HubFailure {
        HubFailure {
            fault,
            message: message.to_owned(),
        }
    }

    #[test]
    fn an_id_names_another_model_at_its_newest_commit() {
        let hub = Hub::vit_b_32();
        let named = hub.named(" wkcn/TinyCLIP-ViT-8M-16-Text-3M-YFCC15M ");
        let named = named.expect("an owner and a name");
        assert_eq!(named.origin, hub.origin, "at the same hub");
        assert_eq!(
            named.id, "wkcn/TinyCLIP-ViT-8M-16-Text-3M-YFCC15M",
            "without spaces"
        );
        assert_eq!(named.revision, "", "the hub says which commit that is");
        for id in ["clip", "a/b/c", "/b", "a/", "a/b c", "../b@c"] {
            assert_eq!(hub.named(id), None, "{id}");
        }
    }

    #[test]
    fn an_address_without_its_commit_names_nothing() {
        for address in [
            "https://huggingface.co/openai/clip",
            "https://huggingface.co/clip@abc",
            "openai/clip@abc",
            "https://hub/a/b@",
        ] {
            assert_eq!(Hub::parse(address), None, "{address}");
        }
    }
}
