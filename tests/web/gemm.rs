//! The kernel that is made for the browser, beside the portable one.

use std::ptr;

use kappascope::host::gemm::{Kernel, PANEL_COLUMNS, Panels, Product, portable};
use kappascope::worker::gemm_kernel::{MultiplyAdd, assembled_kernel, kernel};
use wasm_bindgen_test::wasm_bindgen_test;

/// Numbers in (−1, 1) that do not repeat with any size in use.
fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i as f32 * 0.7).sin()).collect()
}

fn product(kernel: Kernel, n_rows: usize, panels: &Panels) -> Vec<f32> {
    let n_columns = panels.n_columns();
    let (rows, bias) = (numbers(n_rows * panels.d_in), numbers(n_columns));
    // What the kernel writes beyond its output would be seen at the end.
    let mut output = vec![f32::NAN; n_rows * n_columns];
    kernel(Product {
        rows: &rows,
        panels,
        bias: &bias,
        output: &mut output,
    });
    output
}

fn compare(kernel: Kernel) {
    assert!(
        !ptr::fn_addr_eq(kernel, portable as Kernel),
        "made for this browser"
    );
    for n_rows in [0, 1, 2, 3, 4, 5, 6, 11, 50] {
        for d_in in [1, 3, 4, 31, 64] {
            for d_out in [PANEL_COLUMNS, 13, 96] {
                let columns = numbers(d_in * d_out);
                for panels in [
                    Panels::pack(&columns, d_in),
                    Panels::pack_int8(&columns, d_in),
                ] {
                    let expected = product(portable, n_rows, &panels);
                    let found = product(kernel, n_rows, &panels);
                    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                        assert!(
                            (found - expected).abs() <= 1e-5,
                            "{n_rows} rows, {panels:?}, number {i}: {found} for {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[wasm_bindgen_test]
fn the_kernel_of_this_browser_multiplies_as_the_portable_one() {
    compare(kernel());
}

#[wasm_bindgen_test]
fn so_does_the_one_that_every_browser_takes() {
    compare(assembled_kernel(MultiplyAdd::Separate).expect("this browser has SIMD"));
}
