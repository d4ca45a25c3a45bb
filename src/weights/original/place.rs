//! Place of one of our tensors in a foreign file: a tensor there, and the part of it that is ours.

/// Name of the foreign tensor that holds one of ours, and the cut that makes it ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ForeignPlace {
    pub(super) name: String,
    pub(super) cut: TensorCut,
}

/// Operation by which the foreign tensor becomes ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TensorCut {
    /// The foreign tensor is taken as it is.
    Whole,
    /// Rows and columns change places.
    Transposed,
    /// The part with this index, of three one above the other (query, key, value).
    Third(usize),
}

impl TensorCut {
    /// The shape of our tensor, if the foreign one can be cut this way.
    pub(super) fn shape(self, foreign: &[usize]) -> Option<Vec<usize>> {
        match (self, foreign) {
            (Self::Whole, _) => Some(foreign.to_vec()),
            (Self::Transposed, &[rows, columns]) => Some(vec![columns, rows]),
            (Self::Third(_), [rows, rest @ ..]) if rows % 3 == 0 => {
                Some([&[rows / 3], rest].concat())
            }
            _ => None,
        }
    }

    /// The shape of the foreign tensor that ours is cut from.
    pub(super) fn foreign_shape(self, ours: &[usize]) -> Vec<usize> {
        match (self, ours) {
            (Self::Transposed, &[rows, columns]) => vec![columns, rows],
            (Self::Third(_), [rows, rest @ ..]) => [&[rows * 3], rest].concat(),
            _ => ours.to_vec(),
        }
    }

    pub(super) fn apply(self, values: Vec<f32>, foreign: &[usize]) -> Vec<f32> {
        match (self, foreign) {
            (Self::Transposed, &[_, columns]) => {
                let column = |column| values[column..].iter().step_by(columns).copied();
                (0..columns).flat_map(column).collect()
            }
            (Self::Third(index), _) => {
                let third = values.len() / 3;
                values[index * third..(index + 1) * third].to_vec()
            }
            _ => values,
        }
    }
}

impl ForeignPlace {
    pub(super) fn whole(name: impl Into<String>) -> Self {
        let (name, cut) = (name.into(), TensorCut::Whole);
        Self { name, cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_and_a_transposed_matrix_are_cut_as_their_shapes_say() {
        let values: Vec<f32> = (0..6_u8).map(f32::from).collect();
        let middle = TensorCut::Third(1).apply(values.clone(), &[3, 2]);
        assert_eq!(middle, [2.0, 3.0], "the second row");
        assert_eq!(
            TensorCut::Third(1).shape(&[3, 2]),
            Some(vec![1, 2]),
            "one row"
        );
        let of_four = TensorCut::Third(1).shape(&[4, 2]);
        assert_eq!(of_four, None, "four rows have no third");
        let turned = TensorCut::Transposed.apply(values, &[3, 2]);
        assert_eq!(turned, [0.0, 2.0, 4.0, 1.0, 3.0, 5.0], "columns");
        assert_eq!(
            TensorCut::Transposed.shape(&[3, 2]),
            Some(vec![2, 3]),
            "turned"
        );
        assert_eq!(
            TensorCut::Transposed.shape(&[3]),
            None,
            "a vector does not turn"
        );
    }
}
