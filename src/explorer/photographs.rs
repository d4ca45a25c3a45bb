//! Sets of captions for photographs, each from the vaguest to the most specific, for models that know photographs.

/// Captions for one kind of photograph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhotographSet {
    /// Subject of the photographs.
    pub name: &'static str,
    /// The captions, the vaguest first.
    pub captions: [&'static str; 6],
}

/// The sets, in the order in which they are offered.
pub const PHOTOGRAPH_SETS: [PhotographSet; 6] = [
    PhotographSet {
        name: "Animals",
        captions: [
            "a photo",
            "an animal",
            "a dog",
            "a brown dog outdoors",
            "a brown dog running on grass",
            "a brown dog running on wet grass with a red ball in its mouth",
        ],
    },
    PhotographSet {
        name: "People",
        captions: [
            "a photo",
            "people",
            "a child",
            "a child with a bicycle",
            "a child in a yellow coat on a bicycle",
            "a child in a yellow coat riding a blue bicycle through a puddle",
        ],
    },
    PhotographSet {
        name: "Streets",
        captions: [
            "a photo",
            "a city",
            "a street",
            "a street at night",
            "a street at night in the rain",
            "a red tram on a wet street at night with people under umbrellas",
        ],
    },
    PhotographSet {
        name: "Landscapes",
        captions: [
            "a photo",
            "outdoors",
            "mountains",
            "mountains behind a lake",
            "snowy mountains behind a still lake",
            "snowy mountains mirrored in a still lake with a wooden boat in front",
        ],
    },
    PhotographSet {
        name: "Food",
        captions: [
            "a photo",
            "food",
            "a pizza",
            "a pizza on a table",
            "a pizza with olives on a wooden table",
            "a pizza with black olives and basil on a wooden table beside a glass of water",
        ],
    },
    PhotographSet {
        name: "Rooms",
        captions: [
            "a photo",
            "indoors",
            "a kitchen",
            "a kitchen with a window",
            "a small white kitchen with a window over the sink",
            "a small white kitchen with a window over the sink and a cat on the counter",
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_grows_more_specific() {
        for set in PHOTOGRAPH_SETS {
            let n_words = set.captions.map(|caption| caption.split(' ').count());
            let last = n_words.len() - 1;
            assert!(
                n_words[1..].is_sorted() && n_words[last] > 2 * n_words[0],
                "{}: {n_words:?} words",
                set.name
            );
        }
    }
}
