//! Products, attention and layer norms on the browser's GPU, by kernels of our own.
//!
//! Without matrix units Burn's product gives each tile of the output to 32 threads, which bring rows and columns into
//! shared memory step by step and wait for each other at each step. For the few rows of captions and pictures that is
//! slow: on a software adapter a tenth of what threads reach that read for themselves. And attention is twenty
//! dispatches there and a layer norm ten, each of which costs the host some tens of microseconds.

use burn::backend::wgpu::{
    CubeBackend, CubeDim, CubeTensor, KernelSource, SourceKernel, SourceTemplate, into_contiguous,
};
use burn::cubecl::CubeCount;
use burn::cubecl::prelude::KernelId;
use burn::cubecl::server::{KernelArguments, MetadataBindingInfo};
use burn::tensor::{DType, Shape, Tensor};

use super::epilogue::Epilogue;

/// Threads of a workgroup, along columns and along rows.
const WORKGROUP: [u32; 2] = [16, 4];
/// Columns of a thread, which are read at once.
const COLUMNS: u32 = 4;
/// Rows of the output that a thread of the product has, as `product.wgsl` writes them out.
const PRODUCT_ROWS: u32 = 4;

/// A kernel, which is the same for all sizes: they come in its last buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum GpuKernel {
    /// With the name of the function in `activation.wgsl` that its output goes through.
    Product(&'static str),
    Attention,
    LayerNorm,
}

impl KernelSource for GpuKernel {
    fn source(&self) -> SourceTemplate {
        let template = match self {
            Self::Product(function) => SourceTemplate::new(concat!(
                include_str!("activation.wgsl"),
                include_str!("product.wgsl")
            ))
            .register("function", *function),
            Self::Attention => SourceTemplate::new(include_str!("attention.wgsl")),
            Self::LayerNorm => SourceTemplate::new(include_str!("layer_norm.wgsl")),
        };
        let [along_columns, along_rows] = WORKGROUP.map(|threads| threads.to_string());
        template
            .register("along_columns", along_columns)
            .register("along_rows", along_rows)
    }

    fn id(&self) -> KernelId {
        KernelId::new::<Self>().info(*self)
    }

    fn lang(&self) -> &'static str {
        "wgsl"
    }
}

/// `input · matrix + bias`, if there is one, and what follows; nothing where the tensors are not on the GPU or of
/// sizes that no four divide.
///
/// # Shapes
///
/// - `input`: `[..., d_in]`
/// - `matrix`: `[d_in, d_out]`
/// - `bias`: `[d_out]`
/// - output: `[..., d_out]`
pub(super) fn product<const D: usize>(
    input: &Tensor<D>,
    matrix: &Tensor<2>,
    bias: Option<&Tensor<1>>,
    epilogue: Epilogue<'_, D>,
) -> Option<Tensor<D>> {
    let [d_in, d_out] = matrix.dims();
    let mut shape = input.shape();
    let [n_rows, inner, width] = whole([shape.num_elements() / d_in, d_in, d_out])?;
    shape[D - 1] = d_out;
    let (onto, function) = match epilogue {
        Epilogue::Nothing => (None, "unchanged"),
        Epilogue::Add(onto) => (Some(onto), "unchanged"),
        Epilogue::Apply(function) => (None, function),
    };
    let rows = on_gpu(input)?;
    let [has_bias, has_onto] = [bias.is_some(), onto.is_some()].map(u32::from);
    let (bias, onto) = (or_any(bias, &rows)?, or_any(onto, &rows)?);
    let output = launch(
        GpuKernel::Product(function),
        [rows, on_gpu(matrix)?, bias, onto],
        &[n_rows, inner, width, has_bias, has_onto, 0],
        workgroups_of([width / COLUMNS, n_rows.div_ceil(PRODUCT_ROWS)]),
        shape,
    );
    Some(Tensor::from_primitive::<CubeBackend>(output))
}

/// `(x − mean) / √(variance + ε) · γ + β` over the last dimension; nothing where the tensors are not on the GPU, of
/// sizes that no four divide, or of more rows than a GPU takes workgroups.
///
/// # Shapes
///
/// - `input`, output: `[..., width]`
/// - `gamma`, `beta`: `[width]`
#[expect(
    clippy::cast_possible_truncation,
    reason = "the kernel computes in floats of four bytes"
)]
pub(super) fn layer_norm<const D: usize>(
    input: &Tensor<D>,
    [gamma, beta]: [&Tensor<1>; 2],
    epsilon: f64,
) -> Option<Tensor<D>> {
    let (shape, [columns]) = (input.shape(), gamma.dims());
    let [n_rows, width, _] = whole([shape.num_elements() / columns, columns, columns])?;
    if n_rows > u32::from(u16::MAX) {
        return None;
    }
    let output = launch(
        GpuKernel::LayerNorm,
        [on_gpu(input)?, on_gpu(gamma)?, on_gpu(beta)?],
        &[width, (epsilon as f32).to_bits()],
        [n_rows, 1],
        shape,
    );
    Some(Tensor::from_primitive::<CubeBackend>(output))
}

