//! The kernel's WebAssembly, written instruction by instruction.
//!
//! `f32x4.relaxed_madd` multiplies and adds in one step, but a module that holds one such instruction is invalid as a
//! whole where it is unknown (Safari). The engine is compiled once, for all browsers; this module is written for the
//! browser that runs it. It also keeps the sums of a tile in registers, which a compiler does not promise.

use wasm_encoder::{
    BlockType, CodeSection, ExportKind, ExportSection, Function, FunctionSection, ImportSection,
    InstructionSink, MemArg, MemArgTarget, MemoryType, Module, TypeSection, ValType,
};

use crate::host::gemm::PANEL_COLUMNS;

/// Names of the module's exports: a product with panels of floats, and with panels of whole numbers.
pub(super) const FLOAT: &str = "float";
pub(super) const INT8: &str = "int8";

/// Module and name of the memory that it works in.
pub(super) const MEMORY: [&str; 2] = ["engine", "memory"];

/// Rows of a tile: with two vectors a row, the sums, the vectors of the panel and a value of the row stay in 16
/// registers.
const TILE_ROWS: u32 = 5;

/// Columns of a panel.
#[expect(clippy::cast_possible_truncation, reason = "a handful")]
const COLUMNS: u32 = PANEL_COLUMNS as u32;

/// Numbers in a vector.
const LANES: u32 = 4;
/// Vectors in a row of a panel.
const VECTORS: u32 = COLUMNS / LANES;
/// Bytes of a float.
const FLOAT_BYTES: u32 = 4;
/// Bytes of a vector.
const VECTOR_BYTES: u32 = LANES * FLOAT_BYTES;
/// Bytes of a row of a panel's output.
const ROW_BYTES: u32 = VECTORS * VECTOR_BYTES;

/// Steps along the inner dimension that one turn of the loop takes.
const UNROLLED: u32 = 4;

/// The instructions by which a product is added to a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MultiplyAdd {
    /// `a·b + c`, rounded once or twice.
    Relaxed,
    /// `a·b`, then the sum.
    Separate,
}

/// Format of a panel's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    Float,
    Int8,
}

/// Locals that hold a product's parameters, in their order: addresses, but for the numbers `n_rows`, `d_in` and
/// `n_panels`. Products of floats leave `scales` unused.
const ROWS: u32 = 0;
const PANELS: u32 = 1;
const BIAS: u32 = 2;
const OUTPUT: u32 = 3;
const N_ROWS: u32 = 4;
const D_IN: u32 = 5;
const N_PANELS: u32 = 6;
const SCALES: u32 = 7;
const N_PARAMETERS: u32 = 8;

