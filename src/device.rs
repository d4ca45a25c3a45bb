//! The only module that names a Burn backend: where tensors live.
//!
//! Everything else takes a `&Device` and cannot tell which one it was given.

mod epilogue;
#[cfg(feature = "webgpu")]
mod gpu_kernels;
pub mod lists;

pub use burn::tensor::Device;
pub use epilogue::Epilogue;
pub use lists::{RELU6_MAX, host_ids, host_values};

#[cfg(feature = "train")]
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Tensor, TensorData, module};

/// The CPU, by Burn's Flex backend; the same natively and in the browser.
#[cfg(feature = "flex")]
#[must_use]
pub fn cpu() -> Device {
    Device::flex()
}

/// Whether all tensors of this program live on the CPU, or none does; `None` where one must ask. So an engine, which
/// has one device, holds nothing that was written for another.
const ALL_ON_CPU: Option<bool> = match (cfg!(feature = "flex"), cfg!(feature = "webgpu")) {
    (true, true) => None,
    _ if cfg!(feature = "train") => None,
    (has_flex, _) => Some(has_flex),
};

/// Whether this is [`cpu`].
#[must_use]
pub fn is_cpu(device: &Device) -> bool {
    ALL_ON_CPU.unwrap_or_else(|| is_flex(device))
}

#[cfg(feature = "flex")]
fn is_flex(device: &Device) -> bool {
    *device == cpu()
}

#[cfg(not(feature = "flex"))]
fn is_flex(_: &Device) -> bool {
    false
}

/// Whether the values of a tensor are read without waiting, and no training needs the slope of what is made of them.
#[must_use]
pub fn is_on_host<const D: usize>(tensor: &Tensor<D>) -> bool {
    ALL_ON_CPU.unwrap_or_else(|| is_flex(&tensor.device()) && !tensor.is_autodiff())
}

/// Values that one task of several takes at a time.
pub const VALUES_PER_TASK: usize = 1 << 18;

/// Changes the values of a tensor [on the host](is_on_host), a number of them at a time, natively on all cores.
pub fn change_values<const D: usize>(
    tensor: Tensor<D>,
    n_at_a_time: usize,
    change: impl Fn(&mut [f32]) + Sync + Send,
) -> Tensor<D> {
    let (shape, device) = (tensor.dims(), tensor.device());
    let mut values = host_values(tensor);
    each_chunk(&mut values, n_at_a_time, change);
    Tensor::from_data(TensorData::new(values, shape), &device)
}

/// Product of matrices. In a browser by a kernel or a function of our own: Burn's products, of which there are many for
/// the units of many GPUs and all types of numbers, would be a fifth of one engine's program and a twentieth of the
/// other's.
///
/// # Shapes
///
/// - `lhs`: `[..., n, d]`
/// - `rhs`: `[..., d, m]`, with the same sizes before them
/// - output: `[..., n, m]`
pub fn product<const D: usize>(lhs: Tensor<D>, rhs: Tensor<D>) -> Tensor<D> {
    #[cfg(feature = "webgpu")]
    return gpu_kernels::product(&lhs, &rhs);
    #[cfg(feature = "train")]
    return lhs.matmul(rhs);
    #[cfg(not(any(feature = "webgpu", feature = "train")))]
    lists::product(lhs, rhs)
}

/// Linear map of the last dimension: `input · matrix + bias`.
///
/// # Shapes
///
/// - `input`: `[..., d_in]`
/// - `matrix`: `[d_in, d_out]`
/// - `bias`: `[d_out]`
/// - output: `[..., d_out]`
pub fn affine<const D: usize>(
    input: Tensor<D>,
    matrix: Tensor<2>,
    bias: Option<Tensor<1>>,
) -> Tensor<D> {
    let fused = fused_affine(&input, &matrix, bias.as_ref(), Epilogue::Nothing);
    fused.unwrap_or_else(|| {
        #[cfg(feature = "train")]
        return module::linear(input, matrix, bias);
        #[cfg(not(feature = "train"))]
        affine_of_any_size(input, matrix, bias)
    })
}

