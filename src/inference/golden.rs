//! The self-test: an engine answers nothing before it has reproduced the manifest's golden values.

use super::{Session, TextEncoding};
use crate::error::{Error, Result};
use crate::model::adapter::PerFamily;
use crate::numerics::Family;
use crate::preprocess::decode;
use crate::weights::manifest::Golden;
use crate::weights::shard::verify;

/// Greatest relative error of a CPU engine: sums of a few thousand f32 products in another order.
pub const CPU_TOLERANCE: f64 = 1e-4;

/// Greatest relative error of a GPU engine, whose compilers may fuse, reorder and approximate.
pub const GPU_TOLERANCE: f64 = 1e-3;

/// Cosines and nats near zero are compared absolutely below this size, which is what a reader could notice.
const NEAR_ZERO: f64 = 1.0;

/// The outcome of a self-test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfTest {
    /// Greatest relative error found; infinite where an answer was not a number.
    pub max_relative_error: f64,
    /// Greatest relative error allowed.
    pub tolerance: f64,
}

impl SelfTest {
    /// Whether the engine may answer.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.max_relative_error <= self.tolerance
    }
}

/// What an engine makes of the golden inputs; what `train` writes into a manifest and the self-test compares.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldenReadings {
    /// κ of each caption.
    pub concentration: Option<PerFamily<Vec<f64>>>,
    /// Nats above uniform of the picture under each caption.
    pub nats: Option<PerFamily<Vec<f64>>>,
    /// CLIP's cosine of each caption with the picture.
    pub cosine: Vec<f64>,
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
        let nats = |family| {
            texts
                .iter()
                .map(|text| text.nats(family, &image))
                .collect::<Option<Vec<f64>>>()
        };
        let concentration = |family| {
            let of = |text: &TextEncoding| Some(text.laws.as_ref()?.get(family).concentration);
            texts.iter().map(of).collect::<Option<Vec<f64>>>()
        };
        Ok(GoldenReadings {
            concentration: both(concentration),
            nats: both(nats),
            cosine: texts
                .iter()
                .map(|text| text.compare(&image).cosine)
                .collect(),
        })
    }

    /// Compares this engine's answers with the manifest's golden values.
    ///
    /// # Errors
    ///
    /// A picture that is not the manifest's, or an engine that fails before it answers. An engine that answers
    /// wrongly is no error but a [`SelfTest`] that has not [`passed`](SelfTest::passed).
    pub async fn self_test(&self, image: &[u8], tolerance: f64) -> Result<SelfTest> {
        let golden = &self.manifest().golden;
        verify(image, &golden.image)?;
        let found = self.golden_readings(&golden.captions, image).await?;
        Ok(SelfTest {
            max_relative_error: max_relative_error(&found, golden)?,
            tolerance,
        })
    }
}

fn both(of: impl Fn(Family) -> Option<Vec<f64>>) -> Option<PerFamily<Vec<f64>>> {
    Some(PerFamily {
        vmf: of(Family::VonMisesFisher)?,
        power_spherical: of(Family::PowerSpherical)?,
    })
}

fn max_relative_error(found: &GoldenReadings, golden: &Golden) -> Result<f64> {
    let laws = [
        (&found.concentration, &golden.concentration, 0.0),
        (&found.nats, &golden.nats, NEAR_ZERO),
    ];
    let mut greatest = error_of(&found.cosine, &golden.cosine, NEAR_ZERO);
    for (found, golden, near_zero) in laws {
        match (found, golden) {
            (Some(found), Some(golden)) => {
                let vmf = error_of(&found.vmf, &golden.vmf, near_zero);
                let power_spherical =
                    error_of(&found.power_spherical, &golden.power_spherical, near_zero);
                greatest = greatest.max(vmf).max(power_spherical);
            }
            (None, None) => {}
            _ => {
                return Err(Error::Engine(
                    "golden values and adapters: one is there without the other".to_owned(),
                ));
            }
        }
    }
    Ok(greatest)
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
