//! Arguments of the commands that put captions to a model: which model, which distribution, which captions.

use std::fmt;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::answer::caption_tokens;
use crate::device;
use crate::explorer::{Legibility, tokens_note};
use crate::family::Family;
use crate::inference::{Session, TextEncoding};
use crate::protocol::too_long;
use crate::train::export::bundle;

#[derive(Debug, Args)]
pub(super) struct CaptionArgs {
    /// Folder of the model.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// Distribution on the sphere.
    #[arg(long, value_enum, default_value = "vmf")]
    family: FamilyName,
    /// A caption of at most 2,000 characters; may be given several times.
    #[arg(long = "caption", required = true, value_parser = caption)]
    pub(super) captions: Vec<String>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

impl CaptionArgs {
    /// Opens the model, on the CPU.
    pub(super) fn open(&self) -> Result<Session> {
        bundle::open(&self.model, &device::cpu())
    }

    pub(super) fn family(&self) -> Family {
        match self.family {
            FamilyName::Vmf => Family::VonMisesFisher,
            FamilyName::PowerSpherical => Family::PowerSpherical,
        }
    }

    /// Prints what was found, as a table or as JSON.
    pub(super) fn print<T: fmt::Display + Serialize>(&self, found: &T) -> Result<()> {
        if self.json {
            println!("{}", serde_json::to_string_pretty(found)?);
        } else {
            print!("{found}");
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FamilyName {
    Vmf,
    PowerSpherical,
}

/// A caption as it was typed, unless it is too long.
pub(super) fn caption(typed: &str) -> Result<String, String> {
    match too_long(typed) {
        Some(problem) => Err(problem),
        None => Ok(typed.to_owned()),
    }
}

/// What the model could not read of a caption, by the same judgement as the page's.
#[derive(Debug, Serialize)]
pub(super) struct CaptionNote {
    /// Whether the model cannot read the caption, so that its numbers mean nothing.
    pub(super) is_unread: bool,
    /// Words that the model could not read, and what was cut off; empty where it read all.
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
}

impl CaptionNote {
    pub(super) fn of(caption: &str, text: &TextEncoding) -> Self {
        let legibility = Legibility::of(caption, &text.tokens.unknown_words, text.familiarity);
        Self {
            is_unread: legibility.is_unread(),
            note: tokens_note(&caption_tokens(caption.to_owned(), text), text.familiarity),
        }
    }
}

/// Writes the notes below a table, a line for each caption of which there is something to say.
pub(super) fn write_notes<'a>(
    f: &mut fmt::Formatter<'_>,
    notes: impl Iterator<Item = (&'a str, &'a CaptionNote)>,
) -> fmt::Result {
    for (i, (caption, note)) in notes.filter(|(_, note)| !note.note.is_empty()).enumerate() {
        let start = if i == 0 { "\n" } else { "" };
        writeln!(f, "{start}“{caption}”: {}", note.note.trim_end())?;
    }
    Ok(())
}
