//! The self-test: an engine answers nothing before it has reproduced the manifest's golden values.
//!
//! It covers one shape of the image encoder, the only one that a page uses: a picture alone. Of the text encoder it
//! covers the golden captions in one pass and, on a GPU, the first of them alone; other numbers of captions or tokens
//! are shapes of their own there. A shader of one that does not compile ends the engine (see [`crate::device`]); one
//! that compiles and is wrong would not be noticed.

use super::{ImageEncoding, Session, TextEncoding};
use crate::error::{Error, Result, refuse_if};
use crate::model::adapter::PerFamily;
use crate::numerics::Family;
use crate::preprocess::decode;
use crate::protocol::SelfTest;
use crate::weights::manifest::{FileEntry, Golden};
use crate::weights::shard::verify;

/// Greatest relative error of a CPU engine: sums of a few thousand f32 products in another order.
pub const CPU_TOLERANCE: f64 = 1e-4;

/// Greatest relative error of a GPU engine, whose compilers may fuse, reorder and approximate.
pub const GPU_TOLERANCE: f64 = 1e-3;

/// Greatest relative error of κ under adapters that were given to an encoder: its weights may have been rounded to
/// eight bits since the adapters were fitted; another encoder's κ differ by far more.
const ADAPTER_TOLERANCE: f64 = 0.05;

/// Size below which the errors of cosines and nats count as absolute ones: a relative error near zero means nothing.
const NEAR_ZERO: f64 = 1.0;

/// Outputs of an engine for the golden inputs: `train` writes them into a manifest, and the self-test compares them.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldenReadings {
    /// κ of each caption.
    pub concentration: Option<PerFamily<Vec<f64>>>,
    /// Log-likelihood ratio to uniform of the picture under each caption, in nats.
    pub nats: Option<PerFamily<Vec<f64>>>,
    /// CLIP's cosine of each caption with the picture.
    pub cosine: Vec<f64>,
    /// Length of each caption's features.
    pub features_norm: Vec<f64>,
}

impl GoldenReadings {
    /// Golden values of a manifest, for these captions and this picture file.
    #[must_use]
    pub fn into_golden(self, captions: Vec<String>, image: FileEntry) -> Golden {
        Golden {
            captions,
            image,
            concentration: self.concentration,
            nats: self.nats,
            cosine: self.cosine,
            features_norm: Some(self.features_norm),
        }
    }
}

impl Session {
    /// Reads captions against one picture file.
    ///
    /// # Errors
    ///
    /// A picture or caption that cannot be encoded, or an engine that fails.
    pub async fn golden_readings(
        &self,
        captions: &[String],
        image: &[u8],
    ) -> Result<GoldenReadings> {
        let image = self.encode_image(&decode(image)?.rgb).await?;
        let texts = self.encode_text(captions).await?;
        Ok(readings(&texts, &image))
    }

    /// Compares this engine's answers with the manifest's golden values.
    ///
    /// # Errors
    ///
    /// A picture that is not the manifest's, or an engine that fails before it answers. Wrong answers are not an error
    /// but a [`SelfTest`] that has not [`passed`](SelfTest::passed).
    pub async fn self_test(&self, image: &[u8], tolerance: f64) -> Result<SelfTest> {
        let texts = self.encode_text(&self.golden()?.captions).await?;
        self.self_test_image(&texts, image, tolerance).await
    }

    /// Compares as [`self_test`](Self::self_test) does, with encodings of the golden captions that this engine computed
    /// before.
    ///
    /// # Errors
    ///
    /// As [`self_test`](Self::self_test), and another number of encodings.
    pub async fn self_test_image(
        &self,
        texts: &[TextEncoding],
        image: &[u8],
        tolerance: f64,
    ) -> Result<SelfTest> {
        let golden = self.golden()?;
        verify(image, &golden.image)?;
        let (found, expected) = (texts.len(), golden.captions.len());
        refuse_if!(
            found != expected,
            "{found} encodings of golden captions, expected {expected}"
        );
        let image = self.encode_image(&decode(image)?.rgb).await?;
        Ok(SelfTest {
            max_relative_error: max_relative_error(&readings(texts, &image), golden)?,
            tolerance,
        })
    }

    /// Compares the golden values that need captions alone (κ and the length of the features) with this engine's
    /// encodings of the golden captions, or of the first of them.
    ///
    /// # Errors
    ///
    /// A manifest without such values, or no encodings.
    pub fn self_test_text(&self, texts: &[TextEncoding], tolerance: f64) -> Result<SelfTest> {
        let golden = self.golden()?;
        refuse_if!(texts.is_empty(), "no encodings of golden captions");
        let distributions = distribution_error(&concentration(texts), &golden.concentration, 0.0)?;
        let norms = golden.features_norm.as_ref();
        let norms = norms.map(|golden| error_of(&features_norm(texts), golden, 0.0));
        if golden.concentration.is_none() && norms.is_none() {
            let reason = "the manifest's golden values say nothing of captions alone";
            return Err(Error::Engine(reason.to_owned()));
        }
        Ok(SelfTest {
            max_relative_error: norms.unwrap_or_default().max(distributions),
            tolerance,
        })
    }

