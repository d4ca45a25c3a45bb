//! Parameters under the names and in the layout of the files they come from, in both directions.
//!
//! A model lists its parameters once ([`Parameters::visit_parameters`]); loading and saving are two visitors over
//! that list. Saving hands out tensor *handles*: reading them back is for `inference` and `train`.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Tensor, TensorData};

use super::dense::{Dense, transpose};
use super::layer_norm::LayerNorm;
use super::token_table::TokenTable;
use crate::error::{Error, Result, refuse, refuse_if};
use crate::host::gemm::Kernel;
use crate::host::stored::StoredValues;

/// A tensor on the host, in a file's layout.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorRecord {
    /// Name in the file.
    pub name: String,
    /// Shape in the file; empty for a scalar.
    pub shape: Vec<usize>,
    /// Values in row-major order.
    pub values: Vec<f32>,
}

/// A tensor on the host as a file holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTensor {
    /// Name in the file.
    pub name: String,
    /// Shape in the file; empty for a scalar.
    pub shape: Vec<usize>,
    /// Values in row-major order.
    pub values: StoredValues,
}

impl From<TensorRecord> for StoredTensor {
    fn from(record: TensorRecord) -> Self {
        Self {
            name: record.name,
            shape: record.shape,
            values: StoredValues::Float(record.values),
        }
    }
}

impl StoredTensor {
    /// Number of values in each row of the first dimension.
    #[must_use]
    pub fn row_width(&self) -> usize {
        self.shape.iter().skip(1).product()
    }

    /// The tensor in floats of four bytes.
    #[must_use]
    pub fn widened(self) -> TensorRecord {
        let row_width = self.row_width();
        TensorRecord {
            name: self.name,
            shape: self.shape,
            values: self.values.widened(row_width),
        }
    }
}

/// A parameter on its device, flattened in a file's layout.
#[derive(Debug, Clone)]
pub struct NamedTensor {
    /// Name in the file.
    pub name: String,
    /// Shape in the file; empty for a scalar.
    pub shape: Vec<usize>,
    /// Values in row-major order of `shape`.
    pub values: Tensor<1>,
}

/// Difference of a file's layout from ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The file holds our shape.
    Same,
    /// The file holds a scalar, we a vector of one.
    Scalar,
    /// The file holds `[out, in]`, we `[in, out]`.
    OutIn,
    /// The file holds a convolution `[out, channels, size, size]`, we a matrix `[channels·size·size, out]`.
    Patches {
        /// Side of a patch in pixels.
        size: usize,
    },
}

impl Layout {
    /// Shape in the file of a parameter that has this shape with us.
    fn file_shape(self, ours: &[usize]) -> Vec<usize> {
        match (self, ours) {
            (Self::Scalar, _) => vec![],
            (Self::OutIn, &[d_in, d_out]) => vec![d_out, d_in],
            (Self::Patches { size }, &[d_in, d_out]) => {
                vec![d_out, d_in / (size * size), size, size]
            }
            _ => ours.to_vec(),
        }
    }

    fn is_transposed(self) -> bool {
        matches!(self, Self::OutIn | Self::Patches { .. })
    }
}

/// Visitor of each parameter of a model, once.
pub trait ParameterVisitor {
    /// Visits one parameter under its name in the file.
    ///
    /// # Errors
    ///
    /// Whatever the visitor cannot accept about this parameter.
    fn visit<const D: usize>(
        &mut self,
        name: &str,
        layout: Layout,
        parameter: &mut Param<Tensor<D>>,
    ) -> Result<()>;

    /// Visits `name.weight` and, where there is one, `name.bias`.
    ///
    /// # Errors
    ///
    /// As [`visit`](Self::visit).
    fn visit_linear(&mut self, name: &str, linear: &mut Linear) -> Result<()> {
        self.visit(&format!("{name}.weight"), Layout::OutIn, &mut linear.weight)?;
        self.visit_bias(name, &mut linear.bias)
    }

    /// Visits `name.weight` and, where there is one, `name.bias`.
    ///
    /// # Errors
    ///
    /// As [`visit`](Self::visit).
    fn visit_dense(&mut self, name: &str, dense: &mut Dense) -> Result<()> {
        self.visit_matrix(&format!("{name}.weight"), dense)?;
        self.visit_bias(name, &mut dense.bias)
    }

    /// Visits the matrix of a layer that may pack it.
    ///
    /// # Errors
    ///
    /// As [`visit`](Self::visit).
    fn visit_matrix(&mut self, name: &str, dense: &mut Dense) -> Result<()> {
        self.visit(name, Layout::OutIn, &mut dense.weight)
    }

