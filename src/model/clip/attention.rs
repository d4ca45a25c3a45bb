//! What each token of a sequence takes from all of them.

use burn::tensor::activation::softmax;
use burn::tensor::{Tensor, TensorData};

use crate::device::{fused_attention, host_values, is_on_host, product};
use crate::host::gemm::{PANEL_COLUMNS, Panels, Product, portable};
use crate::host::lanes::{Lanes, Real, replace};
use crate::model::vector::exp;

/// `softmax(q kᵀ / √head_width + bias) v`, per head.
///
/// Burn's own attention is faster forward, but with its backward pass 1.6 times slower on Flex (64 × 65 tokens).
///
/// # Shapes
///
/// - query: `[n, n_queries, width]`; key and value: `[n, n_tokens, width]`
/// - `bias`: broadcast to `[n, heads, n_queries, n_tokens]`
/// - output: `[n, n_queries, width]`
pub(crate) fn attend(
    [query, key, value]: [Tensor<3>; 3],
    heads: usize,
    bias: Option<&Tensor<4>>,
) -> Tensor<3> {
    if let Some(mixed) = fused_attention([&query, &key, &value], heads, bias) {
        return mixed;
    }
    if is_on_host(&query) {
        return attend_on_host([query, key, value], heads, bias);
    }
    let [n, n_queries, width] = query.dims();
    let head_width = width / heads;
    let split = |rows: Tensor<3>| {
        let [_, n_rows, _] = rows.dims();
        rows.reshape([n, n_rows, heads, head_width]).swap_dims(1, 2) // [n, heads, n_rows, head_width]
    };
    let (query, key, value) = (split(query), split(key), split(value));

    let query = query * (head_width as f64).powf(-0.5);
    let scores = product(query, key.transpose()); // [n, heads, n_queries, n_tokens]
    let scores = match bias {
        Some(bias) => scores + bias.clone(),
        None => scores,
    };
    let mixed = product(softmax(scores, 3), value); // [n, heads, n_queries, head_width]
    mixed.swap_dims(1, 2).reshape([n, n_queries, width])
}

/// A bias that is broadcast over sequences, heads or queries.
struct HostBias {
    values: Vec<f32>,
    /// Values from one sequence, head and query to the next; zero where all share them.
    strides: [usize; 3],
}

/// What the columns of one head are taken from: rows of all heads side by side.
#[derive(Clone, Copy)]
struct HeadColumns {
    width: usize,
    first: usize,
    head_width: usize,
}

/// [`attend`] where the engine computes anyway: no tensors, and an exponential of eight numbers at once.
fn attend_on_host(
    query_key_value: [Tensor<3>; 3],
    heads: usize,
    bias: Option<&Tensor<4>>,
) -> Tensor<3> {
    let [query, key, value] = query_key_value;
    let ([n, n_queries, width], device) = (query.dims(), query.device());
    let [_, n_tokens, _] = key.dims();
    let head_width = width / heads;
    let bias = bias.map(HostBias::new);
    let [query, key, value] = [query, key, value].map(host_values);
    let mut output = vec![0.0; query.len()];
    for i_sequence in 0..n {
        let queries = i_sequence * n_queries * width..(i_sequence + 1) * n_queries * width;
        let tokens = i_sequence * n_tokens * width..(i_sequence + 1) * n_tokens * width;
        for head in 0..heads {
            let columns = HeadColumns {
                width,
                first: head * head_width,
                head_width,
            };
            let bias_of = |i_query| {
                let bias = bias.as_ref()?;
                Some(bias.row([i_sequence, head, i_query], n_tokens))
            };
            let rows = [
                &query[queries.clone()],
                &key[tokens.clone()],
                &value[tokens.clone()],
            ];
            let mixed = attend_in_head(rows, columns, bias_of);
            columns.write(&mixed, &mut output[queries.clone()]);
        }
    }
    Tensor::from_data(TensorData::new(output, [n, n_queries, width]), &device)
}

/// What the queries of one sequence take in one head, `[n_queries, head_width.next_multiple_of(8)]`.
fn attend_in_head<'a>(
    [query, key, value]: [&[f32]; 3],
    columns: HeadColumns,
    bias_of: impl Fn(usize) -> Option<&'a [f32]>,
) -> Vec<f32> {
    let head_width = columns.head_width;
    let n_tokens = key.len() / columns.width;
    let padded = n_tokens.next_multiple_of(PANEL_COLUMNS);

    let scale = (head_width as f32).sqrt().recip();
    let mut query = columns.read(query, head_width);
    for value in &mut query {
        *value *= scale;
    }
    let keys = Panels::pack(&columns.read(key, head_width), head_width);
    let mut shares = multiply(&query, &keys); // [n_queries, padded]
    for (i_query, shares) in shares.chunks_mut(padded).enumerate() {
        let (scores, padding) = shares.split_at_mut(n_tokens);
        if let Some(bias) = bias_of(i_query) {
            for (score, bias) in scores.iter_mut().zip(bias) {
                *score += bias;
            }
        }
        softmax_in_place(scores);
        padding.fill(0.0);
    }

    let mut values = columns.read(value, head_width.next_multiple_of(PANEL_COLUMNS));
    values.resize(values.len() / n_tokens * padded, 0.0);
    multiply(&shares, &Panels::pack_rows(&values, padded))
}

