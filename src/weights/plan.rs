//! Plan of the bytes of a file that are needed, as one stream that can stop and go on.
//!
//! A whole file and a few tensors out of a large one are the same: ranges of the file, one after the other. How far a
//! download has come is then one number, the bytes of the stream that are kept, and nothing else has to be remembered.

use std::ops::Range;

/// Unwanted bytes between two ranges that cost less than another request.
const MAX_GAP: u64 = 64 << 10;

/// Ranges of a file, read as one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Byte ranges, ascending and apart from each other.
    ranges: Vec<Range<u64>>,
}

impl Plan {
    /// Plan to read all of a file of this size.
    #[must_use]
    pub fn whole(bytes: u64) -> Self {
        Self::of(std::iter::once(0..bytes))
    }

    /// Ranges in any order; those that touch, overlap or nearly touch become one.
    #[must_use]
    pub fn of(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        let ranges = ranges.into_iter().filter(|range| !range.is_empty());
        let mut ranges: Vec<_> = ranges.collect();
        ranges.sort_by_key(|range| (range.start, range.end));
        let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match joined.last_mut() {
                Some(last) if range.start <= last.end + MAX_GAP => {
                    last.end = last.end.max(range.end);
                }
                _ => joined.push(range),
            }
        }
        Self { ranges: joined }
    }

    /// Length of the stream in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.ranges
            .iter()
            .map(|range| range.end - range.start)
            .sum()
    }

    /// The next range of the file to ask for when `n_kept` bytes of the stream are there.
    #[must_use]
    pub fn next(&self, n_kept: u64) -> Option<Range<u64>> {
        let mut before = 0;
        self.ranges.iter().find_map(|range| {
            let bytes = range.end - range.start;
            let skipped = n_kept.saturating_sub(before);
            before += bytes;
            (skipped < bytes).then(|| range.start + skipped..range.end)
        })
    }

    /// Range of the stream that holds a range of the file, if it does.
    #[must_use]
    pub fn locate(&self, wanted: &Range<u64>) -> Option<Range<u64>> {
        let mut before = 0;
        self.ranges.iter().find_map(|range| {
            let start = before;
            before += range.end - range.start;
            let holds = range.start <= wanted.start && wanted.end <= range.end;
            let shifted = |position: u64| position - range.start + start;
            holds.then(|| shifted(wanted.start)..shifted(wanted.end))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: u64 = MAX_GAP + 1;

    #[test]
    fn ranges_that_nearly_touch_are_asked_for_together() {
        let plan = Plan::of([200..300, 0..100, 300..350, 350 + FAR..360 + FAR]);
        let n_bytes = plan.bytes();
        assert_eq!(n_bytes, 360, "the gap of a hundred bytes is fetched too");
        assert_eq!(plan.next(0), Some(0..350), "the first request");
        assert_eq!(plan.next(350), Some(350 + FAR..360 + FAR), "the second");
        assert_eq!(plan.next(360), None, "nothing is left");
    }

    #[test]
    fn a_stream_goes_on_where_it_stopped() {
        let plan = Plan::of([0..10, 10 + FAR..30 + FAR]);
        assert_eq!(plan.next(4), Some(4..10), "within the first range");
        assert_eq!(plan.next(10), Some(10 + FAR..30 + FAR), "at its end");
        assert_eq!(plan.next(25), Some(25 + FAR..30 + FAR), "within the second");
        assert_eq!(Plan::whole(7).next(3), Some(3..7), "a whole file");
    }

    #[test]
    fn bytes_of_the_file_are_found_in_the_stream() {
        let plan = Plan::of([100..110, 200 + FAR..220 + FAR]);
        assert_eq!(plan.locate(&(102..105)), Some(2..5), "in the first range");
        let second = 205 + FAR..207 + FAR;
        assert_eq!(plan.locate(&second), Some(15..17), "after the first's ten");
        assert_eq!(plan.locate(&(109..111)), None, "not fetched");
    }

    #[test]
    fn every_byte_of_every_range_comes_exactly_once() {
        let ranges = [5..9, 9 + FAR..20 + FAR, 40 + 2 * FAR..41 + 2 * FAR];
        let plan = Plan::of(ranges.clone());
        let next = |n_kept| plan.next(n_kept).expect("more is to come").start;
        let streamed: Vec<u64> = (0..plan.bytes()).map(next).collect();
        let expected: Vec<u64> = ranges.into_iter().flatten().collect();
        assert_eq!(streamed, expected, "in the order of the file");
    }
}
