//! The way from a picture's best caption towards the one that says least: which captions are met on it.

use crate::explorer::readings::cache::ReadingCache;
use crate::explorer::readings::pair::{CaptionView, PairView};
use crate::explorer::state::ExplorerState;
use crate::numerics::{Family, VonMisesFisher};

/// Steps between a start and its root, as in `ProLIP`'s evaluation.
const N_STEPS: usize = 50;
/// Captions that may be met at most; each is compared with each other.
const MAX_POOL: usize = 60;
/// The caption without words, whose embedding is the root where spread takes no part.
const NO_WORDS: &str = "";
/// The law of the ways through spreads: products of power-spherical densities have no closed form.
const LAW: Family = Family::VonMisesFisher;

/// The captions that may be met, after the one without words: the page's, and those written for its pictures.
pub fn pool(state: &ExplorerState, written: &[String]) -> Vec<String> {
    let (_, own) = state.askable();
    let mut pool = vec![NO_WORDS.to_owned()];
    for caption in own.iter().chain(written) {
        if pool.len() < MAX_POOL && !pool.contains(caption) {
            pool.push(caption.clone());
        }
    }
    pool
}

/// A caption that is met on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Met {
    /// Its numbers.
    pub caption: CaptionView,
    /// Its numbers for the picture.
    pub pair: PairView,
    /// Share of the way at which it is met first.
    pub share: f64,
}

/// A way from start to root.
#[derive(Debug, Clone, PartialEq)]
pub struct Traversal {
    /// The words towards which it goes.
    pub root: String,
    /// The captions met, in order, each once.
    pub met: Vec<Met>,
}

impl Traversal {
    /// The way that knows no κ: towards the embedding of no words at all, always at the caption of the greatest cosine.
    pub fn between_points(cache: &ReadingCache, pool: &[String], image: &str) -> Option<Self> {
        let start = best_of(cache, pool, image)?;
        let cosine = |a: &str, b: &str| Some(cache.relation(a, b)?.cosine);
        // The length of the point between the two is the same for all captions.
        let near = |caption: &str, share: f64| {
            let (own, roots) = (cosine(start, caption)?, cosine(NO_WORDS, caption)?);
            Some((1.0 - share) * own + share * roots)
        };
        walk(cache, pool, image, NO_WORDS, near)
    }

    /// The way through spreads: towards the vaguest caption that holds the first, always at the caption whose law
    /// diverges least from the one at that step, whose κμ lies on the line from the first's to the last's.
    pub fn between_laws(cache: &ReadingCache, pool: &[String], image: &str) -> Option<Self> {
        let start = best_of(cache, pool, image)?;
        let root = root_of(cache, pool, start)?;
        let law = |caption: &str| law_of(cache, caption);
        let cosine = |a: &str, b: &str| Some(cache.relation(a, b)?.mean_direction_cosine.vmf);
        let (first, last, apart) = (law(start)?, law(root)?, cosine(start, root)?);
        let near = |caption: &str, share: f64| {
            let [a, b] = [
                (1.0 - share) * first.concentration(),
                share * last.concentration(),
            ];
            let length = (a * a + b * b + 2.0 * a * b * apart).max(0.0).sqrt();
            let towards = a * cosine(start, caption)? + b * cosine(root, caption)?;
            let there = VonMisesFisher::new(first.embed_dim(), length);
            Some(-there.kl_to(&law(caption)?, towards / length))
        };
        walk(cache, pool, image, root, near)
    }

    /// The words of the captions met.
    pub fn words(&self) -> Vec<&str> {
        let words = self.met.iter().map(|met| met.caption.caption.as_str());
        words.collect()
    }
}

/// How well the captions met agree with those that were written for the picture: how many are met and written, how many
/// are met, and how many are written.
pub fn agreement(traversal: &Traversal, written: &[String]) -> [usize; 3] {
    let met = traversal.words();
    let both = written
        .iter()
        .filter(|caption| met.contains(&caption.as_str()));
    [both.count(), met.len(), written.len()]
}

/// How far one caption's law lies in another's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inclusion {
    /// Nats above uniform of the other, on average where the one has its most likely pictures.
    pub nats: f64,
    /// `ProLIP`'s test: above zero where the one is the narrower.
    pub test: f64,
}

impl Inclusion {
    /// How far `inner` lies in `outer`, where both are known.
    pub fn of(cache: &ReadingCache, inner: &str, outer: &str) -> Option<Self> {
        let cosine = cache.relation(inner, outer)?.mean_direction_cosine.vmf;
        let (inner, outer) = (law_of(cache, inner)?, law_of(cache, outer)?);
        Some(Self {
            nats: inner.inclusion_in(&outer, cosine),
            test: inner.inclusion_test(&outer, cosine),
        })
    }

    /// Whether the one is the narrower and lies where the other is likelier than chance.
    pub fn holds(&self) -> bool {
        self.test > 0.0 && self.nats > 0.0
    }
}

fn law_of(cache: &ReadingCache, caption: &str) -> Option<VonMisesFisher> {
    let kappa = cache.caption(caption, LAW)?.concentration;
    Some(VonMisesFisher::new(cache.card()?.embed_dim, kappa))
}

/// The likeliest caption for a picture, from which both ways start: by cosine it would be one that fits all pictures.
fn best_of<'a>(cache: &ReadingCache, pool: &'a [String], image: &str) -> Option<&'a str> {
    greatest(pool, |caption| Some(cache.pair(caption, image, LAW)?.nats))
}

