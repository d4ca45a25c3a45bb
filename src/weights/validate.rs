//! Checks of a manifest's own consistency, before any file that it names is read.

use super::manifest::{FORMAT, FileEntry, Golden, Logits, Manifest, Part};
use super::size_limits::{MAX_FILE_BYTES, check_adapter, check_clip, check_towers};
use crate::error::{Error, Result, refuse_if};
use crate::model::adapter::{Family, PerFamily};
use crate::model::clip::{Architecture, ClipConfig};
use crate::model::encoder::{EncoderConfig, ImageTowerConfig, TextTowerConfig, TowersConfig};
use crate::protocol::{PictureSets, too_long};

/// Returns an error about the manifest unless a condition holds.
macro_rules! check {
    ($holds:expr, $($message:tt)*) => {
        refuse_if!(!($holds), "manifest: {}", format!($($message)*))
    };
}

impl Manifest {
    /// Reads the JSON of a manifest and checks it.
    ///
    /// # Errors
    ///
    /// Bytes that are not a manifest, or what [`validate`](Self::validate) refuses.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let manifest: Self = serde_json::from_slice(bytes)
            .map_err(|error| Error::Weights(format!("manifest: {error}")))?;
        manifest.validate()?;
        Ok(manifest)
    }

    /// Checks that the manifest's own numbers fit together.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, and what was expected instead.
    pub fn validate(&self) -> Result<()> {
        let found = self.format;
        check!(
            found == FORMAT,
            "format is {found}, this program reads {FORMAT}"
        );
        match &self.encoder {
            EncoderConfig::Clip(clip) => {
                check_clip(clip)?;
                validate_clip(clip)?;
            }
            EncoderConfig::Towers(towers) => {
                check_towers(towers)?;
                validate_towers(towers)?;
            }
        }
        if let Some(Logits { scale, bias }) = self.logits {
            let is_usable = scale > 0.0 && scale.is_finite() && bias.is_none_or(f64::is_finite);
            check!(is_usable, "logits: scale {scale}, bias {bias:?}");
        }
        self.validate_preprocess()?;
        self.validate_files()?;
        self.validate_parts()?;
        self.validate_adapters()?;
        let problem = self.picture_sets.as_ref().and_then(PictureSets::problem);
        if let Some(problem) = problem {
            check!(false, "picture_sets: {problem}");
        }
        self.golden.iter().try_for_each(validate_golden)
    }

    fn validate_preprocess(&self) -> Result<()> {
        let (found, expected) = (self.preprocess.image_size, self.encoder.image_size());
        check!(
            found == expected,
            "preprocess.image_size is {found}, the image tower expects {expected}"
        );
        check!(
            self.preprocess.std.iter().all(|std| *std > 0.0),
            "preprocess.std is {:?}, expected positive numbers",
            self.preprocess.std
        );
        Ok(())
    }

    fn validate_files(&self) -> Result<()> {
        let shards = self.shards.iter().map(|shard| &shard.entry);
        let golden = self.golden.iter().map(|golden| &golden.image);
        let mut files = std::iter::once(&self.tokenizer).chain(golden).chain(shards);
        files.try_for_each(validate_file)
    }

    fn validate_parts(&self) -> Result<()> {
        if self.shards.is_empty() {
            // The towers come from another program's file.
            return Ok(());
        }
        let mut parts = vec![Part::Text, Part::Image];
        if self.adapters.is_some() {
            parts.extend([Part::AdapterVmf, Part::AdapterPowerSpherical]);
        }
        for part in parts {
            check!(
                self.shards(part).next().is_some(),
                "no shard holds the part {part:?}"
            );
        }
        Ok(())
    }

    fn validate_adapters(&self) -> Result<()> {
        let Some(adapters) = &self.adapters else {
            return Ok(());
        };
        let expected = self.encoder.embed_dim();
        for family in Family::ALL {
            check_adapter(adapters.get(family))?;
            let found = adapters.get(family).embed_dim;
            check!(
                found == expected,
                "an adapter's embed_dim is {found}, the towers' is {expected}"
            );
        }
        let reference = self.reference_uncertainty.iter();
        for values in reference.flat_map(|both| [&both.vmf, &both.power_spherical]) {
            check!(values.is_sorted(), "reference_uncertainty is not ascending");
        }
        Ok(())
    }
}

