//! The texts of the tour and the lessons, as far as they were fetched.

use std::sync::Arc;

use crate::explorer::views::learn::Lessons;

/// The texts, or why they are not there; `None` before a view has asked for them.
pub(crate) type LessonTexts = Option<Result<Arc<Lessons>, String>>;

/// The captions of all lessons and failures.
pub(crate) fn captions(texts: &LessonTexts) -> Vec<String> {
    match texts {
        Some(Ok(lessons)) => lessons.captions().collect(),
        _ => Vec::new(),
    }
}
