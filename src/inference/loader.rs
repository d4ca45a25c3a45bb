//! Loading of weights from their source into a model, one tensor after the other.

use crate::device::Device;
use crate::error::Result;
use crate::model::adapter::{Adapter, PerFamily};
use crate::model::parameters::{Filling, Parameters, WeightFormat};
use crate::protocol::Stage;
use crate::weights::manifest::{FileEntry, Manifest, Part};
use crate::weights::shard::Joiner;

use super::Source;

/// Reads a manifest's files one after the other and counts their bytes.
pub(super) struct Loader<'a, S, P> {
    pub(super) manifest: &'a Manifest,
    pub(super) source: &'a S,
    pub(super) format: WeightFormat,
    pub(super) loaded_bytes: u64,
    pub(super) on_progress: P,
}

impl<S: Source, P: FnMut(Stage, u64, u64)> Loader<'_, S, P> {
    pub(super) async fn file(&mut self, stage: Stage, entry: &FileEntry) -> Result<Vec<u8>> {
        self.report(stage, 0);
        let bytes = self.source.read_verified(entry).await?;
        self.report(stage, entry.bytes);
        Ok(bytes)
    }

    /// Reports the progress of the load, which has `n_bytes` more than before.
    fn report(&mut self, stage: Stage, n_bytes: u64) {
        self.loaded_bytes += n_bytes;
        (self.on_progress)(stage, self.loaded_bytes, self.manifest.weights_bytes());
    }

    /// The model with the values of one part; beside them this has no more than one file or one tensor in memory.
    pub(super) async fn fill<M: Parameters>(
        &mut self,
        stage: Stage,
        part: Part,
        model: M,
    ) -> Result<M> {
        if self.manifest.shards.is_empty() {
            return self.fill_by_name(model).await;
        }
        let mut filling = Filling::new(model, self.format);
        let mut joiner = Joiner::new(self.manifest.shards(part));
        for shard in self.manifest.shards(part) {
            self.report(stage, 0);
            let mut take = |tensor| match joiner.put(tensor)? {
                Some(whole) => filling.put(whole),
                None => Ok(()),
            };
            self.source.shard(shard, &mut take).await?;
            self.report(stage, shard.entry.bytes);
        }
        filling.finish()
    }

    /// The model filled with the tensors of another program's checkpoint, asked for by name.
    async fn fill_by_name<M: Parameters>(&self, model: M) -> Result<M> {
        let shapes = model.named_shapes();
        let mut filling = Filling::new(model, self.format);
        for (name, shape) in shapes {
            filling.put(self.source.tensor(&name, &shape).await?)?;
        }
        filling.finish()
    }

    pub(super) async fn adapters(&mut self, device: &Device) -> Result<Option<PerFamily<Adapter>>> {
        let Some(configs) = &self.manifest.adapters else {
            return Ok(None);
        };
        let PerFamily {
            vmf,
            power_spherical,
        } = configs.as_ref().map(|sizes| sizes.init(device));
        let (stage, of_power_spherical) = (Stage::Adapters, Part::AdapterPowerSpherical);
        Ok(Some(PerFamily {
            vmf: self.fill(stage, Part::AdapterVmf, vmf).await?,
            power_spherical: self
                .fill(stage, of_power_spherical, power_spherical)
                .await?,
        }))
    }
}
