//! The two adapters of an encoder as one file: a safetensors file whose header holds their description and golden κ.
//!
//! It lets a model that came without adapters have a κ, such as CLIP out of another program's file.

use serde::{Deserialize, Serialize};

use super::manifest::Provenance;
use super::shard::{Precision, metadata, read, write_with_metadata};
use super::size_limits::check_adapter;
use crate::error::{Error, Result, refuse, refuse_if};
use crate::model::adapter::{AdapterConfig, Family, PerFamily};
use crate::model::parameters::TensorRecord;
use crate::protocol::too_long;

/// The file's name in a model folder.
pub const FILE: &str = "adapters.safetensors";
/// The version of the format that this code reads and writes.
pub const FORMAT: u32 = 1;
/// The name of the description in the file's header.
const DESCRIPTION: &str = "kappascope-adapters";
/// Prefix of the names of each family's tensors.
const PREFIXES: PerFamily<&str> = PerFamily {
    vmf: "vmf.",
    power_spherical: "power_spherical.",
};

/// Adapters with their description.
#[derive(Debug, Clone, PartialEq)]
pub struct AdapterFile {
    /// Sizes, provenance and answers of the adapters.
    pub about: About,
    /// Tensors of the adapters, as a manifest's shards name them.
    pub records: PerFamily<Vec<TensorRecord>>,
}

/// Description in the file's header: sizes, reference uncertainty, golden κ and provenance of the adapters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of the format.
    pub format: u32,
    /// A title of encoder and adapters for people.
    pub title: String,
    /// Sizes of each adapter.
    pub adapters: PerFamily<AdapterConfig>,
    /// 1/κ of the reference captions, ascending.
    pub reference_uncertainty: PerFamily<Vec<f64>>,
    /// Captions whose κ identifies the encoder that the adapters were fitted on.
    pub captions: Vec<String>,
    /// κ of each of the captions.
    pub concentration: PerFamily<Vec<f64>>,
    /// Command, seed, commit and date of the adapters.
    pub provenance: Provenance,
}

impl About {
    fn check(&self) -> Result<()> {
        refuse_if!(
            self.format != FORMAT,
            "format {} of the adapter file, expected {FORMAT}",
            self.format
        );
        check_adapter(&self.adapters.vmf)?;
        check_adapter(&self.adapters.power_spherical)?;
        let n_captions = self.captions.len();
        let PerFamily {
            vmf,
            power_spherical,
        } = &self.concentration;
        refuse_if!(
            n_captions == 0 || vmf.len() != n_captions || power_spherical.len() != n_captions,
            "κ of {} and {} captions in the adapter file, expected {n_captions} and at least one",
            vmf.len(),
            power_spherical.len()
        );
        if let Some(problem) = self.captions.iter().find_map(|caption| too_long(caption)) {
            refuse!("captions of the adapter file: {problem}");
        }
        Ok(())
    }
}

impl AdapterFile {
    /// Bytes of the file: safetensors of 16-bit floats, with the description as JSON in the header.
    ///
    /// # Errors
    ///
    /// A tensor whose values do not fill its shape.
    pub fn write(&self) -> Result<Vec<u8>> {
        let mut records = Vec::new();
        for family in Family::ALL {
            let (prefix, of_family) = (PREFIXES.get(family), self.records.get(family));
            records.extend(of_family.iter().map(|record| TensorRecord {
                name: format!("{prefix}{}", record.name),
                ..record.clone()
            }));
        }
        let about = serde_json::to_string(&self.about);
        let about = about.map_err(|error| Error::Weights(format!("adapter file: {error}")))?;
        write_with_metadata(&records, Precision::F16, Some((DESCRIPTION, about)))
    }

    /// Adapters and their description from the bytes of a file that [`write`](Self::write) made.
    ///
    /// # Errors
    ///
    /// A file that is not safetensors, or not one of adapters; a tensor that belongs to neither.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let about = metadata(bytes, DESCRIPTION)?.ok_or_else(|| {
            Error::Weights(format!(
                "not an adapter file: its header holds no “{DESCRIPTION}”, expected {FILE} of train adapt or train export"
            ))
        })?;
        let about: About = serde_json::from_str(&about)
            .map_err(|error| Error::Weights(format!("description of the adapters: {error}")))?;
        about.check()?;
        let mut records = PerFamily::<Vec<TensorRecord>>::default();
        for mut record in read(bytes)? {
            let name = |prefix| record.name.strip_prefix(prefix).map(str::to_owned);
            let (name, of_family) = match (name(PREFIXES.vmf), name(PREFIXES.power_spherical)) {
                (Some(name), _) => (name, &mut records.vmf),
                (_, Some(name)) => (name, &mut records.power_spherical),
                _ => refuse!("{}: a tensor of neither adapter", record.name),
            };
            record.name = name;
            of_family.push(record);
        }
        Ok(Self { about, records })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::adapter::MeanDirection;
    use crate::weights::shard::write;

    fn both<T>(vmf: T, power_spherical: T) -> PerFamily<T> {
        PerFamily {
            vmf,
            power_spherical,
        }
    }

    fn file() -> AdapterFile {
        let sizes = AdapterConfig {
            embed_dim: 2,
            hidden_width: 3,
            hidden_layers: 1,
            mean_direction: MeanDirection::Learned,
        };
        let record = TensorRecord {
            name: "logit_scale".to_owned(),
            shape: vec![1],
            values: vec![2.0],
        };
        AdapterFile {
            about: About {
                format: FORMAT,
                title: "Test".to_owned(),
                adapters: both(sizes.clone(), sizes),
                reference_uncertainty: both(vec![0.1, 0.2], vec![0.3]),
                captions: vec!["a star".to_owned()],
                concentration: both(vec![5.0], vec![6.0]),
                provenance: Provenance::default(),
            },
            records: both(vec![record.clone()], vec![record]),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = file().write().expect("a file");
        assert_eq!(AdapterFile::read(&bytes), Ok(file()), "there and back");
    }

    #[test]
    fn other_safetensors_are_no_adapters() {
        let bytes = write(&file().records.vmf, Precision::F16).expect("a shard");
        let error = AdapterFile::read(&bytes).expect_err("a shard of something");
        assert!(error.to_string().contains("not an adapter file"), "{error}");
        let error = AdapterFile::read(b"a picture").expect_err("no safetensors");
        assert!(error.to_string().contains("not a safetensors"), "{error}");
    }

    #[test]
    fn a_file_of_another_format_or_without_its_answers_is_refused() {
        let mut newer = file();
        newer.about.format = FORMAT + 1;
        let mut silent = file();
        silent.about.concentration.vmf.clear();
        let mut huge = file();
        huge.about.adapters.power_spherical.hidden_layers = usize::MAX;
        let mut long = file();
        long.about.captions = vec!["a".repeat(2001)];
        for (file, word) in [
            (newer, "format 2"),
            (silent, "κ of 0"),
            (huge, "hidden_layers"),
            (long, "a caption of 2001 characters"),
        ] {
            let bytes = file.write().expect("a file");
            let error = AdapterFile::read(&bytes).expect_err("not to be used");
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn a_tensor_of_neither_adapter_is_named() {
        let mut records = file().records.vmf;
        records[0].name = "visual.proj".to_owned();
        let about = serde_json::to_string(&file().about).expect("JSON");
        let bytes = write_with_metadata(&records, Precision::F16, Some((DESCRIPTION, about)));
        let error = AdapterFile::read(&bytes.expect("a file")).expect_err("a foreign tensor");
        assert!(error.to_string().contains("visual.proj"), "{error}");
    }
}
