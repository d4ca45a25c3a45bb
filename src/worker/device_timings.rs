//! Times of the loaded model on this device, for captions and a picture whose encodings are never taken from memory.
//! The self-test has warmed the engine, so its own captions are the only ones of which a cold time is known.

use super::model::Model;
use super::probes::probe_picture;
use super::worker_scope::{heartbeat, now_millis};
use crate::error::Result;
use crate::protocol::{DeviceTiming, PROBE};

/// Passes of each kind, of which the median is given.
const N_PASSES: usize = 5;

/// Captions in the largest pass.
const N_CAPTIONS: usize = 8;

impl Model {
    /// Times captions, and a picture where the image encoder is loaded.
    pub(super) async fn device_timings(&self) -> Result<Vec<DeviceTiming>> {
        let session = self.session();
        // They begin differently, so that none shares the work of another.
        let captions: Vec<String> = (1..=N_CAPTIONS).map(|n| format!("{n} {PROBE}")).collect();
        let one = timing("one caption of eleven words", async || {
            session.encode_text(&captions[..1]).await.map(drop)
        });
        let eight = timing("eight such captions", async || {
            session.encode_text(&captions).await.map(drop)
        });
        let mut timings = vec![one.await?, eight.await?];
        let golden = session.manifest().golden.as_ref();
        if let Some((golden, first_millis)) = golden.zip(self.cold_millis.get()) {
            let work = format!(
                "{} captions of the self-test, the first that the engine read",
                golden.captions.len()
            );
            let warm = timing(&work, async || {
                session.encode_text(&golden.captions).await.map(drop)
            });
            timings.push(DeviceTiming {
                first_millis,
                ..warm.await?
            });
        }
        if session.has_vision() {
            let picture = probe_picture();
            let picture = timing("one picture, decoded", async || {
                session.encode_image(&picture).await.map(drop)
            });
            timings.push(picture.await?);
        }
        Ok(timings)
    }
}

async fn timing(work: &str, mut pass: impl AsyncFnMut() -> Result<()>) -> Result<DeviceTiming> {
    let mut millis = Vec::with_capacity(N_PASSES);
    for _ in 0..N_PASSES {
        heartbeat();
        let start = now_millis();
        pass().await?;
        millis.push(now_millis() - start);
    }
    let first_millis = millis[0];
    millis.sort_by(f64::total_cmp);
    Ok(DeviceTiming {
        work: work.to_owned(),
        first_millis,
        median_millis: millis[N_PASSES / 2],
    })
}
