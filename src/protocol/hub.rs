//! A model at the model hub, by its address there.

use serde::{Deserialize, Serialize};

/// A model at the model hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hub {
    /// Where the hub is, such as `https://huggingface.co`.
    pub origin: String,
    /// Owner and name.
    pub id: String,
    /// The commit; empty in a question for the newest, whose answer names it.
    pub revision: String,
}

impl Hub {
    /// `OpenAI`'s ViT-B/32, at the commit that has it as safetensors.
    #[must_use]
    pub fn vit_b_32() -> Self {
        Self {
            origin: "https://huggingface.co".to_owned(),
            id: "openai/clip-vit-base-patch32".to_owned(),
            revision: "d15b5f29721ca72dac15f8526b284be910de18be".to_owned(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_model_at_a_hub() {
        let address = Hub::vit_b_32().address();
        assert_eq!(Hub::parse(&address), Some(Hub::vit_b_32()), "{address}");
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
