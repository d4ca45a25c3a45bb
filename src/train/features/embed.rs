//! `train embed` of listed pictures and captions: piece by piece, pictures decoded on all cores while the tower looks
//! at those before.

use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};

use anyhow::{Result, ensure};
use burn::tensor::Device;
use rayon::prelude::*;

use super::cache::put;
use super::encoder::{Encoder, pictures_per_pass};
use super::part_of::PartOf;
use super::pieces::{FOLDER, PieceIds, Sources, WorkPiece, claim};
use super::rows::Embedded;
use crate::train::data::{Item, Skipped};
use crate::train::files;
use crate::train::progress::{Interrupt, Meter};
use crate::weights::shard::Precision;

/// Embeds this part of the work; what is done already is not done again.
///
/// # Errors
///
/// The folder holds the pieces of other work or cannot be written, the device fails, or the user interrupted.
pub fn embed_pieces(
    sources: &Sources,
    model: &Path,
    folder: &Path,
    part: PartOf,
    precision: Precision,
    device: &Device,
) -> Result<()> {
    let encoder = Encoder::open(model, device)?;
    let folder = folder.join(FOLDER);
    files::make_folder(&folder)?;
    claim(&sources.plan(&encoder, precision), &folder)?;
    let all = sources.pieces().into_iter().enumerate();
    let mine = all.filter_map(|(i, piece)| part.has(i).then_some(piece));
    let (done, open): (Vec<_>, Vec<_>) =
        mine.partition(|piece| folder.join(format!("{}.json", piece.name)).exists());
    let n_rows = |pieces: &[WorkPiece<'_>]| pieces.iter().map(WorkPiece::n_rows).sum::<usize>();
    let mut n_done = n_rows(&done);
    let mut meter = Meter::new("embedding", n_done, n_done + n_rows(&open));
    let interrupt = Interrupt::install();
    for piece in open {
        let (name, is_set) = (&piece.name, interrupt.is_set());
        ensure!(
            !is_set,
            "interrupted before {name}; the same command resumes from there"
        );
        let embedded = embed_piece(&encoder, &piece, |n| meter.update(n_done + n, &[]))?;
        embedded.write(&folder, &piece.name, precision)?;
        n_done += piece.n_rows();
        meter.update(n_done, &[]);
    }
    meter.finish();
    Ok(())
}

/// Identities and features of the pictures and captions of a piece.
struct EmbeddedPiece {
    ids: PieceIds,
    images: Embedded,
    texts: Embedded,
}

impl EmbeddedPiece {
    fn write(&self, folder: &Path, name: &str, precision: Precision) -> Result<()> {
        let records = [self.texts.records("text"), self.images.records("image")].concat();
        put(folder, name, &records, precision, &self.ids)
    }
}

/// Embeds a piece; a picture that cannot be read is left out and listed.
fn embed_piece(
    encoder: &Encoder,
    piece: &WorkPiece<'_>,
    mut progress: impl FnMut(usize),
) -> Result<EmbeddedPiece> {
    let (mut ids, mut images) = (PieceIds::default(), encoder.no_images());
    std::thread::scope(|scope| -> Result<()> {
        // One chunk ahead, so that few pictures are held.
        let (sender, receiver) = sync_channel(1);
        scope.spawn(|| read_ahead(piece, encoder, sender));
        let mut n_seen = 0;
        for chunk in receiver {
            let mut pixels = Vec::with_capacity(chunk.len());
            for found in chunk {
                let (item, label) = (&piece.items[n_seen], piece.labels.get(n_seen));
                match found {
                    Ok(found) => {
                        ids.keep(item, label.copied(), piece.noise);
                        pixels.push(found);
                    }
                    Err(fault) => ids
                        .skipped
                        .push(Skipped::new(&item.id, format!("{fault:#}"))),
                }
                n_seen += 1;
            }
            if !pixels.is_empty() {
                images.append(encoder.seen_images(pixels, piece.views)?);
            }
            progress(n_seen);
        }
        Ok(())
    })?;
    ids.keep_prompts(&piece.prompts);
    let words: Vec<&str> = ids.captions.iter().map(|c| c.text.as_str()).collect();
    let tokens = encoder.tokens(&words)?;
    for (caption, tokens) in ids.captions.iter_mut().zip(&tokens) {
        caption.n_tokens = tokens.n_tokens;
    }
    let texts = encoder.all_texts(&tokens, |_| {})?;
    Ok(EmbeddedPiece { ids, images, texts })
}

/// Inputs of the vision tower for each of some pictures and its views, or why it cannot be read.
type Pixels = Vec<Result<Vec<Vec<f32>>>>;

fn read_ahead(piece: &WorkPiece<'_>, encoder: &Encoder, sender: SyncSender<Pixels>) {
    for chunk in piece.items.chunks(pictures_per_pass(piece.views)) {
        let read = |item: &Item| {
            let rgb = item.picture.read()?;
            Ok(encoder.seen(&rgb, &item.id, piece.noise, piece.views))
        };
        let pixels: Pixels = chunk.par_iter().map(read).collect();
        if sender.send(pixels).is_err() {
            return; // The receiver failed, and its error says why.
        }
    }
}
