//! A request for readings of captions beside the matrix.

/// Captions to ask about, each against each of the pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadingRequest {
    /// The captions, each once.
    pub captions: Vec<String>,
    /// The pictures by name.
    pub images: Vec<String>,
    /// Whether the captions are compared with each other, too.
    pub relates: bool,
}

impl ReadingRequest {
    /// A request for these captions; those without words and repeated ones are left out.
    pub fn of(captions: impl IntoIterator<Item = String>, images: Vec<String>) -> Self {
        let mut request = Self {
            captions: Vec::new(),
            images,
            relates: false,
        };
        for caption in captions {
            if !caption.trim().is_empty() && !request.captions.contains(&caption) {
                request.captions.push(caption);
            }
        }
        request
    }
}
