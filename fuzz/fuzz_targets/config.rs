#![no_main]

#[path = "../../tests/support/outside_input.rs"]
mod outside_input;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    outside_input::config(bytes);
});
