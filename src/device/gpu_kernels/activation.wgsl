// What an affine map may do with its output, under the names of `model::activation`, and the clamp of convolutions.

fn unchanged(x: vec4<f32>) -> vec4<f32> {
    return x;
}

// An exponential that is no greater than a float can be.
fn bounded_exp(x: vec4<f32>) -> vec4<f32> {
    return exp(min(x, vec4<f32>(80.0)));
}

fn quick_gelu(x: vec4<f32>) -> vec4<f32> {
    return x / (1.0 + bounded_exp(-1.702 * x));
}

// (1 + tanh u) / 2 = 1 / (1 + exp(-2u)), of u = √(2/π) (x + 0.044715 x³).
fn gelu_pytorch_tanh(x: vec4<f32>) -> vec4<f32> {
    let u = 0.7978846 * (x + 0.044715 * x * x * x);
    return x / (1.0 + bounded_exp(-2.0 * u));
}

// By the normal distribution function of Abramowitz & Stegun 1964, 7.1.26.
fn gelu(x: vec4<f32>) -> vec4<f32> {
    let size = abs(x) * 0.70710678;
    let t = 1.0 / (1.0 + 0.3275911 * size);
    let polynomial = ((((1.0614054 * t - 1.4531520) * t + 1.4214138) * t - 0.28449672) * t + 0.2548296) * t;
    let tail = 0.5 * polynomial * exp(max(-size * size, vec4<f32>(-80.0)));
    return x * select(1.0 - tail, tail, x < vec4<f32>(0.0));
}

fn relu6(x: vec4<f32>) -> vec4<f32> {
    return clamp(x, vec4<f32>(0.0), vec4<f32>(6.0));
}