    /// Compares κ by adapters that were given to this encoder with the κ recorded when they were fitted.
    ///
    /// # Errors
    ///
    /// An engine that fails before it answers.
    pub async fn self_test_adapters(
        &self,
        captions: &[String],
        concentration: PerFamily<Vec<f64>>,
    ) -> Result<SelfTest> {
        let texts = self.encode_text(captions).await?;
        let found = self::concentration(&texts);
        Ok(SelfTest {
            max_relative_error: distribution_error(&found, &Some(concentration), 0.0)?,
            tolerance: ADAPTER_TOLERANCE,
        })
    }

    fn golden(&self) -> Result<&Golden> {
        let golden = self.manifest().golden.as_ref();
        golden.ok_or_else(|| Error::Engine("the manifest holds no golden values".to_owned()))
    }
}

fn readings(texts: &[TextEncoding], image: &ImageEncoding) -> GoldenReadings {
    let nats = |family| texts.iter().map(|text| text.nats(family, image)).collect();
    let cosine = texts.iter().map(|text| text.compare(image).cosine);
    GoldenReadings {
        concentration: concentration(texts),
        nats: both(nats),
        cosine: cosine.collect(),
        features_norm: features_norm(texts),
    }
}

fn concentration(texts: &[TextEncoding]) -> Option<PerFamily<Vec<f64>>> {
    both(|family| {
        let of = |text: &TextEncoding| Some(text.distributions.as_ref()?.get(family).concentration);
        texts.iter().map(of).collect::<Option<Vec<f64>>>()
    })
}

fn features_norm(texts: &[TextEncoding]) -> Vec<f64> {
    texts.iter().map(|text| text.features_norm).collect()
}

fn both(of: impl Fn(Family) -> Option<Vec<f64>>) -> Option<PerFamily<Vec<f64>>> {
    Some(PerFamily {
        vmf: of(Family::VonMisesFisher)?,
        power_spherical: of(Family::PowerSpherical)?,
    })
}

fn max_relative_error(found: &GoldenReadings, golden: &Golden) -> Result<f64> {
    let norms = golden.features_norm.as_ref();
    let norms = norms.map(|golden| error_of(&found.features_norm, golden, 0.0));
    let cosine = error_of(&found.cosine, &golden.cosine, NEAR_ZERO);
    let concentration = distribution_error(&found.concentration, &golden.concentration, 0.0)?;
    let nats = distribution_error(&found.nats, &golden.nats, NEAR_ZERO)?;
    Ok(cosine
        .max(norms.unwrap_or_default())
        .max(concentration)
        .max(nats))
}

fn distribution_error(
    found: &Option<PerFamily<Vec<f64>>>,
    golden: &Option<PerFamily<Vec<f64>>>,
    near_zero: f64,
) -> Result<f64> {
    match (found, golden) {
        (Some(found), Some(golden)) => {
            let of = |family| error_of(found.get(family), golden.get(family), near_zero);
            Ok(Family::ALL.map(of).into_iter().fold(0.0, f64::max))
        }
        // Adapters that were given later have golden values of their own.
        (_, None) => Ok(0.0),
        (None, Some(_)) => {
            let reason = "golden values of adapters, but no adapters";
            Err(Error::Engine(reason.to_owned()))
        }
    }
}

/// Greatest of `|found − expected| / max(|expected|, near_zero)`; infinite if any is not a number.
fn error_of(found: &[f64], expected: &[f64], near_zero: f64) -> f64 {
    let error = |(found, expected): (&f64, &f64)| {
        let error = (found - expected).abs() / expected.abs().max(near_zero);
        if error.is_nan() { f64::INFINITY } else { error }
    };
    found.iter().zip(expected).map(error).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_not_a_number_fails_the_self_test() {
        let error = error_of(&[1.0, f64::NAN], &[1.0, 1.0], 0.0);
        assert_eq!(error, f64::INFINITY, "NaN must not be overlooked");
    }

    #[test]
    fn errors_are_relative_and_absolute_near_zero() {
        assert_eq!(error_of(&[11.0], &[10.0], 1.0), 0.1, "relative");
        assert_eq!(error_of(&[0.25], &[0.0], 1.0), 0.25, "absolute");
    }
}
