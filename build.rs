//! Arguments of the linker for the page's program and the GPU engine.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Burn's compiler registers its operations in hundreds of constructors. Where nothing names them, the linker has every
    // call from JavaScript run them all, and an answer makes thousands of calls. Exported, `engine_gpu` runs them once.
    println!("cargo::rustc-link-arg-bin=engine_gpu=--export=__wasm_call_ctors");
    // By these the page's program is split in two, by `cargo xtask programs`.
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("wasm") {
        println!("cargo::rustc-link-arg-bin=app=--emit-relocs");
    }
}