    /// Visits a table of token embeddings, which may stay as it is stored.
    ///
    /// # Errors
    ///
    /// As [`visit`](Self::visit).
    fn visit_table(&mut self, name: &str, table: &mut TokenTable) -> Result<()> {
        self.visit(name, Layout::Same, &mut table.weight)
    }

    /// Visits `name.bias`, where there is one.
    ///
    /// # Errors
    ///
    /// As [`visit`](Self::visit).
    fn visit_bias(&mut self, name: &str, bias: &mut Option<Param<Tensor<1>>>) -> Result<()> {
        match bias {
            Some(bias) => self.visit(&format!("{name}.bias"), Layout::Same, bias),
            None => Ok(()),
        }
    }

    /// Visits `name.weight` and `name.bias`.
    ///
    /// # Errors
    ///
    /// As [`visit`](Self::visit).
    fn visit_layer_norm(&mut self, name: &str, norm: &mut LayerNorm) -> Result<()> {
        self.visit(&format!("{name}.weight"), Layout::Same, &mut norm.gamma)?;
        self.visit(&format!("{name}.bias"), Layout::Same, &mut norm.beta)
    }
}

/// A module that can list its parameters under their names in a file.
pub trait Parameters: Clone {
    /// Shows every parameter to `visitor`, in a fixed order.
    ///
    /// # Errors
    ///
    /// The visitor's.
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()>;

    /// Packs layers that loading leaves unpacked, for a kernel of the CPU.
    fn pack(&mut self, _kernel: Kernel) {}

    /// Every parameter as a flat tensor handle in the file's layout, without gradients.
    fn named_tensors(&self) -> Vec<NamedTensor> {
        let mut collect = TensorCollector(Vec::new());
        // Cloning a module clones handles, not values.
        match self.clone().visit_parameters(&mut collect) {
            Ok(()) => collect.0,
            Err(error) => unreachable!("collecting accepts every parameter: {error}"),
        }
    }

    /// Name and shape in the file of every parameter, in a fixed order; initialises none of them.
    fn named_shapes(&self) -> Vec<(String, Vec<usize>)> {
        let mut shapes = ShapeVisitor(Vec::new());
        match self.clone().visit_parameters(&mut shapes) {
            Ok(()) => shapes.0,
            Err(error) => unreachable!("listing accepts every parameter: {error}"),
        }
    }

    /// Replaces every parameter by the record of its name.
    ///
    /// # Errors
    ///
    /// A record that is missing, is not a parameter of this model, or has another shape; the message names it.
    /// `position_ids`, which some checkpoints carry although it is not a parameter, is passed over.
    fn load(&mut self, records: impl IntoIterator<Item = TensorRecord>) -> Result<()> {
        let mut filling = Filling::new(self.clone(), WeightFormat::Tensor);
        for record in records {
            if !record.name.ends_with(".position_ids") {
                filling.put(record)?;
            }
        }
        *self = filling.finish()?;
        Ok(())
    }
}

/// Format in which a model holds the matrices of its transformers.
#[derive(Debug, Clone, Copy, Default)]
pub enum WeightFormat {
    /// Burn tensors of 32-bit floats.
    #[default]
    Tensor,
    /// Floats packed for a kernel of the CPU.
    Packed(Kernel),
    /// Packed in one byte a value, with a factor for each output.
    PackedInt8(Kernel),
}

/// A model whose parameters come one by one, so that no more than one of them is in memory twice.
#[derive(Debug)]
pub struct Filling<M> {
    model: M,
    format: WeightFormat,
    /// Names of the parameters that have not come yet, in the model's order.
    missing: Vec<String>,
}

impl<M: Parameters> Filling<M> {
    /// Expects every parameter of this model.
    pub fn new(model: M, format: WeightFormat) -> Self {
        let missing = model.named_shapes().into_iter().map(|(name, _)| name);
        Self {
            missing: missing.collect(),
            format,
            model,
        }
    }

    /// Sets the parameter of the tensor's name to its values.
    ///
    /// # Errors
    ///
    /// A tensor that is not a parameter of this model, came before, or has another shape; the message names it.
    pub fn put(&mut self, tensor: impl Into<StoredTensor>) -> Result<()> {
        let tensor = tensor.into();
        let Some(i_name) = self.missing.iter().position(|name| *name == tensor.name) else {
            let name = tensor.name;
            refuse!("{name}: not a parameter of this model");
        };
        self.missing.remove(i_name);
        self.model.visit_parameters(&mut ParameterLoader {
            tensor: Some(tensor),
            format: self.format,
        })
    }