/// [`affine`] of any sizes: a [`product`] of all rows, plus the bias. Shapes as there.
#[cfg(not(feature = "train"))]
fn affine_of_any_size<const D: usize>(
    input: Tensor<D>,
    matrix: Tensor<2>,
    bias: Option<Tensor<1>>,
) -> Tensor<D> {
    let [d_in, d_out] = matrix.dims();
    let mut shape = input.shape();
    let n_rows = shape.num_elements() / d_in;
    shape[D - 1] = d_out;
    let output = product(input.reshape([n_rows, d_in]), matrix).reshape(shape);
    match bias {
        Some(bias) => output + bias.unsqueeze(),
        None => output,
    }
}

/// [`affine`] and what follows it in one step, where the device has a kernel for it: the browser's GPU.
///
/// # Shapes
///
/// As of [`affine`].
#[cfg_attr(
    not(feature = "webgpu"),
    expect(unused_variables, reason = "only the browser's GPU has such a kernel")
)]
pub fn fused_affine<const D: usize>(
    input: &Tensor<D>,
    matrix: &Tensor<2>,
    bias: Option<&Tensor<1>>,
    epilogue: Epilogue<'_, D>,
) -> Option<Tensor<D>> {
    #[cfg(feature = "webgpu")]
    return gpu_kernels::affine(input, matrix, bias, epilogue);
    #[cfg(not(feature = "webgpu"))]
    None
}

/// `(x − mean) / √(variance + ε) · γ + β` over the last dimension. On the browser's GPU by a kernel of our own.
///
/// # Shapes
///
/// - `input`, output: `[..., width]`
/// - `gamma`, `beta`: `[width]`
pub fn layer_norm<const D: usize>(
    input: Tensor<D>,
    gamma: Tensor<1>,
    beta: Tensor<1>,
    epsilon: f64,
) -> Tensor<D> {
    #[cfg(feature = "webgpu")]
    if let Some(output) = gpu_kernels::layer_norm(&input, [&gamma, &beta], epsilon) {
        return output;
    }
    module::layer_norm(input, gamma, Some(beta), epsilon)
}

/// `softmax(q kᵀ / √head_width + bias) v` for each head in one step, where the device has a kernel for it: the
/// browser's GPU.
///
/// # Shapes
///
/// - query: `[n, n_queries, width]`; key and value: `[n, n_tokens, width]`
/// - `bias`: broadcast to `[n, heads, n_queries, n_tokens]`
/// - output: `[n, n_queries, width]`
#[cfg_attr(
    not(feature = "webgpu"),
    expect(unused_variables, reason = "only the browser's GPU has such a kernel")
)]
pub fn fused_attention(
    query_key_value: [&Tensor<3>; 3],
    heads: usize,
    bias: Option<&Tensor<4>>,
) -> Option<Tensor<3>> {
    #[cfg(feature = "webgpu")]
    return gpu_kernels::attention(query_key_value, heads, bias);
    #[cfg(not(feature = "webgpu"))]
    None
}

/// Convolution of maps whose channels come last, with a bias for each output, clamped from 0 to 6. In a browser by
/// a kernel or a function of our own.
///
/// # Shapes
///
/// - `map`: `[n, height, width, channels]`
/// - `weight`: `[n_outputs, channels, kernel_size, kernel_size]`, or 1 in place of `channels` where each output is of
///   its own channel; `bias`: `[n_outputs]`
/// - `padding`: zeros before and after the rows, and the columns
/// - output: `[n, (rows − kernel_size) / stride + 1, (columns − kernel_size) / stride + 1, n_outputs]`, of padded rows
///   and columns
pub fn convolution_relu6(
    map: Tensor<4>,
    weight: Tensor<4>,
    bias: Tensor<1>,
    stride: usize,
    padding: [(usize, usize); 2],
) -> Tensor<4> {
    #[cfg(feature = "webgpu")]
    return gpu_kernels::convolution_relu6(&map, &weight, &bias, stride, padding);
    #[cfg(feature = "train")]
    {
        let ([.., channels], [_, of_group, ..]) = (map.dims(), weight.dims());
        let groups = channels / of_group;
        let options = ConvOptions::new_with_padding([stride; 2], padding, [1, 1], groups);
        module::conv2d(map.permute([0, 3, 1, 2]), weight, Some(bias), options)
            .clamp(0.0, RELU6_MAX)
            .permute([0, 2, 3, 1])
    }
    #[cfg(not(any(feature = "webgpu", feature = "train")))]
    lists::convolution_relu6(map, weight, bias, stride, padding)
}