/// The vaguest caption that holds this one; this one itself where none does.
fn root_of<'a>(cache: &ReadingCache, pool: &'a [String], start: &'a str) -> Option<&'a str> {
    let is_held = |caption: &str| {
        let inclusion = Inclusion::of(cache, start, caption);
        caption == start || inclusion.is_some_and(|inclusion| inclusion.holds())
    };
    let kappa = |caption: &str| Some(-cache.caption(caption, LAW)?.concentration);
    greatest(pool, |caption| is_held(caption).then(|| kappa(caption))?)
}

/// The caption with words that has the greatest value.
fn greatest(pool: &[String], value: impl Fn(&str) -> Option<f64>) -> Option<&str> {
    let known = pool
        .iter()
        .filter(|caption| !caption.is_empty())
        .filter_map(|caption| Some((caption, value(caption)?)));
    let (caption, _) = known.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(caption)
}

/// Goes from 0 to 1 and notes each caption that is nearest somewhere.
fn walk(
    cache: &ReadingCache,
    pool: &[String],
    image: &str,
    root: &str,
    near: impl Fn(&str, f64) -> Option<f64>,
) -> Option<Traversal> {
    let mut met: Vec<Met> = Vec::new();
    for step in 0..=N_STEPS {
        let share = step as f64 / N_STEPS as f64;
        let nearest = greatest(pool, |caption| near(caption, share))?;
        if !met.iter().any(|known| known.caption.caption == nearest) {
            met.push(Met {
                caption: cache.caption(nearest, LAW)?,
                pair: cache.pair(nearest, image, LAW)?,
                share,
            });
        }
    }
    Some(Traversal {
        root: root.to_owned(),
        met,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::readings::cache::AnswerSource;
    use crate::explorer::readings::cache::tests::{answer_of, card};
    use crate::protocol::{PairReading, PerFamily};

    /// Three captions along one direction, of κ 30, 10 and 1, one across it of κ 20, and no words with κ 0.5; the
    /// picture lies in that direction.
    fn cache() -> (ReadingCache, Vec<String>) {
        let captions = [
            ("", 0.5),
            ("narrow", 30.0),
            ("middle", 10.0),
            ("wide", 1.0),
            ("other", 20.0),
        ];
        let cosine = |a: usize, b: usize| match (a, b) {
            _ if a == b => 1.0,
            (0, 3) | (3, 0) => 0.9,
            (0, _) | (_, 0) => 0.3,
            (4, _) | (_, 4) => -0.2,
            (1, 2) | (2, 1) | (2, 3) | (3, 2) => 0.8,
            _ => 0.6,
        };
        let mut answer = answer_of(&captions, &["x"], &[0.1, 0.9, 0.7, 0.4, -0.2]);
        answer.relations = (0..25)
            .map(|i| PairReading {
                cosine: cosine(i / 5, i % 5),
                mean_direction_cosine: PerFamily {
                    vmf: cosine(i / 5, i % 5),
                    power_spherical: 0.0,
                },
            })
            .collect();
        let mut cache = ReadingCache::default();
        cache.learn(&card(), &answer, AnswerSource::Engine);
        (
            cache,
            captions.map(|(caption, _)| caption.to_owned()).to_vec(),
        )
    }

    #[test]
    fn both_ways_lead_from_the_narrow_to_the_wide() {
        let (cache, pool) = cache();
        let points = Traversal::between_points(&cache, &pool, "x").expect("all is known");
        assert_eq!(points.root, "", "towards no words");
        assert_eq!(
            points.words(),
            ["narrow", "wide"],
            "and the middle is passed by"
        );
        let laws = Traversal::between_laws(&cache, &pool, "x").expect("all is known");
        assert_eq!(laws.root, "wide", "the vaguest that holds the start");
        assert_eq!(
            laws.words(),
            ["narrow", "middle", "wide"],
            "from law to law"
        );
        assert_eq!(laws.met[0].share, 0.0, "the first stands at the start");
        assert!(
            laws.met[2].share > laws.met[1].share,
            "then on: {:?}",
            laws.met
        );
    }

    #[test]
    fn a_law_is_held_by_the_wider_one_in_its_direction_only() {
        let (cache, _) = cache();
        let holds = |inner, outer| {
            let inclusion = Inclusion::of(&cache, inner, outer).expect("it is known");
            inclusion.holds()
        };
        assert!(holds("narrow", "wide"), "wider and around it");
        assert!(!holds("wide", "narrow"), "not the reverse");
        assert!(!holds("narrow", "other"), "wider, but elsewhere");
    }

    #[test]
    fn nothing_is_met_while_relations_are_unknown() {
        let (_, pool) = cache();
        let mut cache = ReadingCache::default();
        cache.learn(
            &card(),
            &answer_of(&[("narrow", 30.0)], &["x"], &[0.9]),
            AnswerSource::Engine,
        );
        assert_eq!(
            Traversal::between_points(&cache, &pool, "x"),
            None,
            "no cosines"
        );
        assert_eq!(Traversal::between_laws(&cache, &pool, "x"), None, "no laws");
    }

    #[test]
    fn captions_met_are_counted_against_those_written() {
        let (cache, pool) = cache();
        let laws = Traversal::between_laws(&cache, &pool, "x").expect("all is known");
        let written = ["narrow", "wide", "missed"].map(str::to_owned);
        assert_eq!(
            agreement(&laws, &written),
            [2, 3, 3],
            "two of three are written"
        );
    }

    #[test]
    fn the_pool_holds_each_caption_once_and_no_words_first() {
        let state = ExplorerState::new(["a star", " ", "a star"], []);
        let written = ["a star", "a ring"].map(str::to_owned);
        assert_eq!(pool(&state, &written), ["", "a star", "a ring"], "in order");
    }
}
