//! The best captions and pictures of the matrix, and which of them are as good as tied.

/// Marks of a pair that is the best of its column or of its row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BestMarks {
    /// Whether no other caption comes near it for this picture.
    pub is_best_caption: bool,
    /// Whether no other picture comes near it under this caption.
    pub is_best_picture: bool,
    /// Whether it and another caption are the best for this picture, too near each other to part.
    pub is_tied: bool,
}

/// Offset of nats that training does not determine: min(1, 1/τ), where τ is the logit scale.
pub fn free_offset(logit_scale: f64) -> f64 {
    logit_scale.recip().min(1.0)
}

/// Gives each item of the rows, one a caption, its marks by its value; values within the margin are tied, and one
/// alone is best among none.
pub(super) fn mark_best<T>(
    rows: &mut [&mut Vec<T>],
    value: impl Fn(&T) -> f64,
    margin: f64,
    set: impl Fn(&mut T, BestMarks),
) {
    let grid: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| row.iter().map(&value).collect())
        .collect();
    for (row, values) in rows.iter_mut().zip(&grid) {
        for (i, item) in row.iter_mut().enumerate() {
            let column: Vec<f64> = grid.iter().map(|row| row[i]).collect();
            set(item, marks_of(&column, values, values[i], margin));
        }
    }
}

fn marks_of(column: &[f64], row: &[f64], value: f64, margin: f64) -> BestMarks {
    let is_best = |values: &[f64]| values.len() > 1 && leads(values, value, margin);
    BestMarks {
        is_best_caption: is_best(column),
        is_best_picture: is_best(row),
        is_tied: n_above(column, value, margin) == 0 && !leads(column, value, margin),
    }
}

/// Number of values that are greater by more than the margin.
pub(in crate::explorer) fn n_above(values: &[f64], value: f64, margin: f64) -> usize {
    values
        .iter()
        .filter(|other| **other > value + margin)
        .count()
}

/// Whether a value is greater than all others by more than the margin.
fn leads(values: &[f64], value: f64, margin: f64) -> bool {
    let near = values.iter().filter(|other| **other >= value - margin);
    near.count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rank of each value of a grid within its row and its column.
    fn marks(grid: &[&[f64]], margin: f64) -> Vec<Vec<BestMarks>> {
        let mut rows: Vec<Vec<(f64, BestMarks)>> = grid
            .iter()
            .map(|row| {
                row.iter()
                    .map(|value| (*value, BestMarks::default()))
                    .collect()
            })
            .collect();
        let mut rows: Vec<&mut Vec<(f64, BestMarks)>> = rows.iter_mut().collect();
        mark_best(&mut rows, |item| item.0, margin, |item, best| item.1 = best);
        rows.iter()
            .map(|row| row.iter().map(|item| item.1).collect())
            .collect()
    }

    /// Whether each caption of one column is the best, and whether it is tied.
    fn column(values: &[f64], margin: f64) -> Vec<(bool, bool)> {
        let grid: Vec<&[f64]> = values.chunks(1).collect();
        let of_grid = marks(&grid, margin);
        let marks = of_grid.iter().flatten();
        marks
            .map(|mark| (mark.is_best_caption, mark.is_tied))
            .collect()
    }

    #[test]
    fn captions_within_the_margin_of_the_best_are_tied_with_it() {
        let (best, tied, neither) = ((true, false), (false, true), (false, false));
        assert_eq!(
            column(&[3.0, 1.5, 1.0], 1.0),
            [best, neither, neither],
            "a lead of 1.5"
        );
        assert_eq!(
            column(&[3.0, 2.5, 1.0], 1.0),
            [tied, tied, neither],
            "a lead of 0.5"
        );
        assert_eq!(column(&[0.2, 0.2], 0.0), [tied, tied], "equals");
        assert_eq!(column(&[3.0], 1.0), [neither], "best among none");
    }

    #[test]
    fn a_picture_within_the_margin_is_not_best() {
        let found = marks(&[&[1.0, 5.0], &[4.0, 3.5]], 1.0);
        let is_best = found.iter().flatten().map(|mark| mark.is_best_picture);
        assert_eq!(
            is_best.collect::<Vec<_>>(),
            [false, true, false, false],
            "{found:?}"
        );
    }

    #[test]
    fn the_free_offset_is_a_nat_at_most() {
        assert_eq!(free_offset(0.1), 1.0, "a nat weighs little");
        assert_eq!(free_offset(4.0), 0.25, "a nat weighs much");
    }
}