/// Changes a table chunk by chunk, natively on all cores.
pub fn each_chunk(values: &mut [f32], size: usize, task: impl Fn(&mut [f32]) + Sync + Send) {
    #[cfg(feature = "train")]
    {
        use rayon::prelude::*;
        values.par_chunks_mut(size).for_each(task);
    }
    #[cfg(not(feature = "train"))]
    values.chunks_mut(size).for_each(task);
}

/// Fills and reads two tables chunk by chunk, of a size each, natively on all cores; what each chunk gave, in order.
pub fn each_chunk_of_two<T: Send>(
    filled: &mut [f32],
    read: &[f32],
    [filled_size, read_size]: [usize; 2],
    task: impl Fn(&mut [f32], &[f32]) -> T + Sync,
) -> Vec<T> {
    #[cfg(feature = "train")]
    {
        use rayon::prelude::*;
        let filled = filled.par_chunks_mut(filled_size);
        let chunks = filled.zip(read.par_chunks(read_size));
        chunks.map(|(filled, read)| task(filled, read)).collect()
    }
    #[cfg(not(feature = "train"))]
    {
        let chunks = filled.chunks_mut(filled_size).zip(read.chunks(read_size));
        chunks.map(|(filled, read)| task(filled, read)).collect()
    }
}

/// The NVIDIA GPU with this index.
#[cfg(feature = "cuda")]
#[must_use]
pub fn cuda(index: usize) -> Device {
    Device::cuda(index)
}

/// The CPU, by libtorch.
#[cfg(feature = "libtorch")]
#[must_use]
#[expect(
    deprecated,
    reason = "nothing else in Burn trains as fast on a CPU; Flex does all the rest"
)]
pub fn libtorch() -> Device {
    Device::libtorch()
}

/// The browser's GPU, through WebGPU. A GPU that is lost later answers nothing any more; `on_lost` is then told why.
///
/// # Errors
///
/// No adapter, no device, or one that lacks what the runtime needs. A software adapter passes: whether to use the
/// GPU at all is decided before this is called.
#[cfg(feature = "webgpu")]
pub async fn gpu(on_lost: fn(String)) -> crate::error::Result<Device> {
    let opened = Device::wgpu_options().init_with_setup_async().await;
    let (device, setup) = opened
        .map_err(|error| crate::error::Error::Engine(format!("the GPU cannot be used: {error}")))?;
    // An error that nobody catches panics by the runtime's own callback, which stays: on wasm a shader that does not
    // validate is only logged where it is compiled, but its pipeline is then such an error and ends the engine. Only
    // the runtime's callback of a loss is replaced.
    setup
        .device
        .set_device_lost_callback(move |reason, message| on_lost(format!("{reason:?}: {message}")));
    Ok(device)
}

/// The native device with this name.
///
/// # Errors
///
/// A name that this build does not know.
#[cfg(feature = "flex")]
pub fn by_name(name: &str) -> crate::error::Result<Device> {
    match name {
        "cpu" => Ok(cpu()),
        #[cfg(feature = "cuda")]
        "cuda" => Ok(cuda(0)),
        #[cfg(feature = "libtorch")]
        "libtorch" => Ok(libtorch()),
        _ => Err(crate::error::Error::Engine(format!(
            "{name}: no such device in this build, expected `cpu`, or `cuda` or `libtorch` in a build with that feature"
        ))),
    }
}
