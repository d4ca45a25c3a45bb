//! Products, convolutions, attention and layer norms on the browser's GPU, by kernels of our own.
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

/// Threads of a workgroup, along columns and along rows, for outputs that are wide enough for them.
const WORKGROUP: [u32; 2] = [16, 4];
/// Columns of a thread, which are read at once.
const COLUMNS: u32 = 4;
/// Rows of the output that a thread of the affine map has, as `affine.wgsl` writes them out.
const AFFINE_ROWS: u32 = 4;

/// A kernel with the threads of its workgroups, which are the same for most sizes: they come in its last buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct GpuKernel {
    function: Function,
    threads: [u32; 2],
}

/// What a kernel computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Function {
    /// With the name of the function in `activation.wgsl` that its output goes through.
    Affine(&'static str),
    Product,
    /// With what a thread reads of a map at once, and what it writes: numbers, or vectors of neighbouring channels.
    Convolution([&'static str; 2]),
    Attention,
    LayerNorm,
}

impl KernelSource for GpuKernel {
    fn source(&self) -> SourceTemplate {
        let template = match &self.function {
            Function::Affine(activation) => SourceTemplate::new(concat!(
                include_str!("activation.wgsl"),
                include_str!("affine.wgsl")
            ))
            .register("function", *activation),
            Function::Product => SourceTemplate::new(include_str!("product.wgsl")),
            Function::Convolution([seen, written]) => {
                SourceTemplate::new(include_str!("convolution.wgsl"))
                    .register("seen", *seen)
                    .register("written", *written)
            }
            Function::Attention => SourceTemplate::new(include_str!("attention.wgsl")),
            Function::LayerNorm => SourceTemplate::new(include_str!("layer_norm.wgsl")),
        };
        let [along_columns, along_rows] = self.threads.map(|threads| threads.to_string());
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

/// `input · matrix + bias`, if there is one, and what follows; nothing where no four divide the sizes.
///
/// # Shapes
///
/// - `input`: `[..., d_in]`
/// - `matrix`: `[d_in, d_out]`
/// - `bias`: `[d_out]`
/// - output: `[..., d_out]`
pub(super) fn affine<const D: usize>(
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
    let rows = on_gpu(input);
    let [has_bias, has_onto] = [bias.is_some(), onto.is_some()].map(u32::from);
    let (bias, onto) = (or_any(bias, &rows), or_any(onto, &rows));
    let output = launch(
        Function::Affine(function),
        [rows, on_gpu(matrix), bias, onto],
        &[n_rows, inner, width, has_bias, has_onto, 0],
        Workgroups::of([width / COLUMNS, n_rows.div_ceil(AFFINE_ROWS)], 1),
        shape,
    );
    Some(Tensor::from_primitive::<CubeBackend>(output))
}

/// Products of matrices of any sizes, for the few that `affine` leaves.
///
/// # Shapes
///
/// - `lhs`: `[..., n, d]`
/// - `rhs`: `[..., d, m]`, with the same sizes before them
/// - output: `[..., n, m]`
pub(super) fn product<const D: usize>(lhs: &Tensor<D>, rhs: &Tensor<D>) -> Tensor<D> {
    let (mut shape, inner) = (lhs.shape(), lhs.dims()[D - 1]);
    let (n_rows, width) = (shape[D - 2], rhs.dims()[D - 1]);
    let n_products = shape.num_elements() / (n_rows * inner);
    shape[D - 1] = width;
    let [n_rows, inner, width, n_products] = [n_rows, inner, width, n_products].map(to_u32);
    let output = launch(
        Function::Product,
        [on_gpu(lhs), on_gpu(rhs)],
        &[n_rows, inner, width, 0],
        Workgroups::of([width, n_rows], n_products),
        shape,
    );
    Tensor::from_primitive::<CubeBackend>(output)
}

/// Convolution of maps whose channels come last, with its bias, clamped from 0 to 6.
///
/// # Shapes
///
/// As of [`convolution_relu6`](super::convolution_relu6).
pub(super) fn convolution_relu6(
    map: &Tensor<4>,
    weight: &Tensor<4>,
    bias: &Tensor<1>,
    stride: usize,
    padding: [(usize, usize); 2],
) -> Tensor<4> {
    let [n, height, width, channels] = map.dims();
    let [n_outputs, of_group, kernel_size, _] = weight.dims();
    let places = |side: usize, (before, after)| (side + before + after - kernel_size) / stride + 1;
    let [rows, columns] = [places(height, padding[0]), places(width, padding[1])];
    let shape = Shape::new([n, rows, columns, n_outputs]);
    let is_depthwise = of_group < channels;
    let fills_vectors = n_outputs.is_multiple_of(COLUMNS as usize);
    let together = |is_vector| if is_vector { COLUMNS as usize } else { 1 };
    let (seen, written) = (
        together(fills_vectors && is_depthwise),
        together(fills_vectors),
    );
    let sizes = [
        [height, width, channels / seen],
        [rows, columns, n_outputs / written],
        [kernel_size, stride, of_group],
        [padding[0].0, padding[1].0, usize::from(is_depthwise)],
    ];
    let sizes = sizes.map(|sizes| sizes.map(to_u32));
    let [_, [rows, columns, n_written], ..] = sizes;
    let output = launch(
        Function::Convolution([seen, written].map(vector_of)),
        [
            on_gpu(map),
            on_gpu(&weight.clone().permute([2, 3, 1, 0])),
            on_gpu(bias),
        ],
        sizes.as_flattened(),
        Workgroups::of([n_written, rows * columns], to_u32(n)),
        shape,
    );
    Tensor::from_primitive::<CubeBackend>(output)
}

/// The type of so many numbers that a kernel reads or writes at once.
const fn vector_of(n: usize) -> &'static str {
    if n == 1 { "f32" } else { "vec4<f32>" }
}

/// `(x − mean) / √(variance + ε) · γ + β` over the last dimension; nothing where no four divide its size, or where
/// there are more rows than a GPU takes workgroups.
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
        Function::LayerNorm,
        [on_gpu(input), on_gpu(gamma), on_gpu(beta)],
        &[width, (epsilon as f32).to_bits()],
        Workgroups {
            threads: WORKGROUP,
            counts: [n_rows, 1, 1],
        },
        shape,
    );
    Some(Tensor::from_primitive::<CubeBackend>(output))
}

/// `softmax(q kᵀ / √head_width + bias) v` for each head; nothing where no four divide the sizes.
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
    let query = on_gpu(query);
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
    let bias = or_any(bias, &query);
    let scale = (head_width as f32).powf(-0.5).to_bits();
    let sizes = [
        [queries, keys, columns, head_width],
        [n_rows, of_sequence, of_head, of_query],
        [scale, has_bias, 0, 0],
    ];
    let output = launch(
        Function::Attention,
        [query, on_gpu(key), on_gpu(value), bias],
        sizes.as_flattened(),
        Workgroups::of([columns / COLUMNS, n_rows], 1),
        Shape::new([n, n_queries, width]),
    );
    Some(Tensor::from_primitive::<CubeBackend>(output))
}

