// lhs · rhs of each pair of matrices, of any sizes: a thread has one number of the output.

struct Sizes { n_rows: u32, d_in: u32, d_out: u32 }

@group(0) @binding(0) var<storage, read> lhs: array<f32>;
@group(0) @binding(1) var<storage, read> rhs: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(3) var<storage, read> sizes: Sizes;

@compute @workgroup_size({{ along_columns }}, {{ along_rows }}, 1)
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
    let column = thread.x;
    if (column >= sizes.d_out || thread.y >= sizes.n_rows) {
        return;
    }
    let row = thread.z * sizes.n_rows + thread.y;
    let from_left = row * sizes.d_in;
    let from_right = thread.z * sizes.d_in * sizes.d_out + column;
    var sum = 0.0;
    for (var i = 0u; i < sizes.d_in; i += 1u) {
        sum = fma(lhs[from_left + i], rhs[from_right + i * sizes.d_out], sum);
    }
    output[row * sizes.d_out + column] = sum;
}
