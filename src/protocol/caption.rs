//! The greatest length of a caption, wherever one is taken from people or files.

/// Characters of a caption at most, wherever one is taken from people; no model reads as many.
pub const MAX_CAPTION_CHARACTERS: usize = 2000;

/// The first [`MAX_CAPTION_CHARACTERS`] of a text.
#[must_use]
pub fn shortened(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CAPTION_CHARACTERS);
    end.map_or(text, |(end, _)| &text[..end])
}

/// Message about a caption that is too long; `None` for any other.
#[must_use]
pub fn too_long(caption: &str) -> Option<String> {
    let is_long = shortened(caption).len() < caption.len();
    is_long.then(|| {
        let n = caption.chars().count();
        format!("a caption of {n} characters, expected at most {MAX_CAPTION_CHARACTERS}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        let full = "ä".repeat(MAX_CAPTION_CHARACTERS);
        assert_eq!(shortened(&full), full, "as many as fit");
        assert_eq!(too_long(&full), None, "as many as fit");
        let long = format!("{full}b");
        assert_eq!(shortened(&long), full, "the last is cut off");
        let expected = "a caption of 2001 characters, expected at most 2000";
        assert_eq!(too_long(&long).as_deref(), Some(expected), "one too many");
    }
}
