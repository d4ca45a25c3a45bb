//! The kernel that multiplies by packed matrices, made for the browser that runs it.

mod assembly;

use std::cell::RefCell;

use js_sys::{Array, Function, Object, Reflect, Uint8Array, WebAssembly};
use wasm_bindgen::{JsCast as _, JsValue};

use crate::host::gemm::{Kernel, PANEL_COLUMNS, PanelValues, Product, portable};
pub use assembly::MultiplyAdd;
use assembly::{FLOAT, INT8, MEMORY};

/// The two products of a module that was made for this browser.
struct Instance {
    float: Function,
    int8: Function,
}

thread_local! {
    static INSTANCE: RefCell<Option<Instance>> = const { RefCell::new(None) };
}

/// The fastest kernel that this browser takes; the portable one where it takes no module of ours.
pub fn kernel() -> Kernel {
    let kernels = [MultiplyAdd::Relaxed, MultiplyAdd::Separate];
    let first = kernels
        .into_iter()
        .find_map(|multiply_add| assembled_kernel(multiply_add).ok());
    first.unwrap_or(portable)
}

/// A kernel of these instructions, which from now on replaces the one assembled before.
///
/// # Errors
///
/// Exception of the browser, if it does not know these instructions.
pub fn assembled_kernel(multiply_add: MultiplyAdd) -> Result<Kernel, JsValue> {
    INSTANCE.set(Some(instance(multiply_add)?));
    Ok(assembled)
}

fn instance(multiply_add: MultiplyAdd) -> Result<Instance, JsValue> {
    let bytes = Uint8Array::from(assembly::module(multiply_add).as_slice());
    let module = WebAssembly::Module::new(&bytes)?;
    let (imports, engine) = (Object::new(), Object::new());
    Reflect::set(&engine, &MEMORY[1].into(), &wasm_bindgen::memory())?;
    Reflect::set(&imports, &MEMORY[0].into(), &engine)?;
    let exports = WebAssembly::Instance::new(&module, &imports)?.exports();
    let function = |name: &str| Reflect::get(&exports, &name.into())?.dyn_into::<Function>();
    Ok(Instance {
        float: function(FLOAT)?,
        int8: function(INT8)?,
    })
}

/// The product by the instance, which gets addresses and works in this program's own memory.
fn assembled(product: Product<'_>) {
    let Product {
        rows,
        panels,
        bias,
        output,
    } = product;
    let (n_columns, d_in) = (panels.n_columns(), panels.d_in);
    let n_rows = rows.len() / d_in;
    // Reads and writes beyond the buffers would touch other values of this program's memory.
    assert_eq!(output.len(), n_rows * n_columns, "room for each sum");
    assert_eq!(bias.len(), n_columns, "a bias for each column");
    let sizes = [n_rows, d_in, n_columns / PANEL_COLUMNS];
    let (panels, scales) = match &panels.values {
        PanelValues::Float(values) => (address(values), None),
        PanelValues::Int8 { multiples, scales } => {
            assert_eq!(scales.len(), n_columns, "a factor for each column");
            (address(multiples), Some(address(scales)))
        }
    };
    let addresses = [
        address(rows),
        panels,
        address(bias),
        output.as_mut_ptr().expose_provenance(),
    ];
    let arguments: Array = addresses
        .into_iter()
        .chain(sizes)
        .chain([scales.unwrap_or_default()])
        .map(JsValue::from)
        .collect();
    INSTANCE.with_borrow(|instance| {
        let instance = instance.as_ref().expect("made before it was handed out");
        let function = match scales {
            None => &instance.float,
            Some(_) => &instance.int8,
        };
        let called = function.apply(&JsValue::NULL, &arguments);
        called.expect("addresses of this program's own memory");
    });
}

fn address<T>(values: &[T]) -> usize {
    values.as_ptr().expose_provenance()
}