/// The threads of a workgroup, along columns and along rows, and numbers of workgroups along both and in depth.
struct Workgroups {
    threads: [u32; 2],
    counts: [u32; 3],
}

impl Workgroups {
    /// Workgroups that have a thread for each of so many columns and rows, so many deep; narrow ones for few columns,
    /// for which most threads of a wide one would have nothing to do.
    fn of([columns, rows]: [u32; 2], deep: u32) -> Self {
        let [widest, least] = WORKGROUP;
        let along_columns = columns.next_power_of_two().clamp(COLUMNS, widest);
        let along_rows = widest * least / along_columns;
        Self {
            threads: [along_columns, along_rows],
            counts: [
                columns.div_ceil(along_columns),
                rows.div_ceil(along_rows),
                deep,
            ],
        }
    }
}

/// Runs a kernel in these workgroups.
fn launch<const N: usize>(
    function: Function,
    inputs: [CubeTensor; N],
    sizes: &[u32],
    Workgroups {
        threads,
        counts: [along_columns, along_rows, deep],
    }: Workgroups,
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
    let [width, height] = threads;
    let kernel = GpuKernel { function, threads };
    let kernel = SourceKernel::new(kernel, CubeDim::new_2d(width, height));
    client.launch(
        Box::new(kernel),
        CubeCount::Static(along_columns, along_rows, deep),
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
fn or_any<const D: usize>(bias: Option<&Tensor<D>>, other: &CubeTensor) -> CubeTensor {
    bias.map_or_else(|| other.clone(), on_gpu)
}

/// The tensor as it lies on the GPU, row by row.
///
/// # Panics
///
/// A tensor that lies elsewhere or is not of floats of four bytes, which this engine has none of.
fn on_gpu<const D: usize>(tensor: &Tensor<D>) -> CubeTensor {
    let tensor = tensor.clone().try_into_primitive::<CubeBackend>();
    let tensor = tensor.expect("a tensor on the browser's GPU");
    assert_eq!(tensor.dtype, DType::F32, "floats of four bytes");
    into_contiguous(tensor)
}

/// A size as a kernel takes it.
///
/// # Panics
///
/// More than any buffer of a GPU holds.
fn to_u32(size: usize) -> u32 {
    u32::try_from(size).expect("fewer than any GPU's memory holds")
}
