// function(rows · matrix + bias) + onto, with what there is of them: each thread has four rows and four columns of the output, and reads along the
// inner dimension. Rows beyond the last one are read as the last, and not written.

struct Sizes { n_rows: u32, d_in: u32, d_out: u32, has_bias: u32, has_onto: u32 }

@group(0) @binding(0) var<storage, read> rows: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> matrix: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> onto: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> output: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> sizes: Sizes;

fn along(sum: vec4<f32>, row: vec4<f32>, m0: vec4<f32>, m1: vec4<f32>, m2: vec4<f32>, m3: vec4<f32>) -> vec4<f32> {
    return fma(vec4<f32>(row.w), m3, fma(vec4<f32>(row.z), m2, fma(vec4<f32>(row.y), m1, fma(vec4<f32>(row.x), m0, sum))));
}

fn write(at: u32, sum: vec4<f32>) {
    var value = {{ function }}(sum);
    if (sizes.has_onto != 0u) {
        value += onto[at];
    }
    output[at] = value;
}

@compute @workgroup_size({{ along_columns }}, {{ along_rows }}, 1)
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
    let inner = sizes.d_in / 4u;
    let width = sizes.d_out / 4u;
    let column = thread.x;
    let row = thread.y * 4u;
    if (column >= width || row >= sizes.n_rows) {
        return;
    }
    let last = sizes.n_rows - 1u;
    let at0 = row * inner;
    let at1 = min(row + 1u, last) * inner;
    let at2 = min(row + 2u, last) * inner;
    let at3 = min(row + 3u, last) * inner;
    var sum0 = vec4<f32>(0.0);
    if (sizes.has_bias != 0u) {
        sum0 = bias[column];
    }
    var sum1 = sum0;
    var sum2 = sum0;
    var sum3 = sum0;
    var at = column;
    for (var i = 0u; i < inner; i += 1u) {
        let m0 = matrix[at];
        let m1 = matrix[at + width];
        let m2 = matrix[at + 2u * width];
        let m3 = matrix[at + 3u * width];
        at += 4u * width;
        sum0 = along(sum0, rows[at0 + i], m0, m1, m2, m3);
        sum1 = along(sum1, rows[at1 + i], m0, m1, m2, m3);
        sum2 = along(sum2, rows[at2 + i], m0, m1, m2, m3);
        sum3 = along(sum3, rows[at3 + i], m0, m1, m2, m3);
    }
    let to = row * width + column;
    write(to, sum0);
    if (row + 1u <= last) { write(to + width, sum1); }
    if (row + 2u <= last) { write(to + 2u * width, sum2); }
    if (row + 3u <= last) { write(to + 3u * width, sum3); }
}
