//! `WebDataset`: tar archives whose members belong together by name, `000012.jpg` and `000012.txt`.
//!
//! The archives are walked once by their heads alone; pictures are read later, from where they lie in them. A caption
//! is the text of `.txt`, or of `caption` in `.json`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::place::{is_picture, names_in};
use super::{Item, ItemCaption, Listing, Picture};

/// The most that a `.txt` or `.json` may take.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// The files of one name that were found so far.
#[derive(Default)]
struct Sample {
    picture: Option<Picture>,
    caption: Option<String>,
    fault: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    caption: Option<String>,
}

/// All archives of a folder, in order of their names, or one archive.
///
/// # Errors
///
/// There is no archive, one is broken, or none holds a picture with a caption.
pub fn listing(path: &Path) -> Result<Listing> {
    let archives: Vec<PathBuf> = if path.is_dir() {
        let paths = names_in(path)?.into_iter().map(|name| path.join(name));
        paths
            .filter(|path| path.extension().is_some_and(|e| e == "tar"))
            .collect()
    } else {
        vec![path.to_owned()]
    };
    ensure!(!archives.is_empty(), "{}: no .tar archive", path.display());
    let mut listing = Listing::default();
    for archive in archives {
        read_archive(&archive, &mut listing).with_context(|| archive.display().to_string())?;
    }
    ensure!(
        !listing.items.is_empty(),
        "{}: no picture with a .txt or .json of the same name",
        path.display()
    );
    listing.checked(path)
}

fn read_archive(path: &Path, listing: &mut Listing) -> Result<()> {
    let name: Arc<Path> = path.into();
    // Samples in order of their names; an archive holds some thousands.
    let mut samples: BTreeMap<String, Sample> = BTreeMap::new();
    let mut archive = tar::Archive::new(File::open(path)?);
    for entry in archive.entries_with_seek()? {
        let mut entry = entry.context("no tar archive, or one that was cut short")?;
        let member = entry.path()?.to_string_lossy().into_owned();
        let (key, ending) = split_name(&member);
        if !entry.header().entry_type().is_file() || key.is_empty() {
            continue;
        }
        let sample = samples.entry(key.to_owned()).or_default();
        if is_picture(&member) {
            sample.picture = Some(Picture::Slice {
                archive: name.clone(),
                offset: entry.raw_file_position(),
                n_bytes: usize::try_from(entry.size())?,
            });
        } else if ending == "txt" || ending == "json" {
            match text_of(&mut entry).and_then(|text| caption(&ending, &text)) {
                // A text file of its own is a better caption than the metadata.
                Ok(found) if ending == "txt" || sample.caption.is_none() => sample.caption = found,
                Ok(_) => {}
                Err(fault) => sample.fault = Some(fault),
            }
        }
    }
    for (key, sample) in samples {
        let what = format!("{key} of {}", path.display());
        let caption = sample.caption.filter(|text| !text.trim().is_empty());
        match (sample.picture, caption) {
            (None, _) => listing.skip(what, "no picture"),
            (_, None) => listing.skip(
                what,
                sample.fault.unwrap_or_else(|| "no caption".to_owned()),
            ),
            (Some(picture), Some(text)) => {
                listing
                    .items
                    .push(Item::new(key, picture, vec![ItemCaption::plain(&text)]));
            }
        }
    }
    Ok(())
}

/// The text of a member, or why it is not read.
fn text_of(member: &mut impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = member.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_TEXT_BYTES {
        return Err(format!("a text of more than {MAX_TEXT_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

/// A name up to its first dot behind the last slash, and the ending in lower case.
fn split_name(member: &str) -> (&str, String) {
    let base = member.rfind('/').map_or(0, |at| at + 1);
    match member[base..].find('.') {
        Some(dot) => {
            let ending = member.rsplit_once('.').map_or("", |(_, ending)| ending);
            (&member[..base + dot], ending.to_lowercase())
        }
        None => (member, String::new()),
    }
}

fn caption(ending: &str, text: &str) -> Result<Option<String>, String> {
    if ending == "txt" {
        return Ok(Some(text.to_owned()));
    }
    let metadata: Metadata = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(metadata.caption)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::place::tests::{Folder, png};

    fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in members {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            builder
                .append_data(&mut header, name, *bytes)
                .expect("memory does not fail");
        }
        builder.into_inner().expect("memory does not fail")
    }

    #[test]
    fn members_of_one_name_are_an_item_and_pictures_are_read_in_place() {
        let folder = Folder::new();
        let (red, blue) = (png([200, 0, 0]), png([0, 0, 200]));
        let first = archive(&[
            ("b/000001.png", &red),
            ("b/000001.txt", b"a red thing"),
            ("b/000001.json", br#"{"caption": "worse", "url": "x"}"#),
            ("b/000002.json", br#"{"caption": "no picture"}"#),
            ("b/000003.png", &blue),
            ("b/000004.png", &blue),
            ("b/000004.json", b"{"),
        ]);
        folder.put("00000.tar", first);
        let json = br#"{"caption": "a blue thing"}"#;
        let second = archive(&[("000009.seg.PNG", &blue), ("000009.json", json)]);
        folder.put("00001.tar", second);
        folder.put("00000.parquet", "not read");
        let found = listing(folder.path()).expect("two items");
        let items = found.items.iter();
        let texts: Vec<&str> = items.map(|item| item.captions[0].text.as_str()).collect();
        assert_eq!(texts, ["a red thing", "a blue thing"], "in order");
        let pixels = |i: usize| found.items[i].picture.read().expect("a picture").pixels;
        assert_eq!(pixels(0)[..3], [200, 0, 0], "the first archive's");
        assert_eq!(pixels(1)[..3], [0, 0, 200], "the second archive's");
        let whys: Vec<&str> = found.skipped.iter().map(|s| s.why.as_str()).collect();
        assert_eq!(whys[..2], ["no picture", "no caption"], "{whys:?}");
        assert!(whys[2].contains("EOF"), "the fault of the JSON: {whys:?}");
    }

    #[test]
    fn a_long_caption_is_cut_and_a_text_without_end_left_out_and_both_are_said() {
        let folder = Folder::new();
        let red = png([200, 0, 0]);
        let texts = [2001, 1 << 20, (1 << 20) + 1].map(|n| vec![b'a'; n]);
        let members = [
            ("1.png", &red[..]),
            ("1.txt", &texts[0]),
            ("2.png", &red),
            ("2.txt", &texts[1]),
            ("3.png", &red),
            ("3.txt", &texts[2]),
        ];
        folder.put("00000.tar", archive(&members));
        let found = listing(folder.path()).expect("two items");
        let lengths = found.items.iter().map(|item| item.captions[0].text.len());
        assert_eq!(lengths.collect::<Vec<_>>(), [2000, 2000], "as many as fit");
        let reasons = [
            ("the end of a caption, after 2000 characters".to_owned(), 2),
            ("a text of more than 1048576 bytes".to_owned(), 1),
        ];
        assert_eq!(found.reasons(), reasons, "{:?}", found.skipped);
    }

    #[test]
    fn an_archive_that_was_cut_short_is_named() {
        let folder = Folder::new();
        let bytes = archive(&[("1.png", &png([0; 3])), ("1.txt", b"a caption")]);
        let path = folder.put("00000.tar", &bytes[..700]);
        let error = match listing(&path) {
            Err(error) => format!("{error:#}"),
            // A cut behind the headers shows when the picture is read.
            Ok(found) => format!("{:#}", found.items[0].picture.read().expect_err("cut")),
        };
        assert!(error.contains("00000.tar"), "{error}");
    }
}
