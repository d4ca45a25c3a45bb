//! Arguments of the commands that put captions to a model: which model, which distribution, which captions.

use std::fmt;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::device;
use crate::family::Family;
use crate::inference::Session;
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
