// (x − mean) / √(variance + ε) · γ + β of each row: a workgroup has a row, and its threads take the columns in
// turn. Each adds up its own columns, and then the sums of all threads.

struct Sizes { width: u32, epsilon: f32 }

@group(0) @binding(0) var<storage, read> rows: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> gamma: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> beta: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> sizes: Sizes;

const N_THREADS = {{ along_columns }}u * {{ along_rows }}u;

var<workgroup> sums: array<f32, N_THREADS>;

fn total(thread: u32, sum: vec4<f32>) -> f32 {
    sums[thread] = dot(sum, vec4<f32>(1.0));
    workgroupBarrier();
    var total = 0.0;
    for (var i = 0u; i < N_THREADS; i += 1u) {
        total += sums[i];
    }
    workgroupBarrier();
    return total;
}

@compute @workgroup_size({{ along_columns }}, {{ along_rows }}, 1)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let width = sizes.width / 4u;
    let at = group.x * width;
    let n_values = f32(sizes.width);
    var sum = vec4<f32>(0.0);
    for (var i = thread; i < width; i += N_THREADS) {
        sum += rows[at + i];
    }
    let mean = vec4<f32>(total(thread, sum) / n_values);
    var squares = vec4<f32>(0.0);
    for (var i = thread; i < width; i += N_THREADS) {
        let distance = rows[at + i] - mean;
        squares = fma(distance, distance, squares);
    }
    let scale = inverseSqrt(total(thread, squares) / n_values + sizes.epsilon);
    for (var i = thread; i < width; i += N_THREADS) {
        output[at + i] = fma((rows[at + i] - mean) * scale, gamma[i], beta[i]);
    }
}
