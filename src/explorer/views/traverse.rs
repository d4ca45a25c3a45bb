//! The view of traversals: the captions met on the way from a picture's best caption towards a vaguer root.

use crate::explorer::readings::cache::ReadingCache;
use crate::explorer::readings::caption_view::CaptionView;
use crate::explorer::readings::pair_view::PairView;
use crate::numerics::{Family, VonMisesFisher};

/// Steps between a start and its root, as in `ProLIP`'s evaluation.
const N_STEPS: usize = 50;
/// Captions of a pool at most: each is compared with each other.
const MAX_POOL: usize = 60;
/// The caption without words, whose embedding is the root of the traversal between points.
const NO_WORDS: &str = "";
/// The family of traversals: products of power-spherical densities have no closed form.
const FAMILY: Family = Family::VonMisesFisher;

/// Captions that may be met: the one without words, the page's own, and those written for its pictures.
pub fn pool(own: &[String], written: &[String]) -> Vec<String> {
    let mut pool = vec![NO_WORDS.to_owned()];
    for caption in own.iter().chain(written) {
        if pool.len() < MAX_POOL && !pool.contains(caption) {
            pool.push(caption.clone());
        }
    }
    pool
}

/// A caption that is met.
#[derive(Debug, Clone, PartialEq)]
pub struct VisitedCaption {
    /// Numbers of the caption under von Mises–Fisher.
    pub caption: CaptionView,
    /// Numbers of the caption for the picture.
    pub pair: PairView,
    /// Share of the way at which it is first met, from 0 to 1.
    pub share: f64,
}

/// The way from a start to a root.
#[derive(Debug, Clone, PartialEq)]
pub struct Traversal {
    /// The root: the caption towards which it goes.
    pub root: String,
    /// The captions met, in order, each once.
    pub met: Vec<VisitedCaption>,
}

impl Traversal {
    /// The traversal without κ: towards the embedding of no words, each step at the caption of the greatest cosine.
    pub fn between_points(cache: &ReadingCache, pool: &[String], image: &str) -> Option<Self> {
        let pool = &read(cache, pool)[..];
        let start = best_of(cache, pool, image)?;
        let cosine = |a: &str, b: &str| Some(cache.relation(a, b)?.cosine);
        // The length of the point between the two is the same for all captions.
        let near = |caption: &str, share: f64| {
            let (own, roots) = (cosine(start, caption)?, cosine(NO_WORDS, caption)?);
            Some((1.0 - share) * own + share * roots)
        };
        walk(cache, pool, image, NO_WORDS, near)
    }

    /// The traversal between distributions: towards the vaguest caption that includes the first. The natural parameter
    /// κμ goes in a straight line, and each step is at the caption of the least divergence from the distribution there.
    pub fn between_distributions(
        cache: &ReadingCache,
        pool: &[String],
        image: &str,
    ) -> Option<Self> {
        let pool = &read(cache, pool)[..];
        let start = best_of(cache, pool, image)?;
        let root = root_of(cache, pool, start)?;
        let cosine = |a: &str, b: &str| Some(cache.relation(a, b)?.mean_direction_cosine.vmf);
        let [first, last] = [distribution(cache, start)?, distribution(cache, root)?];
        let apart = cosine(start, root)?;
        let near = |caption: &str, share: f64| {
            let a = (1.0 - share) * first.concentration();
            let b = share * last.concentration();
            let length = (a * a + b * b + 2.0 * a * b * apart).max(0.0).sqrt();
            let towards = a * cosine(start, caption)? + b * cosine(root, caption)?;
            let there = VonMisesFisher::new(first.embed_dim(), length);
            Some(-there.kl_to(&distribution(cache, caption)?, towards / length))
        };
        walk(cache, pool, image, root, near)
    }

    /// Texts of the captions met.
    pub fn texts(&self) -> Vec<&str> {
        let met = self.met.iter();
        met.map(|met| met.caption.caption.as_str()).collect()
    }
}

/// Agreement of the captions met with those written for the picture: how many are both, are met, are written.
pub fn agreement(traversal: &Traversal, written: &[String]) -> [usize; 3] {
    let met = traversal.texts();
    let is_met = |caption: &&String| met.contains(&caption.as_str());
    let n_both = written.iter().filter(is_met).count();
    [n_both, met.len(), written.len()]
}

/// Inclusion of one caption's distribution in another's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inclusion {
    /// Mean evidence over a blind guess in nats under the outer distribution, over pictures that are likely under the
    /// inner one.
    pub nats: f64,
    /// `ProLIP`'s test: above zero where the inner distribution is the narrower one.
    pub test: f64,
}

impl Inclusion {
    /// Inclusion of `inner` in `outer`, where both are known.
    pub fn of(cache: &ReadingCache, inner: &str, outer: &str) -> Option<Self> {
        let cosine = cache.relation(inner, outer)?.mean_direction_cosine.vmf;
        let [inner, outer] = [distribution(cache, inner)?, distribution(cache, outer)?];
        Some(Self {
            nats: inner.inclusion_in(&outer, cosine),
            test: inner.inclusion_test(&outer, cosine),
        })
    }

