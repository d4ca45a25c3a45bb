//! The view of corruptions: its rows, and the kinds of corruption by the names that links use.

use crate::corruption::{CorruptionKind as _, ImageCorruption};

/// The page's name for the chosen picture at a severity, 0 being the picture itself.
pub fn corrupted_name(severity: usize) -> String {
    format!("corrupted-{severity}")
}

/// The row of a severity in words.
pub fn severity_text(severity: usize) -> String {
    match severity {
        0 => "none".into(),
        severity => severity.to_string(),
    }
}

/// The corruption of pictures that a link names; links from before the published severities have names of their own.
pub(in crate::explorer) fn image_corruption_of_link(name: &str) -> Option<ImageCorruption> {
    ImageCorruption::named(match name {
        "noise" => "gaussian",
        "blur" => "defocus",
        "pixelation" => "pixelate",
        "JPEG" => "jpeg",
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_from_before_the_published_severities_are_understood() {
        for (name, kind) in [
            ("noise", ImageCorruption::Gaussian),
            ("blur", ImageCorruption::Defocus),
            ("pixelation", ImageCorruption::Pixelate),
            ("JPEG", ImageCorruption::Jpeg),
            ("rotation", ImageCorruption::Rotation),
            ("occlusion", ImageCorruption::Occlusion),
        ] {
            assert_eq!(image_corruption_of_link(name), Some(kind), "harm={name}");
        }
        for &kind in ImageCorruption::ALL {
            assert_eq!(
                image_corruption_of_link(kind.name()),
                Some(kind),
                "{kind:?}"
            );
        }
    }
}
