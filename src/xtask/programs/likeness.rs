//! An order for pieces of a file in which each stands behind pieces that it is like.
//!
//! gzip and Brotli write anew only what did not occur in the last 32 kB before. A compiler's order puts a function's
//! copies for different types far from each other; beside each other, each costs little more than its differences.

use std::cmp::Reverse;
use std::collections::VecDeque;

/// Bytes of a run: what two pieces share at the least.
const RUN: usize = 8;
/// Pieces that may hold a run: one that more of them hold is found nearby in any order.
const MOST_HOLDERS: usize = 200;
/// Bytes that a compressor looks back, less what it needs itself.
const WINDOW: usize = 30_000;
/// Bytes added to a piece's length, so that those of a few bytes do not come before all others.
const OVERHEAD: usize = 40;

/// Positions of the pieces, the longest first, and then always the one of which the greatest part occurs in the window.
pub(super) fn order_by_likeness(pieces: &[&[u8]]) -> Vec<usize> {
    let runs = SharedRuns::of(pieces);
    let mut window = Window::new(&runs, pieces);
    let mut left: Vec<usize> = (0..pieces.len()).collect();
    let longest = left.iter().max_by_key(|&&i| (pieces[i].len(), Reverse(i)));
    let mut next = longest.copied();
    let mut order = Vec::with_capacity(pieces.len());
    while let Some(piece) = next {
        order.push(piece);
        left.retain(|&i| i != piece);
        window.push(piece);
        next = left.iter().copied().reduce(|best, i| {
            let is_better = window.likeness(i) > window.likeness(best);
            if is_better { i } else { best }
        });
    }
    order
}

/// Runs of bytes that more than one piece holds.
struct SharedRuns {
    /// For each piece, the runs in it, each once.
    of_piece: Vec<Vec<usize>>,
    /// For each run, the pieces that hold it.
    holders: Vec<Vec<usize>>,
}

impl SharedRuns {
    fn of(pieces: &[&[u8]]) -> Self {
        let mut held: Vec<(&[u8], usize)> = Vec::new();
        for (piece, bytes) in pieces.iter().enumerate() {
            held.extend(bytes.windows(RUN).map(|run| (run, piece)));
        }
        held.sort_unstable();
        held.dedup();
        let mut of_piece = vec![Vec::new(); pieces.len()];
        let mut holders = Vec::new();
        for same in held.chunk_by(|one, other| one.0 == other.0) {
            if (2..=MOST_HOLDERS).contains(&same.len()) {
                let pieces: Vec<usize> = same.iter().map(|&(_, piece)| piece).collect();
                for &piece in &pieces {
                    of_piece[piece].push(holders.len());
                }
                holders.push(pieces);
            }
        }
        Self { of_piece, holders }
    }

    /// What a run counts: the less, the more pieces hold it.
    fn weight(&self, run: usize) -> u64 {
        840 / u64::from(1 + self.holders[run].len().ilog2())
    }
}

/// The pieces that were placed last, and what the others share with them.
struct Window<'a> {
    runs: &'a SharedRuns,
    pieces: &'a [&'a [u8]],
    placed: VecDeque<usize>,
    n_bytes: usize,
    /// For each run, how many of the placed pieces hold it.
    n_times: Vec<usize>,
    /// For each piece, the weights of its runs that the placed pieces hold.
    shared: Vec<u64>,
    /// For each piece, one in its length.
    per_byte: Vec<f64>,
}

impl<'a> Window<'a> {
    fn new(runs: &'a SharedRuns, pieces: &'a [&'a [u8]]) -> Self {
        let per_byte = pieces
            .iter()
            .map(|bytes| 1.0 / (bytes.len() + OVERHEAD) as f64);
        Self {
            runs,
            pieces,
            placed: VecDeque::new(),
            n_bytes: 0,
            n_times: vec![0; runs.holders.len()],
            shared: vec![0; pieces.len()],
            per_byte: per_byte.collect(),
        }
    }

    /// Which part of a piece the placed ones hold, in no unit.
    fn likeness(&self, piece: usize) -> f64 {
        self.shared[piece] as f64 * self.per_byte[piece]
    }

    /// Places a piece; those that are too far back by now are forgotten.
    fn push(&mut self, piece: usize) {
        for &run in &self.runs.of_piece[piece] {
            self.n_times[run] += 1;
            if self.n_times[run] == 1 {
                let weight = self.runs.weight(run);
                for &holder in &self.runs.holders[run] {
                    self.shared[holder] += weight;
                }
            }
        }
        self.placed.push_back(piece);
        self.n_bytes += self.pieces[piece].len();
        while self.n_bytes > WINDOW && self.placed.len() > 1 {
            if let Some(oldest) = self.placed.pop_front() {
                self.forget(oldest);
            }
        }
    }

    fn forget(&mut self, piece: usize) {
        self.n_bytes -= self.pieces[piece].len();
        for &run in &self.runs.of_piece[piece] {
            self.n_times[run] -= 1;
            if self.n_times[run] == 0 {
                let weight = self.runs.weight(run);
                for &holder in &self.runs.holders[run] {
                    self.shared[holder] -= weight;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_stands_once_beside_what_it_is_like() {
        let families = [b"add the left to the right", b"put the lid upon the box "];
        let pieces: Vec<Vec<u8>> = (0..20)
            .map(|i| [families[usize::from(i % 2)], &[b'a' + i][..]].concat())
            .collect();
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        let order = order_by_likeness(&pieces);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>(), "each of them once");
        let n_changes = order.windows(2).filter(|pair| pair[0] % 2 != pair[1] % 2);
        assert_eq!(
            n_changes.count(),
            1,
            "one family, then the other: {order:?}"
        );
    }

    #[test]
    fn pieces_that_share_nothing_keep_their_order_behind_the_longest() {
        let pieces: [&[u8]; 4] = [b"", b"one", b"twenty-seven", b"eight"];
        assert_eq!(order_by_likeness(&pieces), [2, 0, 1, 3]);
        assert!(order_by_likeness(&[]).is_empty(), "of nothing, nothing");
    }

    #[test]
    fn what_lies_too_far_back_counts_no_more() {
        let far: Vec<u8> = (0..16_000_u16).flat_map(u16::to_le_bytes).collect();
        let twice = b"some bytes that occur twice";
        let pieces: [&[u8]; 3] = [twice, &far, twice];
        let runs = SharedRuns::of(&pieces);
        let mut window = Window::new(&runs, &pieces);
        window.push(0);
        assert!(window.likeness(2) > 0.0, "the same bytes stand beside it");
        window.push(1);
        assert_eq!(window.likeness(2), 0.0, "they are too far away by now");
    }
}