    /// Whether the inner distribution is narrower and lies where the outer one is likelier than a blind guess.
    pub fn holds(&self) -> bool {
        self.test > 0.0 && self.nats > 0.0
    }
}

fn distribution(cache: &ReadingCache, caption: &str) -> Option<VonMisesFisher> {
    let kappa = cache.caption(caption, FAMILY)?.concentration;
    Some(VonMisesFisher::new(cache.card()?.embed_dim, kappa))
}

/// The captions that the model can read, as far as is known; the others are never met.
fn read(cache: &ReadingCache, pool: &[String]) -> Vec<String> {
    let is_unread = |caption: &String| {
        let view = cache.caption(caption, FAMILY);
        view.is_some_and(|view| view.is_unread())
    };
    let captions = pool.iter().filter(|caption| !is_unread(caption));
    captions.cloned().collect()
}

/// The likeliest caption for a picture, where traversals start: the nearest by cosine would be one that fits all
/// pictures.
fn best_of<'a>(cache: &ReadingCache, pool: &'a [String], image: &str) -> Option<&'a str> {
    greatest(pool, |caption| {
        Some(cache.pair(caption, image, FAMILY)?.nats)
    })
}

/// The vaguest caption that includes this one; this one itself where none does.
fn root_of<'a>(cache: &ReadingCache, pool: &'a [String], start: &'a str) -> Option<&'a str> {
    let includes = |caption: &str| {
        let inclusion = Inclusion::of(cache, start, caption);
        caption == start || inclusion.is_some_and(|inclusion| inclusion.holds())
    };
    let kappa = |caption: &str| Some(-cache.caption(caption, FAMILY)?.concentration);
    greatest(pool, |caption| includes(caption).then(|| kappa(caption))?)
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

/// Goes from 0 to 1 and collects each caption that is nearest somewhere.
fn walk(
    cache: &ReadingCache,
    pool: &[String],
    image: &str,
    root: &str,
    near: impl Fn(&str, f64) -> Option<f64>,
) -> Option<Traversal> {
    let mut met: Vec<VisitedCaption> = Vec::new();
    for step in 0..=N_STEPS {
        let share = step as f64 / N_STEPS as f64;
        let nearest = greatest(pool, |caption| near(caption, share))?;
        if !met.iter().any(|known| known.caption.caption == nearest) {
            met.push(VisitedCaption {
                caption: cache.caption(nearest, FAMILY)?,
                pair: cache.pair(nearest, image, FAMILY)?,
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
    use crate::explorer::readings::cache::tests::{answer_of, cache_with};
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
        let pool = captions.map(|(caption, _)| caption.to_owned()).to_vec();
        (cache_with(&answer), pool)
    }

    #[test]
    fn both_traversals_lead_from_the_narrow_to_the_wide() {
        let (cache, pool) = cache();
        let points = Traversal::between_points(&cache, &pool, "x").expect("all is known");
        assert_eq!(points.root, "", "towards no words");
        assert_eq!(points.texts(), ["narrow", "wide"], "the middle is not met");
        let found = Traversal::between_distributions(&cache, &pool, "x").expect("all is known");
        assert_eq!(found.root, "wide", "the vaguest that includes the start");
        assert_eq!(found.texts(), ["narrow", "middle", "wide"], "one by one");
        let shares: Vec<f64> = found.met.iter().map(|met| met.share).collect();
        let is_rising = shares.is_sorted_by(|a, b| a < b);
        assert!(shares[0] == 0.0 && is_rising, "from the start: {shares:?}");
    }

    #[test]
    fn a_distribution_is_included_in_the_wider_one_of_its_direction_only() {
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
        let cache = cache_with(&answer_of(&[("narrow", 30.0)], &["x"], &[0.9]));
        let between = [Traversal::between_points, Traversal::between_distributions];
        for traversal in between {
            assert_eq!(traversal(&cache, &pool, "x"), None, "no cosines");
        }
    }

    #[test]
    fn captions_met_are_counted_against_those_written() {
        let (cache, pool) = cache();
        let distributions =
            Traversal::between_distributions(&cache, &pool, "x").expect("all is known");
        let written = ["narrow", "wide", "missed"].map(str::to_owned);
        let counts = agreement(&distributions, &written);
        assert_eq!(counts, [2, 3, 3], "two of three are written");
    }

    #[test]
    fn the_pool_holds_each_caption_once_and_no_words_first() {
        let own = ["a star", "a star"].map(str::to_owned);
        let written = ["a star", "a ring"].map(str::to_owned);
        assert_eq!(pool(&own, &written), ["", "a star", "a ring"], "in order");
    }
}
