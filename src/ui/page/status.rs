//! What the engine of the page does, and when it has answered.

use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use crate::explorer::{CosineSnapshot, ScoreRequest, Snapshot};
use crate::ui::page::pictures::{PictureFile, PictureState};
use crate::ui::page::state::{EngineState, PageState};

/// The longest that what can wait does so for the engine's first answer, and how often it looks, in milliseconds.
const PATIENCE: u32 = 1_000;
const STEP: u32 = 50;

/// What the engine does, in a word.
pub(super) fn status(page: PageState) -> &'static str {
    page.engine.with(|engine| match engine {
        EngineState::Ready(_) if is_settled(page) => "ready",
        EngineState::Ready(_) => "working",
        EngineState::Starting | EngineState::Loading(_) => "loading",
        EngineState::Stopped(_) | EngineState::SafeMode | EngineState::SavesData => "stopped",
    })
}

/// Whether an engine will answer something that it has not answered yet.
fn is_busy(page: PageState) -> bool {
    matches!(status(page), "loading" | "working")
}

/// Whether every caption and every picture on the page has its numbers, or was refused them.
fn is_settled(page: PageState) -> bool {
    let is_read = |file: &PictureFile| matches!(file.state, PictureState::Read(_));
    let is_view_settled = || {
        let is_generated = match page.generated_request.get() {
            Some(request) => page.generated.with(|answers| answers.has(&request)),
            None => true,
        };
        is_generated && page.missing.with(|missing| missing.captions.is_empty())
    };
    page.files.with(|files| files.values().all(is_read))
        && (page.view_request_failed.get() || is_view_settled())
        && (page.failed.get() || is_answered(page))
}

/// Whether the newest answer of a model is one to the question that the matrix asks.
fn is_answered(page: PageState) -> bool {
    let question = page.question.get();
    let is_compared = |compared: &CosineSnapshot| {
        let answer = &compared.comparison;
        let captions = answer.captions.iter().map(|tokens| &tokens.caption);
        asks(&question, &compared.keys, &answer.images, captions)
    };
    let is_read = |snapshot: &Snapshot| {
        let captions = snapshot.answer.captions.iter();
        let captions = captions.map(|reading| &reading.caption);
        !snapshot.recorded && asks(&question, &snapshot.keys, &snapshot.answer.images, captions)
    };
    question.captions.is_empty()
        || page
            .compared
            .with(|compared| compared.as_ref().is_some_and(is_compared))
        || page
            .snapshot
            .with(|snapshot| snapshot.as_ref().is_some_and(is_read))
}

fn asks<'a>(
    question: &ScoreRequest,
    keys: &[u64],
    images: &[String],
    captions: impl Iterator<Item = &'a String>,
) -> bool {
    question.keys == keys && question.images == images && captions.eq(&question.captions)
}

/// Returns once the engine has answered all that it was asked, or after a second.
pub(in crate::ui) async fn first_answer(page: PageState) {
    for _ in 0..PATIENCE / STEP {
        // Signals of a page that is gone have no value.
        if page.engine.is_disposed() || !untrack(|| is_busy(page)) {
            return;
        }
        TimeoutFuture::new(STEP).await;
    }
}
