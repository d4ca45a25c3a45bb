//! Embeddings of the probes, compared with golden ones, published ones, or another engine's.

use super::model::{Model, left_out};
use super::self_test::trusted;
use super::weight_store::WeightStore;
use super::worker_scope::{now_millis, post};
use crate::error::{Error, Result};
use crate::inference::{Published, SelfTest, TextEncoding, Tolerance, WeightFormat};
use crate::preprocess::RgbPixels;
use crate::protocol::{Hub, PROBE, Response};

/// Side in pixels of the picture by which engines are compared.
const PROBE_SIDE: usize = 256;

impl Model {
    /// The embedding of the caption by which engines are compared.
    pub(super) async fn probe(&self) -> Result<Vec<f32>> {
        let mut texts = self.session().encode_text(&[PROBE.to_owned()]).await?;
        let text = texts.pop();
        text.map(|text| text.embedding).ok_or_else(left_out)
    }

    /// Tells the page, once, how long a warm pass takes over that caption and, where both encoders were loaded at once,
    /// over the picture by which engines are compared.
    pub(super) async fn time_pass(&self) -> Result<()> {
        if self.is_timed.replace(true) {
            return Ok(());
        }
        // A GPU compiles for each shape, and a browser compiles well what has run before.
        self.probes_pass().await?;
        let start = now_millis();
        self.probes_pass().await?;
        post(&Response::PassTimed {
            millis: now_millis() - start,
        });
        Ok(())
    }

    async fn probes_pass(&self) -> Result<()> {
        self.probe().await?;
        if self.is_eager {
            self.probe_picture().await?;
        }
        Ok(())
    }

    /// The embedding of the picture by which engines are compared.
    pub(super) async fn probe_picture(&self) -> Result<Vec<f32>> {
        Ok(self
            .session()
            .encode_image(&probe_picture())
            .await?
            .embedding)
    }

    /// Compares the picture's embedding with another engine's, unless this engine is the reference.
    pub(super) async fn test_picture(&self) -> Result<()> {
        if self.loaded.is_reference {
            return Ok(());
        }
        let expected = self
            .expected
            .as_ref()
            .and_then(|expected| expected.picture.as_deref());
        let Some(expected) = expected else {
            return Err(Error::Engine(
                "no other engine has told its embedding of a picture with these weights".to_owned(),
            ));
        };
        self.compare_with_reference(&self.probe_picture().await?, expected)?;
        Ok(())
    }

    /// Distance of an embedding from that of the reference engine, if it is within the tolerance.
    pub(super) fn compare_with_reference(
        &self,
        found: &[f32],
        expected: &[f32],
    ) -> Result<SelfTest> {
        trusted(SelfTest {
            max_relative_error: distance(found, expected),
            tolerance: self.loaded.tolerance,
        })
    }

    /// Encodings of the golden captions, which are computed once.
    pub(super) async fn golden_texts(&self, captions: &[String]) -> Result<Vec<TextEncoding>> {
        let start = now_millis();
        let texts = self.encode(captions).await?;
        let cold_millis = self.cold_millis.get();
        self.cold_millis
            .set(cold_millis.or(Some(now_millis() - start)));
        Ok(texts)
    }

    /// Compares the model's readings of captions with its golden values, if it has any.
    pub(super) async fn test_text(&self) -> Result<Option<SelfTest>> {
        let session = self.session();
        let Some(golden) = &session.manifest().golden else {
            return Ok(None);
        };
        let texts = self.golden_texts(&golden.captions).await?;
        trusted(session.self_test_text(&texts, self.loaded.tolerance)?).map(Some)
    }

    /// Compares a golden caption that is read alone, as when somebody types: a GPU has other shaders for other shapes.
    pub(super) async fn test_alone(&self) -> Result<()> {
        let session = self.session();
        let golden = session.manifest().golden.as_ref();
        let Some(first) = golden.and_then(|golden| golden.captions.get(..1)) else {
            return Ok(());
        };
        let texts = session.encode_text(first).await?;
        trusted(session.self_test_text(&texts, self.loaded.tolerance)?).map(drop)
    }

    /// Whether captions are answered as `OpenAI`'s ViT-B/32 is known to.
    ///
    /// # Errors
    ///
    /// A model that says it is that one and answers otherwise.
    pub(super) async fn is_vit_b_32(&self) -> Result<bool> {
        let WeightStore::Original(original) = &self.weights else {
            return Ok(false);
        };
        let session = self.session();
        let published = Published::vit_b_32()?;
        let texts = session.encode_text(&published.captions).await?;
        let tolerance = match session.format() {
            WeightFormat::Tensor | WeightFormat::Packed(_) => Tolerance::ORIGINAL,
            WeightFormat::PackedInt8(_) => Tolerance::INT8,
        };
        let worst = published.worst(tolerance, &texts, None);
        if self.claims_vit_b_32() && worst > 1.0 {
            if self.loaded.is_reference {
                original.forget_text().await;
            }
            return Err(Error::Engine(format!(
                "these weights say that they are OpenAI's ViT-B/32, but their answers miss the published ones by {worst:.1} \
                 times what is allowed"
            )));
        }
        Ok(worst <= 1.0)
    }

    /// Compares the embedding of the published picture, where the model says that it is `OpenAI`'s ViT-B/32. Only the
    /// reference engine does so: the others are compared with it.
    ///
    /// # Errors
    ///
    /// Another embedding; the image encoder that the browser keeps is deleted then.
    pub(super) async fn test_published_picture(&self) -> Result<()> {
        let WeightStore::Original(original) = &self.weights else {
            return Ok(());
        };
        if !self.loaded.is_reference || !self.claims_vit_b_32() {
            return Ok(());
        }
        let picture = Published::picture()?;
        let picture = self.session().encode_image(&picture).await?;
        let outcome = Published::vit_b_32()?.check_picture(&picture);
        if outcome.is_err() {
            original.forget_image().await;
        }
        outcome
    }

    /// Whether the model comes from the hub under the name of `OpenAI`'s ViT-B/32.
    fn claims_vit_b_32(&self) -> bool {
        self.session().manifest().name == Hub::vit_b_32().id.replace('/', "-")
    }
}

/// The picture by which engines are compared: colours that change in both directions.
pub(super) fn probe_picture() -> RgbPixels {
    let level = |at: usize| u8::try_from(at % 256).unwrap_or_default();
    let pixel = |(x, y): (usize, usize)| [level(x), level(y), level(x * y / 16)];
    let places = (0..PROBE_SIDE).flat_map(|y| (0..PROBE_SIDE).map(move |x| (x, y)));
    RgbPixels {
        width: PROBE_SIDE,
        height: PROBE_SIDE,
        pixels: places.flat_map(pixel).collect(),
    }
}

/// Euclidean distance of two unit vectors; infinite if their dimensions differ.
fn distance(found: &[f32], expected: &[f32]) -> f64 {
    if found.len() != expected.len() {
        return f64::INFINITY;
    }
    let squares = found
        .iter()
        .zip(expected)
        .map(|(found, expected)| f64::from(found - expected).powi(2));
    squares.sum::<f64>().sqrt()
}
