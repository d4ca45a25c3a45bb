//! Pictures and captions as a model encodes them: unit vectors, κ, and the norm that a vector had.

use anyhow::{Result, ensure};

use super::captions::{RetrievalCaptions, word_count};
use crate::family::{Family, PerFamily};
use crate::train::features::rows::Rows;

/// The distributions of captions under one family.
#[derive(Debug, Clone, PartialEq)]
pub struct Distributions {
    /// κ of each caption.
    pub concentrations: Vec<f64>,
    /// `[n_captions, embed_dim]`, of any length above 0; `None` where a caption's mean direction is that of its
    /// embedding.
    pub mean_directions: Option<Rows>,
}

/// Pictures and captions in the shared space.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedPairs {
    /// Embeddings of the pictures, `[n_images, embed_dim]`, unit vectors.
    pub(in crate::train) images: Rows,
    pub(in crate::train) captions: RetrievalCaptions,
    /// Embeddings of the captions, `[n_captions, embed_dim]`, unit vectors.
    pub(in crate::train) embeddings: Rows,
    /// Lengths of the captions' embeddings before they were normalised.
    pub(in crate::train) feature_norms: Vec<f64>,
    /// Mean directions are unit vectors.
    pub(in crate::train) distributions: PerFamily<Distributions>,
}

impl EncodedPairs {
    /// Takes `[n_images, embed_dim]` and `[n_captions, embed_dim]`, which need not be normalised.
    ///
    /// # Errors
    ///
    /// Numbers of rows or widths that do not fit each other, or a caption of a picture that is not there.
    pub fn new(
        images: Rows,
        captions: RetrievalCaptions,
        embeddings: Rows,
        distributions: PerFamily<Distributions>,
    ) -> Result<Self> {
        let (n_captions, width) = (captions.len(), embeddings.width);
        check("embeddings of captions", &embeddings, n_captions, width)?;
        check("embeddings of pictures", &images, images.n_rows(), width)?;
        let n_fitting = captions.pictures_of.len();
        ensure!(
            n_fitting == n_captions,
            "{n_fitting} lists of pictures, {n_captions} were expected"
        );
        let named = captions.pictures_of.iter().flatten();
        let n_needed = named.max().map_or(0, |last| last + 1);
        let n_images = images.n_rows();
        ensure!(
            n_needed <= n_images,
            "captions name picture {n_needed} of {n_images}"
        );
        for family in Family::ALL {
            let of_family = distributions.get(family);
            let n = of_family.concentrations.len();
            ensure!(n == n_captions, "{n} values of κ for {n_captions} captions");
            if let Some(directions) = &of_family.mean_directions {
                check("mean directions", directions, n_captions, width)?;
            }
        }
        Ok(Self {
            feature_norms: rows(&embeddings).map(norm).collect(),
            images: unit(images),
            embeddings: unit(embeddings),
            distributions: distributions.map(|of_family| Distributions {
                mean_directions: of_family.mean_directions.map(unit),
                ..of_family
            }),
            captions,
        })
    }

    pub(in crate::train) fn n_images(&self) -> usize {
        self.images.n_rows()
    }

    pub(in crate::train) fn concentrations(&self, family: Family) -> &[f64] {
        &self.distributions.get(family).concentrations
    }

    /// Mean directions of the captions, `[n_captions, embed_dim]`, unit vectors.
    pub(in crate::train) fn mean_directions(&self, family: Family) -> &Rows {
        let directions = self.distributions.get(family).mean_directions.as_ref();
        directions.unwrap_or(&self.embeddings)
    }

    pub(in crate::train) fn word_counts(&self) -> Vec<f64> {
        let texts = self.captions.texts.iter();
        texts.map(|text| word_count(text) as f64).collect()
    }
}

/// The rows of a matrix.
pub(in crate::train) fn rows(matrix: &Rows) -> impl ExactSizeIterator<Item = &[f32]> {
    matrix.values.chunks_exact(matrix.width.max(1))
}

/// Refuses a matrix of another shape, or an empty one.
///
/// # Errors
///
/// It has other numbers of rows and columns.
pub(in crate::train) fn check(
    what: &str,
    matrix: &Rows,
    n_rows: usize,
    width: usize,
) -> Result<()> {
    let found = (matrix.n_rows(), matrix.width);
    ensure!(
        found == (n_rows, width) && n_rows * width > 0,
        "{what}: {found:?} rows and columns, {:?} were expected",
        (n_rows.max(1), width.max(1))
    );
    Ok(())
}

fn norm(row: &[f32]) -> f64 {
    let squares = row.iter().map(|x| f64::from(*x).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Divides each row by its norm; a row of zeros stays one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the rows are in single precision"
)]
pub(in crate::train) fn unit(mut matrix: Rows) -> Rows {
    for row in matrix.values.chunks_exact_mut(matrix.width.max(1)) {
        let norm = norm(row).max(f64::MIN_POSITIVE);
        for x in row {
            *x = (f64::from(*x) / norm) as f32;
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(width: usize, values: &[f32]) -> Rows {
        Rows {
            values: values.to_vec(),
            width,
        }
    }

    fn pairs(picture: usize, n_kappas: usize) -> Result<EncodedPairs> {
        let captions = RetrievalCaptions {
            texts: vec!["a dog".to_owned(), "something".to_owned()],
            pictures_of: vec![vec![picture], vec![0, 1]],
        };
        let distributions = PerFamily::of(|_| Distributions {
            concentrations: vec![1.0; n_kappas],
            mean_directions: None,
        });
        let images = matrix(2, &[0.0, 2.0, 0.0, 0.0]);
        EncodedPairs::new(
            images,
            captions,
            matrix(2, &[3.0, 4.0, 1.0, 0.0]),
            distributions,
        )
    }

    #[test]
    fn rows_are_normalised_and_keep_their_length_beside() {
        let pairs = pairs(1, 2).expect("two pictures, two captions");
        assert_eq!(
            pairs.embeddings.values,
            [0.6, 0.8, 1.0, 0.0],
            "unit vectors"
        );
        assert_eq!(pairs.images.values, [0.0, 1.0, 0.0, 0.0], "zeros stay");
        assert_eq!(pairs.feature_norms, [5.0, 1.0], "lengths");
        assert_eq!(pairs.word_counts(), [2.0, 1.0], "words");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        let error = |result: Result<EncodedPairs>| result.expect_err("does not fit").to_string();
        assert_eq!(
            error(pairs(2, 2)),
            "captions name picture 3 of 2",
            "picture"
        );
        assert_eq!(error(pairs(0, 3)), "3 values of κ for 2 captions", "κ");
    }
}