/// `rows · panels`, row by row.
fn multiply(rows: &[f32], panels: &Panels) -> Vec<f32> {
    let n_columns = panels.n_columns();
    let mut output = vec![0.0; rows.len() / panels.d_in * n_columns];
    portable(Product {
        rows,
        panels,
        bias: &vec![0.0; n_columns],
        output: &mut output,
    });
    output
}

#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
fn softmax_in_place(scores: &mut [f32]) {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    replace(
        scores,
        |eight| share(eight - Lanes::of(greatest)),
        |one| share(one - greatest),
    );
    let sum: f32 = scores.iter().sum();
    replace(scores, |eight| eight / Lanes::of(sum), |one| one / sum);
}

/// The exponential of a score less the greatest; zero where no sum would notice it, as a masked token's: products with
/// numbers that are almost zero take a hundred times as long.
#[inline(always)]
fn share<N: Real>(score: N) -> N {
    const NOTICED: f32 = -64.0;
    (score - N::of(NOTICED)).choose_if_negative(N::of(0.0), exp(score))
}

impl HostBias {
    fn new(bias: &Tensor<4>) -> Self {
        let [n, heads, n_queries, n_tokens] = bias.dims();
        let sizes = [heads * n_queries * n_tokens, n_queries * n_tokens, n_tokens];
        let of_several = [n, heads, n_queries].map(|n| usize::from(n > 1));
        Self {
            values: host_values(bias.clone()),
            strides: std::array::from_fn(|at| sizes[at] * of_several[at]),
        }
    }

    fn row(&self, place: [usize; 3], n_tokens: usize) -> &[f32] {
        let steps = place.iter().zip(self.strides);
        let start: usize = steps.map(|(at, stride)| at * stride).sum();
        &self.values[start..start + n_tokens]
    }
}

impl HeadColumns {
    /// The head's columns of each row, followed by zeros.
    fn read(self, rows: &[f32], padded: usize) -> Vec<f32> {
        let mut values = Vec::with_capacity(rows.len() / self.width * padded);
        for row in rows.chunks_exact(self.width) {
            values.extend_from_slice(&row[self.first..][..self.head_width]);
            values.resize(values.len() + padded - self.head_width, 0.0);
        }
        values
    }

    /// Writes rows of the head, which may be followed by others, into its columns.
    fn write(self, mixed: &[f32], rows: &mut [f32]) {
        let padded = self.head_width.next_multiple_of(PANEL_COLUMNS);
        let rows = rows.chunks_exact_mut(self.width);
        for (row, mixed) in rows.zip(mixed.chunks_exact(padded)) {
            row[self.first..][..self.head_width].copy_from_slice(&mixed[..self.head_width]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    fn table<const D: usize>(shape: [usize; D], seed: usize) -> Tensor<D> {
        let n = shape.iter().product();
        let values = (0..n).map(|i| ((i * 37 + seed * 11) % 29) as f32 / 7.0 - 2.0);
        Tensor::from_data(TensorData::new(values.collect(), shape), &cpu())
    }

    /// The chain of tensors, which a training runs.
    fn by_tensors(rows: [Tensor<3>; 3], heads: usize, bias: Option<&Tensor<4>>) -> Vec<f32> {
        let rows = rows.map(|rows| Tensor::from_inner(rows).require_grad());
        let bias = bias.map(|bias| Tensor::from_inner(bias.clone()));
        let mixed = attend(rows, heads, bias.as_ref());
        assert!(
            mixed.is_autodiff(),
            "the other way would be compared with itself"
        );
        host_values(mixed.inner())
    }

    #[test]
    fn the_host_attends_as_tensors_do() {
        // Heads as wide as whole vectors and not, one query, and as many tokens as a panel has columns and more.
        for (heads, width, n_queries, n_tokens) in
            [(2, 16, 5, 5), (3, 15, 9, 9), (2, 64, 1, 17), (1, 8, 8, 8)]
        {
            let rows = [n_queries, n_tokens, n_tokens].map(|n_rows| [2, n_rows, width]);
            let rows = [0, 1, 2].map(|seed| table(rows[seed], seed));
            let masks = [
                None,
                Some([1, 1, n_queries, n_tokens]),
                Some([2, 1, 1, n_tokens]),
                Some([2, heads, n_queries, n_tokens]),
            ];
            for mask in masks {
                let bias = mask.map(|shape| table(shape, 3));
                let found = host_values(attend(rows.clone(), heads, bias.as_ref()));
                let expected = by_tensors(rows.clone(), heads, bias.as_ref());
                for (found, expected) in found.iter().zip(&expected) {
                    assert!(
                        (found - expected).abs() < 2e-6,
                        "{heads} heads, {n_tokens} tokens, {mask:?}: {found} for {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_masked_token_adds_nothing_at_all() {
        let rows = |last: f32| {
            let value = Tensor::cat(
                vec![table([1, 4, 8], 2), Tensor::full([1, 1, 8], last, &cpu())],
                1,
            );
            [table([1, 5, 8], 0), table([1, 5, 8], 1), value]
        };
        let mask = TensorData::from([[[[0.0, 0.0, 0.0, 0.0, f32::NEG_INFINITY]]]]);
        let mask = Tensor::<4>::from_data(mask, &cpu());
        let mixed = |last| host_values(attend(rows(last), 2, Some(&mask)));
        assert_eq!(mixed(1e30), mixed(-3.0), "whatever its value is");
    }
}