fn validate_clip(clip: &ClipConfig) -> Result<()> {
    let (vision, text) = (&clip.vision_cfg, &clip.text_cfg);
    let sizes = [
        ("embed_dim", clip.embed_dim),
        ("vision_cfg.image_size", vision.image_size),
        ("vision_cfg.width", vision.width),
        ("vision_cfg.head_width", vision.head_width),
        ("vision_cfg.patch_size", vision.patch_size),
        ("text_cfg.vocab_size", text.vocab_size),
        ("text_cfg.width", text.width),
        ("text_cfg.heads", text.heads),
    ];
    for (name, size) in sizes {
        check!(size > 0, "clip.{name} is 0");
    }
    let divisions = [
        (
            "vision_cfg.image_size",
            vision.image_size,
            vision.patch_size,
        ),
        ("vision_cfg.width", vision.width, vision.head_width),
        ("text_cfg.width", text.width, text.heads),
    ];
    for (name, whole, part) in divisions {
        check!(
            whole.is_multiple_of(part),
            "clip.{name} is {whole}, expected a multiple of {part}"
        );
    }
    if clip.architecture == Architecture::SigLip {
        let (found, expected) = (clip.embed_dim, vision.width);
        check!(
            found == expected,
            "clip.embed_dim is {found}, SigLIP's image tower gives {expected}"
        );
        check!(
            !clip.quick_gelu,
            "clip.quick_gelu is true, SigLIP has another"
        );
    }
    check!(
        text.context_length >= 2,
        "clip.text_cfg.context_length is {}, expected at least a start and an end token",
        text.context_length
    );
    Ok(())
}

fn validate_towers(towers: &TowersConfig) -> Result<()> {
    let TextTowerConfig::Bert(text) = &towers.text;
    let ImageTowerConfig::EfficientNet(image) = &towers.image;
    let sizes = [
        ("embed_dim", towers.embed_dim),
        ("text.vocab_size", text.vocab_size),
        ("text.width", text.width),
        ("text.heads", text.heads),
        ("text_head.hidden_width", towers.text_head.hidden_width),
        ("image.image_size", image.image_size),
        ("image.stem_width", image.stem_width),
        ("image.width", image.width),
        ("image_head.hidden_width", towers.image_head.hidden_width),
    ];
    let exemplars = towers.exemplars.iter();
    let exemplars = exemplars.flat_map(|kept| {
        [
            ("exemplars.text", kept.text),
            ("exemplars.image", kept.image),
        ]
    });
    let stages = image.stages.iter();
    let stages = stages.flat_map(|s| [s.kernel_size, s.stride, s.expansion, s.width, s.layers]);
    let stages = stages.map(|size| ("image.stages", size));
    for (name, size) in sizes.into_iter().chain(stages).chain(exemplars) {
        check!(size > 0, "towers.{name} is 0");
    }
    let (width, heads) = (text.width, text.heads);
    check!(
        text.width.is_multiple_of(text.heads),
        "towers.text.width is {width}, expected a multiple of {heads}"
    );
    let length = text.context_length;
    check!(
        text.context_length >= 3,
        "towers.text.context_length is {length}, expected at least 3"
    );
    Ok(())
}

fn validate_file(entry: &FileEntry) -> Result<()> {
    let FileEntry {
        file,
        bytes,
        sha256,
    } = entry;
    let is_plain = !file.is_empty()
        && !file.contains(['\\', ':'])
        && file.split('/').all(|step| !matches!(step, "" | "." | ".."));
    check!(
        is_plain,
        "file is {file:?}, expected a path below the manifest's folder"
    );
    check!(*bytes > 0, "{file}: bytes is 0");
    check!(
        *bytes <= MAX_FILE_BYTES,
        "{file}: bytes is {bytes}, expected at most {MAX_FILE_BYTES}"
    );
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_hash = sha256.len() == 64 && sha256.bytes().all(is_digit);
    check!(
        is_hash,
        "{file}: sha256 is {sha256:?}, expected 64 lower-case hexadecimal digits"
    );
    Ok(())
}

fn validate_golden(golden: &Golden) -> Result<()> {
    let expected = golden.captions.len();
    check!(expected > 0, "golden.captions is empty");
    if let Some(problem) = golden.captions.iter().find_map(|caption| too_long(caption)) {
        check!(false, "golden.captions: {problem}");
    }
    let per_family = |values: &Option<PerFamily<Vec<f64>>>| {
        let lengths = values
            .iter()
            .flat_map(|both| [both.vmf.len(), both.power_spherical.len()]);
        lengths.collect()
    };
    let norms = golden.features_norm.iter().map(Vec::len).collect();
    let lengths = [
        ("cosine", vec![golden.cosine.len()]),
        ("features_norm", norms),
        ("concentration", per_family(&golden.concentration)),
        ("nats", per_family(&golden.nats)),
    ];
    for (name, lengths) in lengths {
        check!(
            lengths.iter().all(|length| *length == expected),
            "golden.{name} has {lengths:?} values, expected {expected}, one for each caption"
        );
    }
    Ok(())
}