/// The module: a function for each number of rows of a tile, and the product, for both kinds of values.
pub(super) fn module(multiply_add: MultiplyAdd) -> Vec<u8> {
    let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
    let mut exports = ExportSection::new();
    for (name, values) in [(FLOAT, Values::Float), (INT8, Values::Int8)] {
        let first_tile = functions.len();
        for n_rows in 1..=TILE_ROWS {
            functions.function(0);
            code.function(&Tile { n_rows, values }.function(multiply_add));
        }
        exports.export(name, ExportKind::Func, functions.len());
        functions.function(0);
        code.function(&product(values, first_tile));
    }
    let mut types = TypeSection::new();
    types
        .ty()
        .function([ValType::I32; N_PARAMETERS as usize], []);
    let mut imports = ImportSection::new();
    let memory = MemoryType {
        minimum: 0,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    imports.import(MEMORY[0], MEMORY[1], memory);
    let mut module = Module::new();
    module
        .section(&types)
        .section(&imports)
        .section(&functions)
        .section(&exports)
        .section(&code);
    module.finish()
}

impl Values {
    /// Bytes of a panel's row.
    const fn row_bytes(self) -> u32 {
        match self {
            Self::Float => ROW_BYTES,
            Self::Int8 => COLUMNS,
        }
    }
}

/// All rows by all panels; each panel stays in the cache while the rows pass by.
fn product(values: Values, first_tile: u32) -> Function {
    const ROW: u32 = N_PARAMETERS;
    const PLACE: u32 = N_PARAMETERS + 1;
    const ROWS_LEFT: u32 = N_PARAMETERS + 2;
    const TILES_LEFT: u32 = N_PARAMETERS + 3;
    const HEIGHT: u32 = N_PARAMETERS + 4;
    const ROW_STRIDE: u32 = N_PARAMETERS + 5;
    const OUTPUT_STRIDE: u32 = N_PARAMETERS + 6;
    let mut function = Function::new([(7, ValType::I32)]);
    let mut code = function.instructions();
    scaled(&mut code, D_IN, FLOAT_BYTES).local_set(ROW_STRIDE);
    scaled(&mut code, N_PANELS, ROW_BYTES).local_set(OUTPUT_STRIDE);
    repeated(&mut code, N_PANELS, 1, |code| {
        code.local_get(ROWS).local_set(ROW);
        code.local_get(OUTPUT).local_set(PLACE);
        code.local_get(N_ROWS).local_set(ROWS_LEFT);
        code.local_get(N_ROWS)
            .i32_const(signed(TILE_ROWS - 1))
            .i32_add()
            .i32_const(signed(TILE_ROWS))
            .i32_div_u()
            .local_set(TILES_LEFT);
        repeated(code, TILES_LEFT, 1, |code| {
            // Tiles of about the same height: one of a single row would wait for each of its sums.
            code.local_get(ROWS_LEFT)
                .local_get(TILES_LEFT)
                .i32_add()
                .i32_const(1)
                .i32_sub()
                .local_get(TILES_LEFT)
                .i32_div_u()
                .local_set(HEIGHT);
            let arguments = [
                ROW,
                PANELS,
                BIAS,
                PLACE,
                ROW_STRIDE,
                D_IN,
                OUTPUT_STRIDE,
                SCALES,
            ];
            call_tile(code, first_tile, HEIGHT, arguments);
            for (address, stride) in [(ROW, ROW_STRIDE), (PLACE, OUTPUT_STRIDE)] {
                code.local_get(HEIGHT).local_get(stride).i32_mul();
                code.local_get(address).i32_add().local_set(address);
            }
            code.local_get(ROWS_LEFT).local_get(HEIGHT).i32_sub();
            code.local_set(ROWS_LEFT);
        });
        scaled(code, D_IN, values.row_bytes());
        code.local_get(PANELS).i32_add().local_set(PANELS);
        for address in [BIAS, OUTPUT, SCALES] {
            advance(code, address, ROW_BYTES);
        }
    });
    code.end();
    function
}

/// Calls the tile of so many rows.
fn call_tile(
    code: &mut InstructionSink<'_>,
    first_tile: u32,
    height: u32,
    arguments: [u32; N_PARAMETERS as usize],
) {
    for n_rows in 1..=TILE_ROWS {
        code.local_get(height).i32_const(signed(n_rows)).i32_eq();
        code.if_(BlockType::Empty);
        for argument in arguments {
            code.local_get(argument);
        }
        code.call(first_tile + n_rows - 1).end();
    }
}

/// Rows by one panel.
#[derive(Clone, Copy)]
struct Tile {
    n_rows: u32,
    values: Values,
}

/// Locals that hold other parameters in a tile than in a product: bytes from row to row of the input, in place of the
/// number of rows, and of the output, in place of the number of panels.
const ROW_STRIDE: u32 = N_ROWS;
const OUTPUT_STRIDE: u32 = N_PANELS;

impl Tile {
    /// The local that holds the address of a row.
    const fn row(i: u32) -> u32 {
        if i == 0 { ROWS } else { N_PARAMETERS + i - 1 }
    }

    /// The local that holds a vector of sums.
    const fn sum(self, i: u32, vector: u32) -> u32 {
        N_PARAMETERS + self.n_rows - 1 + i * VECTORS + vector
    }

    /// The local that holds a vector of the panel.
    const fn weights(self, vector: u32) -> u32 {
        self.sum(self.n_rows, vector)
    }

    /// The local that holds a value of a row, in each lane.
    const fn value(self) -> u32 {
        self.weights(VECTORS)
    }

    fn function(self, multiply_add: MultiplyAdd) -> Function {
        let n_vectors = self.n_rows * VECTORS + VECTORS + 1;
        let mut function =
            Function::new([(self.n_rows - 1, ValType::I32), (n_vectors, ValType::V128)]);
        let mut code = function.instructions();
        for i in 1..self.n_rows {
            code.local_get(Self::row(i - 1)).local_get(ROW_STRIDE);
            code.i32_add().local_set(Self::row(i));
        }
        for n_steps in [UNROLLED, 1] {
            repeated(&mut code, D_IN, n_steps, |code| {
                (0..n_steps).for_each(|step| self.step(code, step, multiply_add));
                for i in 0..self.n_rows {
                    advance(code, Self::row(i), n_steps * FLOAT_BYTES);
                }
                advance(code, PANELS, n_steps * self.values.row_bytes());
            });
        }
        self.finish(&mut code);
        code.end();
        function
    }

    /// Adds the products of one place of the inner dimension to all sums.
    fn step(self, code: &mut InstructionSink<'_>, step: u32, multiply_add: MultiplyAdd) {
        let panel_row = step * self.values.row_bytes();
        match self.values {
            Values::Float => {
                for vector in 0..VECTORS {
                    code.local_get(PANELS)
                        .v128_load(at(panel_row + vector * VECTOR_BYTES))
                        .local_set(self.weights(vector));
                }
            }
            Values::Int8 => {
                let eight = self.value();
                code.local_get(PANELS)
                    .v128_load8x8_s(at(panel_row))
                    .local_tee(eight)
                    .i32x4_extend_low_i16x8_s();
                code.f32x4_convert_i32x4_s().local_set(self.weights(0));
                code.local_get(eight).i32x4_extend_high_i16x8_s();
                code.f32x4_convert_i32x4_s().local_set(self.weights(1));
            }
        }
        for i in 0..self.n_rows {
            code.local_get(Self::row(i))
                .v128_load32_splat(at(step * FLOAT_BYTES))
                .local_set(self.value());
            for vector in 0..VECTORS {
                let (sum, weights) = (self.sum(i, vector), self.weights(vector));
                match multiply_add {
                    MultiplyAdd::Relaxed => code
                        .local_get(self.value())
                        .local_get(weights)
                        .local_get(sum)
                        .f32x4_relaxed_madd(),
                    MultiplyAdd::Separate => code
                        .local_get(sum)
                        .local_get(self.value())
                        .local_get(weights)
                        .f32x4_mul()
                        .f32x4_add(),
                };
                code.local_set(sum);
            }
        }
    }

    /// Scales the sums, adds the bias and writes them.
    fn finish(self, code: &mut InstructionSink<'_>) {
        for i in 0..self.n_rows {
            for vector in 0..VECTORS {
                let offset = vector * VECTOR_BYTES;
                code.local_get(OUTPUT).local_get(self.sum(i, vector));
                if self.values == Values::Int8 {
                    code.local_get(SCALES).v128_load(at(offset)).f32x4_mul();
                }
                code.local_get(BIAS).v128_load(at(offset)).f32x4_add();
                code.v128_store(at(offset));
            }
            code.local_get(OUTPUT).local_get(OUTPUT_STRIDE);
            code.i32_add().local_set(OUTPUT);
        }
    }
}

/// A loop that runs while a number is at least `step`, which is subtracted from it each time.
fn repeated(
    code: &mut InstructionSink<'_>,
    number: u32,
    step: u32,
    something: impl FnOnce(&mut InstructionSink<'_>),
) {
    code.block(BlockType::Empty).loop_(BlockType::Empty);
    code.local_get(number).i32_const(signed(step)).i32_lt_u();
    code.br_if(1);
    something(code);
    code.local_get(number).i32_const(signed(step)).i32_sub();
    code.local_set(number).br(0).end().end();
}

/// Pushes a number times a constant.
fn scaled<'a, 'b>(
    code: &'a mut InstructionSink<'b>,
    number: u32,
    factor: u32,
) -> &'a mut InstructionSink<'b> {
    code.local_get(number).i32_const(signed(factor)).i32_mul()
}

/// Adds bytes to an address.
fn advance(code: &mut InstructionSink<'_>, address: u32, bytes: u32) {
    code.local_get(address).i32_const(signed(bytes));
    code.i32_add().local_set(address);
}

/// Memory argument at an offset from an address; no alignment is promised.
fn at(offset: u32) -> MemArg {
    MemArg {
        offset: offset.into(),
        align: 0,
        target: MemArgTarget::Memory(0),
        ordering: None,
    }
}

const fn signed(number: u32) -> i32 {
    number.cast_signed()
}
