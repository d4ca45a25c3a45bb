//! Flickr8k-Expert: what three people think of captions under pictures that they were mostly not written for.
//!
//! A line of `ExpertAnnotations.txt` is `PICTURE.jpg<tab>PICTURE.jpg#NUMBER<tab>1<tab>1<tab>2`, 1 for a caption that
//! does not describe the picture at all, 4 for one that describes it. As in `CLIPScore` (Hessel et al. 2021, appendix A)
//! captions that were written for the picture itself are left out, which leaves 5,664 of 5,822 pairs, and each of the
//! three judgements counts: 16,992.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::scores::Scores;
use crate::metrics::agreement::kendall_tau_c;
use crate::report::Agreement;
use crate::train::data::Listing;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Name of the picture.
    pub picture: String,
    /// Name of the picture that the caption was written for.
    pub caption_of: String,
    /// Which of its captions, from 0.
    pub i_caption: usize,
    /// What three people said, 1 to 4.
    pub scores: [u8; 3],
}

/// A judged pair by its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedPair {
    /// Row of the picture.
    pub i_image: usize,
    /// Row of the caption.
    pub i_caption: usize,
    /// What three people said, 1 to 4.
    pub scores: [u8; 3],
}

/// Reads `ExpertAnnotations.txt`.
///
/// # Errors
///
/// The file is missing, empty, or has a line of another form.
pub fn read_judgements(path: &Path) -> Result<Vec<Judgement>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let judgements: Vec<Judgement> = lines
        .map(|(i, line)| {
            let of_form = || {
                let line = i + 1;
                let form = "PICTURE<tab>PICTURE#NUMBER<tab>1-4<tab>1-4<tab>1-4";
                format!("{}: line {line}, {form} was expected", path.display())
            };
            judgement(line).with_context(of_form)
        })
        .collect::<Result<_>>()?;
    ensure!(!judgements.is_empty(), "{}: no judgements", path.display());
    Ok(judgements)
}

fn judgement(line: &str) -> Option<Judgement> {
    let fields: Vec<&str> = line.trim_end().split('\t').collect();
    let [picture, caption, scores @ ..] = fields.as_slice() else {
        return None;
    };
    let scores = scores.iter().map(|score| score.parse().ok());
    let scores: Vec<u8> = scores.collect::<Option<_>>()?;
    let scores: [u8; 3] = scores.try_into().ok()?;
    let (caption_of, number) = caption.rsplit_once('#')?;
    scores
        .iter()
        .all(|score| (1..=4).contains(score))
        .then_some(Judgement {
            picture: (*picture).to_owned(),
            caption_of: caption_of.to_owned(),
            i_caption: number.parse().ok()?,
            scores,
        })
}

/// Finds the rows of judged pairs, pictures and captions standing in the order of `listing`, picture by picture. Captions
/// that say what one of the picture's own says are left out.
///
/// # Errors
///
/// A picture or a caption that the listing lacks.
pub fn judged_pairs(judgements: &[Judgement], listing: &Listing) -> Result<Vec<JudgedPair>> {
    let mut row = 0;
    let mut rows = HashMap::new();
    for (i_image, item) in listing.items.iter().enumerate() {
        rows.insert(item.id.as_str(), (i_image, row));
        row += item.captions.len();
    }
    let find = |name: &str| {
        let found = rows.get(name).copied();
        found.with_context(|| format!("{name} was judged and is not among the pictures"))
    };
    let mut pairs = Vec::new();
    for judgement in judgements {
        let (i_image, _) = find(&judgement.picture)?;
        let (i_owner, first_row) = find(&judgement.caption_of)?;
        let captions = &listing.items[i_owner].captions;
        let caption = captions.get(judgement.i_caption).with_context(|| {
            let (name, number) = (&judgement.caption_of, judgement.i_caption);
            format!("{name} has no caption #{number}, which was judged")
        })?;
        let own = &listing.items[i_image].captions;
        if own.iter().all(|own| own.text != caption.text) {
            pairs.push(JudgedPair {
                i_image,
                i_caption: first_row + judgement.i_caption,
                scores: judgement.scores,
            });
        }
    }
    Ok(pairs)
}

/// Agreement of nats and of cosines with each single judgement.
pub(super) fn agreement(judged: &[JudgedPair], nats: &Scores, cosines: &Scores) -> Agreement {
    let people: Vec<f64> = judged
        .iter()
        .flat_map(|pair| pair.scores.map(f64::from))
        .collect();
    let tau_c = |scores: &Scores| {
        let of_pair = |pair: &JudgedPair| [scores.at(pair.i_caption, pair.i_image); 3];
        kendall_tau_c(
            &judged.iter().flat_map(of_pair).collect::<Vec<_>>(),
            &people,
        )
    };
    Agreement {
        tau_c_nats: tau_c(nats),
        tau_c_cosine: tau_c(cosines),
    }
}
