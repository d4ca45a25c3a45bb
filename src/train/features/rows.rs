//! Matrices on the host, and features with the activations that they were projected from.

use anyhow::Result;
use burn::tensor::{Device, Tensor, TensorData};

use crate::model::parameters::TensorRecord;

/// A matrix on the host, `[n, width]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// The numbers, row by row.
    pub values: Vec<f32>,
    /// Numbers in a row.
    pub width: usize,
}

impl Rows {
    /// Number of rows; 0 for a matrix without columns.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        // A matrix without columns has no rows that could be told apart.
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// The numbers of one row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..][..self.width]
    }

    /// Some of the rows, in this order.
    #[must_use]
    pub fn of(&self, rows: &[usize]) -> Self {
        let rows = rows.iter().flat_map(|row| self.row(*row));
        Self {
            values: rows.copied().collect(),
            width: self.width,
        }
    }

    /// A matrix without rows, of this width.
    #[must_use]
    pub const fn empty(width: usize) -> Self {
        let values = Vec::new();
        Self { values, width }
    }

    /// Adds rows behind those that are there.
    pub fn append(&mut self, more: Self) {
        self.width = more.width;
        self.values.extend(more.values);
    }

    /// Brings rows that were computed in another order, row `i` being that of `order[i]`, into their own.
    pub(super) fn put_back(&mut self, order: &[usize]) {
        let mut values = vec![0.0; self.values.len()];
        for (row, &at) in self.values.chunks_exact(self.width.max(1)).zip(order) {
            values[at * self.width..][..self.width].copy_from_slice(row);
        }
        self.values = values;
    }

    /// The matrix of a tensor, read back from its device.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn from_device(tensor: Tensor<2>) -> Result<Self> {
        let [_, width] = tensor.dims();
        let values = tensor.into_data().try_into_vec()?;
        Ok(Self { values, width })
    }

    /// The matrix on a device, `[n, width]`.
    #[must_use]
    pub fn to_device(&self, device: &Device) -> Tensor<2> {
        let data = TensorData::new(self.values.clone(), [self.n_rows(), self.width]);
        Tensor::from_data(data, device)
    }

    /// The matrix of a record that was read from a file.
    ///
    /// # Errors
    ///
    /// The tensor is not a matrix.
    pub(in crate::train) fn from_record(record: TensorRecord) -> Result<Self> {
        let [_, width] = <[usize; 2]>::try_from(&*record.shape)
            .map_err(|_| anyhow::anyhow!("{} is not a matrix", record.name))?;
        Ok(Self {
            values: record.values,
            width,
        })
    }

    pub(in crate::train) fn record(&self, name: &str) -> TensorRecord {
        TensorRecord {
            name: name.to_owned(),
            shape: vec![self.n_rows(), self.width],
            values: self.values.clone(),
        }
    }
}

/// Features of pictures or of captions, and the activations that the last projection made them of.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// `[n, embed_dim]`, not normalised.
    pub features: Rows,
    /// Activations that the last projection was fed, `[n, tower_width]`.
    pub activations: Rows,
    /// Spread of the unit features of each picture's augmented views, `[n, 1]`; no rows where none were embedded.
    pub view_spread: Rows,
}

impl Embedded {
    /// Features and activations of the same rows, without a spread of augmented views.
    #[must_use]
    pub const fn new(features: Rows, activations: Rows) -> Self {
        Self {
            features,
            activations,
            view_spread: Rows::empty(1),
        }
    }

    /// Matrices without rows, of these widths.
    #[must_use]
    pub const fn empty(embed_dim: usize, tower_width: usize) -> Self {
        Self::new(Rows::empty(embed_dim), Rows::empty(tower_width))
    }

    /// Features and activations, read back from their device.
    pub(super) fn from_device(features: Tensor<2>, activations: Tensor<2>) -> Result<Self> {
        let (features, activations) = (
            Rows::from_device(features)?,
            Rows::from_device(activations)?,
        );
        Ok(Self::new(features, activations))
    }

    /// Whether augmented views of each picture were embedded, too.
    #[must_use]
    pub fn has_views(&self) -> bool {
        self.view_spread.n_rows() > 0
    }

    /// Adds rows behind those that are there.
    pub fn append(&mut self, more: Self) {
        self.features.append(more.features);
        self.activations.append(more.activations);
        self.view_spread.append(more.view_spread);
    }

    /// The tensors of a safetensors file: `SIDE.features`, `SIDE.activations` and, where there are views,
    /// `SIDE.view_spread`.
    pub(super) fn records(&self, side: &str) -> Vec<TensorRecord> {
        let mut records = vec![
            self.features.record(&format!("{side}.features")),
            self.activations.record(&format!("{side}.activations")),
        ];
        if self.has_views() {
            records.push(self.view_spread.record(&format!("{side}.view_spread")));
        }
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_into_their_order() {
        let mut rows = Rows {
            values: vec![20.0, 21.0, 0.0, 1.0, 10.0, 11.0],
            width: 2,
        };
        rows.put_back(&[2, 0, 1]);
        assert_eq!(rows.values, [0.0, 1.0, 10.0, 11.0, 20.0, 21.0], "in order");
    }
}
