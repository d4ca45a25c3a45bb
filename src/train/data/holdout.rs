//! Splits of data sets that come without one.

use rand::seq::SliceRandom as _;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

use super::{Listing, Splits};

/// At most `n` pictures, chosen by `seed`, in their old order.
#[must_use]
pub fn take(mut listing: Listing, n: Option<usize>, seed: u64) -> Listing {
    if let Some(n) = n.filter(|n| *n < listing.items.len()) {
        let mut chosen = shuffled(listing.items.len(), seed);
        chosen.truncate(n);
        keep(&mut listing, &chosen);
    }
    listing
}

/// Holds `share` of the pictures out, chosen by `seed`, to measure on.
#[must_use]
pub fn hold_out(listing: Listing, share: f64, seed: u64) -> Splits {
    let n = listing.items.len();
    let order = shuffled(n, seed);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count is a count"
    )]
    let n_test = (n as f64 * share.clamp(0.0, 1.0)).round() as usize;
    let (mut test, mut train) = (Listing::from(listing.items.clone()), listing);
    keep(&mut test, &order[..n_test]);
    keep(&mut train, &order[n_test..]);
    let notes = vec![format!(
        "{n_test} of {n} pictures are held out by seed {seed}"
    )];
    Splits { train, test, notes }
}

fn keep(listing: &mut Listing, chosen: &[usize]) {
    let mut is_chosen = vec![false; listing.items.len()];
    for &i in chosen {
        is_chosen[i] = true;
    }
    let mut is_chosen = is_chosen.into_iter();
    listing.items.retain(|_| is_chosen.next() == Some(true));
}

fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut rng);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::{Item, ItemCaption, Picture};

    fn listing(n: usize) -> Listing {
        let picture = |i: usize| Picture::File(i.to_string().into());
        let item = |i| Item::new(i, picture(i), vec![ItemCaption::plain("a caption")]);
        (0..n).map(item).collect::<Vec<_>>().into()
    }

    fn ids(listing: &Listing) -> Vec<usize> {
        let ids = listing.items.iter().map(|item| item.id.parse());
        ids.map(|id| id.expect("a number")).collect()
    }

    #[test]
    fn what_is_held_out_is_not_trained_on_and_nothing_is_lost() {
        let splits = hold_out(listing(50), 0.1, 3);
        let (train, test) = (ids(&splits.train), ids(&splits.test));
        assert_eq!((train.len(), test.len()), (45, 5), "a tenth");
        let mut all = [train, test.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..50).collect::<Vec<_>>(), "each once");
        let again = hold_out(listing(50), 0.1, 3);
        assert_eq!(ids(&again.test), test, "the same by the same seed");
        let other = hold_out(listing(50), 0.1, 4);
        assert_ne!(ids(&other.test), test, "others by another");
    }

    #[test]
    fn a_sample_keeps_the_order() {
        let sample = ids(&take(listing(50), Some(7), 0));
        assert_eq!(sample.len(), 7, "as many as asked for");
        assert!(sample.is_sorted(), "in order: {sample:?}");
        assert_eq!(take(listing(3), Some(7), 0), listing(3), "no more to take");
    }
}
