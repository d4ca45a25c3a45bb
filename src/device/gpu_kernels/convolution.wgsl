// Convolution of maps whose channels come last, of all channels or of each by itself, with its bias, clamped from 0 to
// 6: a thread has one output, or four neighbouring ones, of one place of one picture. Places before the first row or
// column wrap round to numbers beyond the last, and are left out like those.

struct Sizes {
    height: u32, width: u32, channels: u32,
    rows: u32, columns: u32, n_outputs: u32,
    kernel_size: u32, stride: u32, of_group: u32,
    top: u32, left: u32, is_depthwise: u32,
}

@group(0) @binding(0) var<storage, read> map: array<{{ seen }}>;
@group(0) @binding(1) var<storage, read> weight: array<{{ written }}>;
@group(0) @binding(2) var<storage, read> bias: array<{{ written }}>;
@group(0) @binding(3) var<storage, read_write> output: array<{{ written }}>;
@group(0) @binding(4) var<storage, read> sizes: Sizes;

@compute @workgroup_size({{ along_columns }}, {{ along_rows }}, 1)
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
    let column = thread.x;
    let place = thread.y;
    if (column >= sizes.n_outputs || place >= sizes.rows * sizes.columns) {
        return;
    }
    let y = place / sizes.columns * sizes.stride - sizes.top;
    let x = place % sizes.columns * sizes.stride - sizes.left;
    let first = sizes.is_depthwise * column;
    var sum = bias[column];
    for (var dy = 0u; dy < sizes.kernel_size; dy += 1u) {
        if (y + dy >= sizes.height) {
            continue;
        }
        for (var dx = 0u; dx < sizes.kernel_size; dx += 1u) {
            if (x + dx >= sizes.width) {
                continue;
            }
            let seen = ((thread.z * sizes.height + y + dy) * sizes.width + x + dx) * sizes.channels + first;
            let factor = (dy * sizes.kernel_size + dx) * sizes.of_group;
            for (var i = 0u; i < sizes.of_group; i += 1u) {
                sum = fma({{ written }}(map[seen + i]), weight[(factor + i) * sizes.n_outputs + column], sum);
            }
        }
    }
    let at = (thread.z * sizes.rows * sizes.columns + place) * sizes.n_outputs + column;
    output[at] = clamp(sum, {{ written }}(0.0), {{ written }}(6.0));
}
