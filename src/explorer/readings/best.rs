//! The best captions and pictures of the matrix.

/// Whether each value of a grid is the greatest of its column, and of its row; one alone is best among none.
pub(super) fn best_of_column_and_row(grid: &[Vec<f64>]) -> Vec<Vec<[bool; 2]>> {
    let greatest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::MIN, f64::max);
    let n_columns = grid.first().map_or(0, Vec::len);
    let of_column: Vec<f64> = (0..n_columns)
        .map(|i| greatest(&mut grid.iter().map(|row| row[i])))
        .collect();
    let marks = |row: &Vec<f64>| {
        let of_row = greatest(&mut row.iter().copied());
        let mark = |(value, top): (&f64, &f64)| {
            let is_best = [value >= top, *value >= of_row];
            [is_best[0] && grid.len() > 1, is_best[1] && row.len() > 1]
        };
        row.iter().zip(&of_column).map(mark).collect()
    };
    grid.iter().map(marks).collect()
}
