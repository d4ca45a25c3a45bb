//! Flickr8k-Expert: judgements by three people of captions under pictures that they were mostly not written for.
//!
//! A line of `ExpertAnnotations.txt` is `PICTURE.jpg<tab>PICTURE.jpg#NUMBER<tab>1<tab>1<tab>2`, 1 for a caption that
//! does not describe the picture at all, 4 for one that describes it. As in `CLIPScore` (Hessel et al. 2021, appendix
//! A) captions that were written for the picture itself are left out, which leaves 5,664 of 5,822 pairs, and each of
//! the three judgements counts: 16,992.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::metrics::agreement::kendall_tau_c;
use crate::report::Agreement;
use crate::train::data::Listing;
use crate::train::pairs::scores::Scores;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpertRating {
    /// Name of the picture.
    pub picture: String,
    /// Name of the picture that the caption was written for.
    pub caption_of: String,
    /// Index of the caption among those of that picture, from 0.
    pub i_caption: usize,
    /// Judgements of three people, from 1 to 4.
    pub scores: [u8; 3],
}

/// A judged pair by its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedPair {
    /// Row of the picture.
    pub i_image: usize,
    /// Row of the caption.
    pub i_caption: usize,
    /// Judgements of three people, from 1 to 4.
    pub scores: [u8; 3],
}

/// Reads the judgements in Flickr8k's `ExpertAnnotations.txt`, a line for each picture and caption.
///
/// # Errors
///
/// The file is missing, empty, or has a line of another form.
pub fn read_ratings(path: &Path) -> Result<Vec<ExpertRating>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let ratings: Vec<ExpertRating> = lines
        .map(|(i, line)| {
            let of_form = || {
                let line = i + 1;
                let form = "PICTURE<tab>PICTURE#NUMBER<tab>1-4<tab>1-4<tab>1-4";
                format!("{}: line {line}, {form} was expected", path.display())
            };
            rating(line).with_context(of_form)
        })
        .collect::<Result<_>>()?;
    ensure!(!ratings.is_empty(), "{}: no judgements", path.display());
    Ok(ratings)
}

fn rating(line: &str) -> Option<ExpertRating> {
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
        .then_some(ExpertRating {
            picture: (*picture).to_owned(),
            caption_of: caption_of.to_owned(),
            i_caption: number.parse().ok()?,
            scores,
        })
}

/// Finds the rows of judged pairs, pictures and captions standing in the order of `listing`, picture by picture.
/// Captions that say what one of the picture's own says are left out.
///
/// # Errors
///
/// A picture or a caption that the listing lacks.
pub fn judged_pairs(ratings: &[ExpertRating], listing: &Listing) -> Result<Vec<JudgedPair>> {
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
    for rating in ratings {
        let (i_image, _) = find(&rating.picture)?;
        let (i_owner, first_row) = find(&rating.caption_of)?;
        let captions = &listing.items[i_owner].captions;
        let caption = captions.get(rating.i_caption).with_context(|| {
            let (name, number) = (&rating.caption_of, rating.i_caption);
            format!("{name} has no caption #{number}, which was judged")
        })?;
        let own = &listing.items[i_image].captions;
        if own.iter().all(|own| own.text != caption.text) {
            pairs.push(JudgedPair {
                i_image,
                i_caption: first_row + rating.i_caption,
                scores: rating.scores,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::pairs::captions::tests::listing;

    fn read(text: &str) -> Result<Vec<ExpertRating>> {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("ExpertAnnotations.txt");
        std::fs::write(&path, text).expect("the folder is the test's own");
        read_ratings(&path)
    }

    #[test]
    fn judged_captions_are_found_and_those_of_the_picture_itself_left_out() {
        let text = "0.jpg\t1.jpg#1\t1\t2\t2\n0.jpg\t0.jpg#0\t4\t4\t4\n\n1.jpg\t2.jpg#0\t3\t4\t3\n";
        let judgements = read(text).expect("three lines");
        // The caption of picture 2 says what one of picture 1 says.
        let captions: &[&[&str]] = &[&["a cat"], &["a dog", "a brown dog"], &["a dog"]];
        let found = judged_pairs(&judgements, &listing(captions)).expect("all are there");
        let expected = JudgedPair {
            i_image: 0,
            i_caption: 2,
            scores: [1, 2, 2],
        };
        assert_eq!(found, [expected], "\"a brown dog\" under the cat");
    }

    #[test]
    fn lines_of_another_form_are_named() {
        for line in [
            "0.jpg\t1.jpg\t1\t1\t1",
            "0.jpg\t1.jpg#0\t1\t1",
            "0.jpg\t1.jpg#0\t1\t1\t5",
        ] {
            let error = read(&format!("0.jpg\t1.jpg#0\t1\t1\t1\n{line}\n"));
            let error = error.expect_err("another form").to_string();
            assert!(error.contains("line 2"), "{line}: {error}");
        }
        let judgements = read("7.jpg\t0.jpg#0\t1\t1\t1").expect("of the form");
        let error = judged_pairs(&judgements, &listing(&[&["a cat"]]));
        let error = error.expect_err("there is no picture 7").to_string();
        assert!(error.contains("7.jpg"), "{error}");
    }

    #[test]
    fn scores_that_rise_with_every_judgement_agree_wholly() {
        let row = |values: &[f32]| crate::train::features::rows::Rows {
            values: values.to_vec(),
            width: 1,
        };
        let scores = Scores::cosines(&row(&[0.1, 0.4, 0.9]), &row(&[1.0, -1.0]));
        let pair = |i_image, i_caption, score| JudgedPair {
            i_image,
            i_caption,
            scores: [score; 3],
        };
        let opposite = Scores::cosines(&row(&[-0.1, -0.4, -0.9]), &row(&[1.0, -1.0]));
        let judged = [pair(0, 0, 2), pair(0, 1, 3), pair(0, 2, 4), pair(1, 2, 1)];
        let found = agreement(&judged, &scores, &opposite);
        let expected = Agreement {
            tau_c_nats: Some(1.0),
            tau_c_cosine: Some(-1.0),
        };
        assert_eq!(found, expected, "four steps, three judgements of each");
    }
}
