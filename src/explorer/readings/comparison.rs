//! One caption and one picture under both families, side by side.

use super::caption_view::CaptionView;
use super::matrix::Readings;
use super::pair_view::PairView;
use super::snapshot::Snapshot;
use crate::explorer::state::ExplorerState;
use crate::numerics::Family;
use crate::protocol::PerFamily;

/// Numbers of a caption, and of it for a picture, under one family.
#[derive(Debug, Clone, PartialEq)]
pub struct PairNumbers {
    /// Numbers of the caption.
    pub caption: CaptionView,
    /// Numbers of the caption for the picture, with its rank and share among the captions on the page.
    pub pair: PairView,
}

/// Numbers of a caption and a picture on the page under each family; `None` where there is no answer.
pub fn compare_families(
    snapshot: &Snapshot,
    state: &ExplorerState,
    key: u64,
    image: &str,
) -> Option<PerFamily<PairNumbers>> {
    let under = |family: Family| {
        let state = ExplorerState {
            family,
            ..state.clone()
        };
        let readings = Readings::new(snapshot, &state);
        Some(PairNumbers {
            caption: readings.caption(key)?.clone(),
            pair: readings.pair(key, image)?.clone(),
        })
    };
    Some(PerFamily {
        vmf: under(Family::VonMisesFisher)?,
        power_spherical: under(Family::PowerSpherical)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::readings::cache::tests::{answer_of, card};
    use crate::explorer::state::ModelChoice;

    #[test]
    fn each_family_has_the_numbers_that_the_page_shows_when_it_is_chosen() {
        let mut state = ExplorerState::new(ModelChoice::SCENES, ["a", "b"], ["x", "y"]);
        let keys: Vec<u64> = state.captions.iter().map(|caption| caption.key).collect();
        let mut answer = answer_of(
            &[("a", 4.0), ("b", 30.0)],
            &["x", "y"],
            &[0.5, 0.2, -0.1, 0.6],
        );
        answer.captions[1].concentration.power_spherical = 12.0;
        let snapshot = Snapshot {
            card: card(),
            keys: keys.clone(),
            answer,
            recorded: false,
        };
        let compared = compare_families(&snapshot, &state, keys[1], "y").expect("it was answered");
        for family in Family::ALL {
            state.family = family;
            let readings = Readings::new(&snapshot, &state);
            let (found, expected) = (compared.get(family), readings.pair(keys[1], "y"));
            assert_eq!(Some(&found.pair), expected, "{family:?}");
            assert_eq!(
                Some(&found.caption),
                readings.caption(keys[1]),
                "{family:?}"
            );
        }
        let [vmf, power_spherical] = Family::ALL.map(|family| compared.get(family).pair.nats);
        assert_ne!(vmf, power_spherical, "they have a κ of their own");
        assert_eq!(
            compare_families(&snapshot, &state, keys[1], "z"),
            None,
            "no such picture"
        );
    }
}
