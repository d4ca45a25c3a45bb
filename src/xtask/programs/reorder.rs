//! A WebAssembly program with its functions in another order.

use std::convert::Infallible;

use wasm_encoder::reencode::{self, Reencode, utils};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{
    BinaryReaderError, CodeSectionReader, CustomSectionReader, FunctionBody, FunctionSectionReader,
    Parser, Payload, TypeRef,
};

use super::likeness::order_by_likeness;

type ReencodingError = reencode::Error<Infallible>;

/// The same program with like functions beside like, by which it compresses better, and without the sections that only
/// tools read, such as the names of functions.
pub(super) fn with_like_beside_like(program: &[u8]) -> Result<Vec<u8>, String> {
    let text = |e: &dyn std::error::Error| format!("expected a WebAssembly program: {e}");
    let functions = Functions::of(program).map_err(|e| text(&e))?;
    let order = order_by_likeness(&functions.bodies);
    let mut reordered = Reordered::new(functions.n_imported, order);
    let mut module = Module::new();
    let parsed = reordered.parse_core_module(&mut module, Parser::new(0), program);
    parsed.map_err(|e| text(&e))?;
    Ok(module.finish())
}

/// The functions of a program: how many it imports, and the bytes of its own.
struct Functions<'a> {
    n_imported: u32,
    bodies: Vec<&'a [u8]>,
}

impl<'a> Functions<'a> {
    fn of(program: &'a [u8]) -> Result<Self, BinaryReaderError> {
        let mut functions = Self {
            n_imported: 0,
            bodies: Vec::new(),
        };
        for payload in Parser::new(0).parse_all(program) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        let is_function = matches!(import?.ty, TypeRef::Func(_));
                        functions.n_imported += u32::from(is_function);
                    }
                }
                Payload::CodeSectionEntry(body) => functions.bodies.push(body.as_bytes()),
                _ => {}
            }
        }
        Ok(functions)
    }
}

/// Writes a program again with its own functions in an order.
struct Reordered {
    n_imported: u32,
    /// For each place, the function that comes to stand there.
    order: Vec<usize>,
    /// For each function, its place.
    places: Vec<u32>,
}

impl Reordered {
    fn new(n_imported: u32, order: Vec<usize>) -> Self {
        let mut places = vec![0; order.len()];
        for (place, &function) in (0..).zip(&order) {
            places[function] = place;
        }
        Self {
            n_imported,
            order,
            places,
        }
    }
}

impl Reencode for Reordered {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, ReencodingError> {
        // Those that are imported come first, and stay where they are.
        Ok(match function.checked_sub(self.n_imported) {
            Some(own) => self.n_imported + self.places[own as usize],
            None => function,
        })
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), ReencodingError> {
        let types: Vec<u32> = section.into_iter().collect::<Result<_, _>>()?;
        for &function in &self.order {
            functions.function(types[function]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), ReencodingError> {
        let bodies: Vec<FunctionBody<'_>> = section.into_iter().collect::<Result<_, _>>()?;
        for place in 0..self.order.len() {
            utils::parse_function_body(self, code, bodies[self.order[place]].clone())?;
        }
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        _: &mut Module,
        _: CustomSectionReader<'_>,
    ) -> Result<(), ReencodingError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        ConstExpr, ElementSection, Elements, EntityType, ExportKind, ExportSection, Function,
        ImportSection, RefType, StartSection, TableSection, TableType, TypeSection, ValType,
    };
    use wasmparser::{ElementItems, Operator};

    use super::*;

    /// A program whose functions, all exported and in a table, each call the next with a number of their own.
    fn program(n_functions: u16) -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([ValType::I32], []);
        let mut imports = ImportSection::new();
        imports.import("page", "hear", EntityType::Function(0));
        let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
        let (mut exports, mut elements) = (ExportSection::new(), ElementSection::new());
        for i in 0..n_functions {
            functions.function(0);
            let mut function = Function::new([]);
            // Every third begins alike.
            for constant in 0..i % 3 * 40 {
                function.instructions().i32_const(constant.into()).drop();
            }
            // The last calls what the program imports.
            let next = u32::from((i + 2) % (n_functions + 1));
            function.instructions().i32_const(i.into()).call(next);
            function.instructions().end();
            code.function(&function);
            exports.export(&format!("f{i}"), ExportKind::Func, 1 + u32::from(i));
        }
        let listed: Vec<u32> = (1..=n_functions.into()).collect();
        elements.active(
            None,
            &ConstExpr::i32_const(0),
            Elements::Functions(listed.into()),
        );
        let mut tables = TableSection::new();
        tables.table(TableType {
            element_type: RefType::FUNCREF,
            table64: false,
            minimum: n_functions.into(),
            maximum: None,
            shared: false,
        });
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions);
        module.section(&tables).section(&exports);
        module.section(&StartSection { function_index: 2 });
        module.section(&elements).section(&code);
        module.finish()
    }

    /// What a program says of each function: its name and its code, then which one starts and which stand in the table.
    fn told(program: &[u8]) -> Vec<String> {
        let functions = Functions::of(program).expect("a program");
        let mut told = Vec::new();
        let mut names = vec!["page.hear".to_owned()];
        names.resize(1 + functions.bodies.len(), String::new());
        let mut listed = Vec::new();
        let mut start = None;
        for payload in Parser::new(0).parse_all(program) {
            match payload.expect("a section") {
                Payload::ExportSection(exports) => {
                    for export in exports {
                        let export = export.expect("an export");
                        names[export.index as usize] = export.name.to_owned();
                    }
                }
                Payload::StartSection { func, .. } => start = Some(func),
                Payload::ElementSection(elements) => {
                    for element in elements {
                        let items = element.expect("elements").items;
                        let ElementItems::Functions(items) = items else {
                            panic!("expected functions");
                        };
                        listed.extend(items.into_iter().map(|item| item.expect("a function")));
                    }
                }
                Payload::CodeSectionEntry(body) => {
                    let operators = body.get_operators_reader().expect("a body");
                    let text: Vec<String> = operators
                        .into_iter()
                        .map(|operator| match operator.expect("an operator") {
                            Operator::Call { function_index } => {
                                format!("call {}", names[function_index as usize])
                            }
                            other => format!("{other:?}"),
                        })
                        .collect();
                    told.push(text.join(" "));
                }
                _ => {}
            }
        }
        let mut by_name: Vec<String> = names[1..]
            .iter()
            .zip(told)
            .map(|(name, text)| format!("{name}: {text}"))
            .collect();
        by_name.sort();
        by_name.push(format!("start {}", names[start.expect("a start") as usize]));
        by_name.extend(listed.iter().map(|&item| names[item as usize].clone()));
        by_name
    }

    #[test]
    fn every_name_still_means_the_same_function() {
        let program = program(30);
        let reordered = with_like_beside_like(&program).expect("a program");
        assert_ne!(reordered, program, "another order");
        assert_eq!(
            told(&reordered),
            told(&program),
            "calls, exports, the table and the start"
        );
        assert_eq!(
            with_like_beside_like(&program),
            Ok(reordered),
            "always the same order"
        );
    }

    #[test]
    fn what_only_tools_read_goes() {
        let mut program = program(3);
        let expected = with_like_beside_like(&program);
        program.extend([0, 3, 1, b'n', 9]);
        assert_eq!(
            with_like_beside_like(&program),
            expected,
            "a section called n"
        );
        program.pop();
        let cut = with_like_beside_like(&program);
        assert!(cut.is_err(), "a section that is cut short: {cut:?}");
    }
}
