//! The tree of the beginnings of captions, in which captions that begin alike share their common tokens.

use std::collections::HashMap;
use std::iter::successors;

/// The distinct beginnings of captions: a node for each, which holds the beginning's last token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenTree {
    token_ids: Vec<u32>,
    /// Parent of each node: the beginning that the node lengthens by its token. Its index is less than the node's.
    parents: Vec<Option<usize>>,
    /// Place of a node's token in each caption that begins so.
    positions: Vec<usize>,
    ends: Vec<usize>,
}

impl TokenTree {
    /// The tree of captions' token ids.
    ///
    /// # Panics
    ///
    /// If a caption has no token.
    #[must_use]
    pub fn new<'a>(captions: impl IntoIterator<Item = &'a [u32]>) -> Self {
        let mut tree = Self::default();
        let mut known = HashMap::new();
        for caption in captions {
            let mut parent = None;
            for (position, &id) in caption.iter().enumerate() {
                let node = known.entry((parent, id)).or_insert_with(|| {
                    tree.token_ids.push(id);
                    tree.parents.push(parent);
                    tree.positions.push(position);
                    tree.token_ids.len() - 1
                });
                parent = Some(*node);
            }
            tree.ends.push(parent.expect("a caption has tokens"));
        }
        tree
    }

    /// Number of distinct beginnings: the rows that run through the transformer.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.token_ids.len()
    }

    /// Token id of each node.
    #[must_use]
    pub fn token_ids(&self) -> &[u32] {
        &self.token_ids
    }

    /// Place of each node's token in its captions, from zero.
    #[must_use]
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Node at which each caption ends, in the order of the captions.
    #[must_use]
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Whether a transformer of this width takes less time for the tree than for all captions, each padded to the
    /// longest.
    ///
    /// Attention to as many tokens as the width takes a token about as long as all matrices do (`benches/text.rs`, 169
    /// and 337 nodes at 512): more than its sixth of the multiplications, because of its bias and softmax.
    #[must_use]
    pub fn saves(&self, width: usize) -> bool {
        let cost = |n_rows: usize, n_seen: usize| n_rows * (width + n_seen);
        let longest = self.positions.iter().max().map_or(0, |last| last + 1);
        let n_nodes = self.n_nodes();
        cost(n_nodes, n_nodes) < cost(self.ends.len() * longest, longest)
    }

    /// A node and those before it in its captions, back to the first token.
    pub fn path(&self, node: usize) -> impl Iterator<Item = usize> {
        successors(Some(node), |node| self.parents[*node])
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn spelt(tree: &TokenTree, node: usize) -> Vec<u32> {
        let mut ids: Vec<u32> = tree.path(node).map(|node| tree.token_ids[node]).collect();
        ids.reverse();
        ids
    }

    fn tree_of(captions: &[Vec<u32>]) -> TokenTree {
        TokenTree::new(captions.iter().map(Vec::as_slice))
    }

    proptest! {
        #[test]
        fn paths_spell_the_captions_and_nodes_are_their_distinct_beginnings(
            captions in vec(vec(0_u32..4, 1..8), 0..12),
        ) {
            let tree = tree_of(&captions);
            let spelt_captions: Vec<_> = tree.ends().iter().map(|end| spelt(&tree, *end)).collect();
            prop_assert_eq!(&spelt_captions, &captions, "in order");
            let mut beginnings: Vec<&[u32]> = captions
                .iter()
                .flat_map(|caption| (1..=caption.len()).map(|n| &caption[..n]))
                .collect();
            beginnings.sort_unstable();
            beginnings.dedup();
            let mut nodes: Vec<_> = (0..tree.n_nodes()).map(|node| spelt(&tree, node)).collect();
            nodes.sort_unstable();
            prop_assert_eq!(nodes, beginnings, "each once");
            for node in 0..tree.n_nodes() {
                let n_before = tree.path(node).count() - 1;
                prop_assert_eq!(tree.positions()[node], n_before, "place of node {}", node);
            }
        }
    }

    #[test]
    fn every_beginning_of_a_caption_adds_an_end_and_no_more() {
        let (start, end) = (100, 101);
        let captions: Vec<Vec<u32>> = (1..=12)
            .map(|n| [start].into_iter().chain(1..=n).chain([end]).collect())
            .collect();
        let tree = tree_of(&captions);
        assert_eq!(tree.n_nodes(), 25, "a start, twelve words, twelve ends");
    }

    #[test]
    fn a_tree_is_worth_it_where_captions_share_or_differ_in_length() {
        let captions = |n: u32, step: u32| -> Vec<Vec<u32>> {
            (0..n)
                .map(|i| (step * i..step * i + 15).collect())
                .collect()
        };
        assert!(!tree_of(&captions(1, 0)).saves(512), "one caption");
        assert!(!tree_of(&captions(32, 100)).saves(512), "nothing shared");
        assert!(tree_of(&captions(2, 0)).saves(512), "the same twice");
        let lengths = tree_of(&[vec![0; 15], vec![1; 3]]);
        assert!(lengths.saves(512), "18 nodes for 30 rows");
    }

    #[test]
    fn a_caption_given_twice_is_one() {
        let tree = tree_of(&[vec![5, 1, 6], vec![5, 2, 6], vec![5, 1, 6]]);
        assert_eq!(tree.n_nodes(), 5, "nothing is added");
        assert_eq!(tree.ends(), [2, 4, 2], "the same end");
    }
}