    /// The model, if every parameter came.
    ///
    /// # Errors
    ///
    /// A parameter is missing; the message names it.
    pub fn finish(mut self) -> Result<M> {
        if let Some(name) = self.missing.first() {
            return Err(Error::Weights(format!("{name}: missing")));
        }
        if let WeightFormat::Packed(kernel) | WeightFormat::PackedInt8(kernel) = self.format {
            self.model.pack(kernel);
        }
        Ok(self.model)
    }
}

/// Collects the tensors of a model under their names.
struct TensorCollector(Vec<NamedTensor>);

impl ParameterVisitor for TensorCollector {
    fn visit<const D: usize>(
        &mut self,
        name: &str,
        layout: Layout,
        parameter: &mut Param<Tensor<D>>,
    ) -> Result<()> {
        let ours = parameter.val().without_autodiff();
        let shape = layout.file_shape(&ours.dims());
        let file = if layout.is_transposed() {
            ours.swap_dims(0, 1)
        } else {
            ours
        };
        let n_values = file.shape().num_elements();
        self.0.push(NamedTensor {
            name: name.to_owned(),
            shape,
            values: file.reshape([n_values]),
        });
        Ok(())
    }
}

struct ShapeVisitor(Vec<(String, Vec<usize>)>);

impl ParameterVisitor for ShapeVisitor {
    fn visit<const D: usize>(
        &mut self,
        name: &str,
        layout: Layout,
        parameter: &mut Param<Tensor<D>>,
    ) -> Result<()> {
        let ours: [usize; D] = parameter.lazy_shape().dims();
        self.0.push((name.to_owned(), layout.file_shape(&ours)));
        Ok(())
    }
}

/// Replaces the parameter of its tensor's name.
struct ParameterLoader {
    tensor: Option<StoredTensor>,
    format: WeightFormat,
}

impl ParameterLoader {
    /// The tensor, if it has this name and fits.
    fn take(&mut self, name: &str, layout: Layout, ours: &[usize]) -> Result<Option<StoredTensor>> {
        let Some(tensor) = self.tensor.take_if(|tensor| tensor.name == name) else {
            return Ok(None);
        };
        let expected = layout.file_shape(ours);
        refuse_if!(
            tensor.shape != expected,
            "{name}: shape is {:?}, expected {expected:?}",
            tensor.shape
        );
        refuse_if!(
            tensor.values.n_values() != ours.iter().product::<usize>(),
            "{name}: {} values, expected shape {expected:?}",
            tensor.values.n_values()
        );
        Ok(Some(tensor))
    }
}

impl ParameterVisitor for ParameterLoader {
    fn visit<const D: usize>(
        &mut self,
        name: &str,
        layout: Layout,
        parameter: &mut Param<Tensor<D>>,
    ) -> Result<()> {
        let ours: [usize; D] = parameter.lazy_shape().dims();
        let Some(tensor) = self.take(name, layout, &ours)? else {
            return Ok(());
        };
        let values = tensor.widened().values;
        let values = if layout.is_transposed() {
            transpose(&values, ours[0], ours[1])
        } else {
            values
        };
        *parameter = Param::from_data(TensorData::new(values, ours), &parameter.lazy_device());
        Ok(())
    }

    fn visit_matrix(&mut self, name: &str, dense: &mut Dense) -> Result<()> {
        let (is_int8, kernel) = match self.format {
            WeightFormat::Tensor => return self.visit(name, Layout::OutIn, &mut dense.weight),
            WeightFormat::Packed(kernel) => (false, kernel),
            WeightFormat::PackedInt8(kernel) => (true, kernel),
        };
        let ours: [usize; 2] = dense.weight.lazy_shape().dims();
        if let Some(tensor) = self.take(name, Layout::OutIn, &ours)? {
            dense.pack(&tensor.widened().values, is_int8, kernel);
        }
        Ok(())
    }

    fn visit_table(&mut self, name: &str, table: &mut TokenTable) -> Result<()> {
        if matches!(self.format, WeightFormat::Tensor) {
            return self.visit(name, Layout::Same, &mut table.weight);
        }
        let ours: [usize; 2] = table.weight.lazy_shape().dims();
        if let Some(tensor) = self.take(name, Layout::Same, &ours)? {
            table.keep(tensor.values);
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod count {
    use super::Parameters;

    /// Number of trained scalars of a model; initialises none of them.
    pub(in crate::model) fn n_parameters(model: &impl Parameters) -> usize {
        let shapes = model.named_shapes().into_iter();
        shapes
            .map(|(_, shape)| shape.iter().product::<usize>())
            .sum()
    }
}