/// `softmax(q kᵀ / √head_width + bias) v` for each head; nothing where the tensors are not on the GPU or of sizes that
/// no four divide.
///
/// # Shapes
///
/// - query: `[n, n_queries, width]`; key and value: `[n, n_tokens, width]`
/// - `bias`: broadcast to `[n, heads, n_queries, n_tokens]`
/// - output: `[n, n_queries, width]`
pub(super) fn attention(
    [query, key, value]: [&Tensor<3>; 3],
    heads: usize,
    bias: Option<&Tensor<4>>,
) -> Option<Tensor<3>> {
    let ([n, n_queries, width], [_, n_keys, _]) = (query.dims(), key.dims());
    let [n_rows, head_width, columns] = whole([n * n_queries, width / heads, width])?;
    let [Ok(queries), Ok(keys)] = [n_queries, n_keys].map(u32::try_from) else {
        return None;
    };
    let query = on_gpu(query)?;
    let [of_sequence, of_head, of_query] = match bias.map(Tensor::dims) {
        // One key at a time: the last dimension is not broadcast.
        Some([_, _, _, of_keys]) if of_keys != n_keys => return None,
        Some([sequences, of_heads, of_queries, _]) => {
            let step = |size: usize, stride: usize| if size == 1 { 0 } else { stride };
            let strides = [
                step(sequences, of_heads * of_queries * n_keys),
                step(of_heads, of_queries * n_keys),
                step(of_queries, n_keys),
            ];
            let [Ok(a), Ok(b), Ok(c)] = strides.map(u32::try_from) else {
                return None;
            };
            [a, b, c]
        }
        None => [0; 3],
    };
    let has_bias = u32::from(bias.is_some());
    let bias = or_any(bias, &query)?;
    let scale = (head_width as f32).powf(-0.5).to_bits();
    let sizes = [
        [queries, keys, columns, head_width],
        [n_rows, of_sequence, of_head, of_query],
        [scale, has_bias, 0, 0],
    ];
    let output = launch(
        GpuKernel::Attention,
        [query, on_gpu(key)?, on_gpu(value)?, bias],
        sizes.as_flattened(),
        workgroups_of([columns / COLUMNS, n_rows]),
        Shape::new([n, n_queries, width]),
    );
    Some(Tensor::from_primitive::<CubeBackend>(output))
}

/// Numbers of workgroups that have a thread for each of so many columns and rows.
fn workgroups_of([columns, rows]: [u32; 2]) -> [u32; 2] {
    let [along_columns, along_rows] = WORKGROUP;
    [columns.div_ceil(along_columns), rows.div_ceil(along_rows)]
}

/// Runs a kernel in so many workgroups, along columns and along rows.
fn launch<const N: usize>(
    kernel: GpuKernel,
    inputs: [CubeTensor; N],
    sizes: &[u32],
    [along_columns, along_rows]: [u32; 2],
    shape: Shape,
) -> CubeTensor {
    let (client, device) = (inputs[0].client.clone(), inputs[0].device.clone());
    let output = client.empty(size_of::<f32>() * shape.num_elements());
    let buffers = inputs.into_iter().map(|input| input.handle);
    let buffers = buffers
        .chain([output.clone()])
        .map(|buffer| buffer.binding());
    let pairs = sizes.chunks_exact(2);
    let sizes = pairs.map(|pair| u64::from(pair[0]) | (u64::from(pair[1]) << 32));
    let arguments = KernelArguments::new()
        .with_buffers(buffers.collect())
        .with_info(MetadataBindingInfo::custom(sizes.collect()));
    let [width, height] = WORKGROUP;
    let kernel = SourceKernel::new(kernel, CubeDim::new_2d(width, height));
    client.launch(
        Box::new(kernel),
        CubeCount::Static(along_columns, along_rows, 1),
        arguments,
    );
    CubeTensor::new_contiguous(client, device, shape, output, DType::F32)
}

/// A number of rows, and sizes that four divide; nothing where there are no rows.
fn whole([n_rows, a, b]: [usize; 3]) -> Option<[u32; 3]> {
    let sizes = [n_rows, a, b].map(|size| u32::try_from(size).ok());
    let [Some(n_rows), Some(a), Some(b)] = sizes else {
        return None;
    };
    let fits = n_rows > 0 && a.is_multiple_of(COLUMNS) && b.is_multiple_of(COLUMNS);
    fits.then_some([n_rows, a, b])
}

/// The bias as it lies on the GPU; a kernel has all its buffers, so without a bias another tensor, which is not read.
fn or_any<const D: usize>(bias: Option<&Tensor<D>>, other: &CubeTensor) -> Option<CubeTensor> {
    bias.map_or_else(|| Some(other.clone()), on_gpu)
}

/// The tensor as it lies on the GPU, row by row; nothing where it lies elsewhere or is not of floats of four bytes.
fn on_gpu<const D: usize>(tensor: &Tensor<D>) -> Option<CubeTensor> {
    let tensor = tensor.clone().try_into_primitive::<CubeBackend>().ok()?;
    (tensor.dtype == DType::F32).then(|| into_contiguous(tensor))
}
