// softmax(q kᵀ · scale + bias) v for each head: each thread has four columns of one query, and goes once over the keys.
// The weights are kept relative to the greatest score so far.

struct Sizes {
    n_queries: u32, n_keys: u32, width: u32, head_width: u32,
    n_rows: u32, bias_of_sequence: u32, bias_of_head: u32, bias_of_query: u32,
    scale: f32, has_bias: u32,
}

@group(0) @binding(0) var<storage, read> queries: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> keys: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> output: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> sizes: Sizes;

@compute @workgroup_size({{ along_columns }}, {{ along_rows }}, 1)
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
    let width = sizes.width / 4u;
    let head_width = sizes.head_width / 4u;
    let column = thread.x;
    let row = thread.y;
    if (column >= width || row >= sizes.n_rows) {
        return;
    }
    let sequence = row / sizes.n_queries;
    let head = column / head_width;
    let query_at = row * width + head * head_width;
    let bias_at = sequence * sizes.bias_of_sequence + head * sizes.bias_of_head
        + (row % sizes.n_queries) * sizes.bias_of_query;
    var greatest = -3.0e38;
    var total = 0.0;
    var mixed = vec4<f32>(0.0);
    for (var key = 0u; key < sizes.n_keys; key += 1u) {
        let key_row = (sequence * sizes.n_keys + key) * width;
        let key_at = key_row + head * head_width;
        var products = vec4<f32>(0.0);
        for (var i = 0u; i < head_width; i += 1u) {
            products = fma(queries[query_at + i], keys[key_at + i], products);
        }
        var score = dot(products, vec4<f32>(sizes.scale));
        if (sizes.has_bias != 0u) {
            score = max(score + bias[bias_at + key], -3.0e38);
        }
        if (score > greatest) {
            let shrunk = exp(greatest - score);
            total *= shrunk;
            mixed *= shrunk;
            greatest = score;
        }
        let weight = exp(score - greatest);
        total += weight;
        mixed = fma(vec4<f32>(weight), values[key_row + column], mixed);
    }
    output[row * width + column] = mixed / total;
}
