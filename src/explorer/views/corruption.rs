//! The view of corruptions: its rows, and the kinds of corruption by the names that links use.

use crate::corruption::{CorruptionKind as _, ImageCorruption};
use crate::explorer::readings::best::n_above;
use crate::explorer::text::ordinal;

/// The page's name for the chosen picture at a severity, from 1; at 0 it is the picture itself, under its own name.
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

/// Place of a caption's nats among those of all captions, itself one of them; within the margin nothing parts two.
pub fn place_text(own: f64, all: &[f64], margin: f64) -> String {
    let place = ordinal(n_above(all, own, margin) + 1);
    let is_near = |other: &&f64| (**other - own).abs() <= margin;
    let tie = match all.iter().filter(is_near).count() > 1 {
        true => "a tie for ",
        false => "",
    };
    format!("{tie}{place} of {}", all.len())
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
    fn captions_within_the_free_offset_share_their_place() {
        let all = [5.0, 4.5, 3.0, -1.0];
        for (own, expected) in [
            (5.0, "a tie for 1st of 4"),
            (4.5, "a tie for 1st of 4"),
            (3.0, "3rd of 4"),
            (-1.0, "4th of 4"),
        ] {
            assert_eq!(place_text(own, &all, 1.0), expected, "{own} nats");
        }
        assert_eq!(place_text(4.5, &all, 0.25), "2nd of 4", "half a nat parts");
        assert_eq!(place_text(0.1, &[0.1], 1.0), "1st of 1", "alone");
    }

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
