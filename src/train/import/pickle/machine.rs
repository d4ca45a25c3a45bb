//! Reads opcodes. The machine only moves values between its stack, its memory and the list of objects.

use std::collections::HashMap;

use super::objects::{Global, Node, Objects, Unpickled, Value};

/// More arguments than any function of a tensor takes.
const MAX_ARGUMENTS: usize = 16;

/// More steps than any file of tensors takes; each may make an object a hundred times as large as its byte. ViT-B/32
/// takes some 50,000 with all of its attributes.
const MAX_STEPS: usize = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct Machine<'a> {
    rest: &'a [u8],
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: HashMap<u32, Value>,
    pub(super) objects: Objects,
}

impl<'a> Machine<'a> {
    pub(super) fn new(pickle: &'a [u8]) -> Self {
        let rest = pickle;
        Self {
            rest,
            ..Self::default()
        }
    }

    /// Number of bytes after the opcodes that were run.
    pub(super) fn n_left(&self) -> usize {
        self.rest.len()
    }

    /// The names on the stack, outermost first: where in the file the reading is.
    pub(super) fn place(&self) -> String {
        let mut names = Vec::new();
        let mut end = self.stack.len();
        for start in self.marks.iter().rev().copied().chain([0]) {
            let frame = self.stack.get(start..end).unwrap_or_default();
            let name = frame.iter().rev().find_map(|value| match value {
                Value::Text(name) => Some(&**name),
                _ => None,
            });
            names.extend(name);
            end = start;
        }
        names.reverse();
        if names.is_empty() {
            String::new()
        } else {
            format!("{}: ", names.join("."))
        }
    }

    /// Runs to the end and returns what is on top of the stack there.
    pub(super) fn run(&mut self) -> Unpickled<Value> {
        for _ in 0..MAX_STEPS {
            let [opcode] = self.take()?;
            match opcode {
                b'.' => return self.pop(),
                b'(' => self.marks.push(self.stack.len()),
                b'q' | b'r' | 0x94 | b'h' | b'j' => self.memory(opcode)?,
                b')' | b']' | b't' | 0x85..=0x87 | b'}' => self.container(opcode)?,
                b'a' | b'e' | b's' | b'u' => self.fill(opcode)?,
                b'c' | 0x93 | b'Q' | b'R' | 0x81 | b'b' => self.object(opcode)?,
                _ => self.constant(opcode)?,
            }
        }
        Err(format!("the pickle goes on after {MAX_STEPS} steps"))
    }

    fn constant(&mut self, opcode: u8) -> Unpickled<()> {
        let value = match opcode {
            // The protocol, and how many bytes follow.
            0x80 => return self.take::<1>().map(|_| ()),
            0x95 => return self.take::<8>().map(|_| ()),
            b'N' | 0x88 | 0x89 => Value::Nothing,
            b'G' => self.take::<8>().map(|_| Value::Nothing)?,
            b'K' => Value::Integer(u8::from_le_bytes(self.take()?).into()),
            b'M' => Value::Integer(u16::from_le_bytes(self.take()?).into()),
            b'J' => Value::Integer(i32::from_le_bytes(self.take()?).into()),
            0x8a => self.long()?,
            b'X' => {
                let length = u32::from_le_bytes(self.take()?) as usize;
                self.text(length)?
            }
            0x8c => {
                let [length] = self.take()?;
                self.text(length.into())?
            }
            _ => {
                return Err(format!(
                    "the pickle has the opcode {opcode:#04x}, which no tensor needs"
                ));
            }
        };
        self.stack.push(value);
        Ok(())
    }

    fn memory(&mut self, opcode: u8) -> Unpickled<()> {
        let index = match opcode {
            b'q' | b'h' => self.take().map(u8::from_le_bytes)?.into(),
            b'r' | b'j' => self.take().map(u32::from_le_bytes)?,
            _ => u32::try_from(self.memo.len()).map_err(|error| error.to_string())?,
        };
        if matches!(opcode, b'h' | b'j') {
            let value = self.memo.get(&index);
            let value = value
                .ok_or_else(|| format!("the pickle reads memo {index}, which it never wrote"))?;
            self.stack.push(value.clone());
        } else {
            let top = self.stack.last().ok_or("the pickle's stack is empty")?;
            self.memo.insert(index, top.clone());
        }
        Ok(())
    }

    fn container(&mut self, opcode: u8) -> Unpickled<()> {
        let node = match opcode {
            b'}' => Node::Dictionary(Vec::new()),
            b't' => Node::Sequence(self.pop_to_mark()?),
            0x85..=0x87 => {
                let length = usize::from(opcode - 0x84);
                let start = self.stack.len().checked_sub(length);
                let start = start.ok_or("the pickle's stack is empty")?;
                Node::Sequence(self.stack.split_off(start))
            }
            _ => Node::Sequence(Vec::new()),
        };
        self.push(node);
        Ok(())
    }

    fn fill(&mut self, opcode: u8) -> Unpickled<()> {
        let items = match opcode {
            b'a' => vec![self.pop()?],
            b's' => {
                let value = self.pop()?;
                vec![self.pop()?, value]
            }
            _ => self.pop_to_mark()?,
        };
        let target = self.stack.last().ok_or("the pickle's stack is empty")?;
        match self.objects.get_mut(target) {
            Some(Node::Sequence(list)) if matches!(opcode, b'a' | b'e') => list.extend(items),
            Some(Node::Dictionary(members)) if matches!(opcode, b's' | b'u') => {
                let mut items = items.into_iter();
                while let (Some(key), Some(value)) = (items.next(), items.next()) {
                    members.push((key, value));
                }
            }
            _ => {
                return Err(
                    "the pickle adds items to something that is not a list or a dictionary"
                        .to_owned(),
                );
            }
        }
        Ok(())
    }

    fn object(&mut self, opcode: u8) -> Unpickled<()> {
        match opcode {
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.push_global(&module, &name)
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (Value::Text(name), Value::Text(module)) = (name, module) else {
                    return Err(
                        "the pickle names a class or function by something that is not text"
                            .to_owned(),
                    );
                };
                self.push_global(&module, &name)
            }
            b'Q' => {
                let id = self.pop_sequence()?;
                let storage = self.objects.storage(&id)?;
                self.push(Node::Storage(storage));
                Ok(())
            }
            b'R' => {
                let arguments = self.pop_sequence()?;
                let function = self.pop_global()?;
                let result = self.objects.call(function, arguments)?;
                self.stack.push(result);
                Ok(())
            }
            0x81 => {
                self.pop_sequence()?;
                match self.pop_global()? {
                    Global::Module => self.push(Node::Module(Value::Nothing)),
                    Global::OrderedDict => self.push(Node::Dictionary(Vec::new())),
                    _ => {
                        return Err(
                            "the pickle creates an object of a class that is not a module"
                                .to_owned(),
                        );
                    }
                }
                Ok(())
            }
            _ => self.build(),
        }
    }

    /// Gives a module its attributes. A dictionary's own attributes (`_metadata`) are ignored.
    fn build(&mut self) -> Unpickled<()> {
        let state = self.pop()?;
        let target = self.stack.last().ok_or("the pickle's stack is empty")?;
        match self.objects.get_mut(target) {
            Some(Node::Module(attributes)) => *attributes = state,
            Some(Node::Dictionary(_)) => {}
            _ => {
                return Err(
                    "the pickle sets attributes on something that is not a module".to_owned(),
                );
            }
        }
        Ok(())
    }

    fn push(&mut self, node: Node) {
        let value = self.objects.push(node);
        self.stack.push(value);
    }

    fn push_global(&mut self, module: &str, name: &str) -> Unpickled<()> {
        let global = Global::named(module, name)?;
        self.push(Node::Global(global));
        Ok(())
    }

    /// The top of the stack, above the last mark.
    fn pop(&mut self) -> Unpickled<Value> {
        let floor = self.marks.last().copied().unwrap_or_default();
        let top = if self.stack.len() > floor {
            self.stack.pop()
        } else {
            None
        };
        top.ok_or_else(|| "the pickle's stack is empty".to_owned())
    }

    fn pop_to_mark(&mut self) -> Unpickled<Vec<Value>> {
        let mark = self.marks.pop().ok_or("the pickle has no mark")?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn pop_sequence(&mut self) -> Unpickled<Vec<Value>> {
        let top = self.pop()?;
        match self.objects.get(&top) {
            Some(Node::Sequence(values)) if values.len() <= MAX_ARGUMENTS => Ok(values.clone()),
            _ => Err("the pickle's arguments are not a short tuple".to_owned()),
        }
    }

    fn pop_global(&mut self) -> Unpickled<Global> {
        let top = self.pop()?;
        match self.objects.get(&top) {
            Some(Node::Global(global)) => Ok(*global),
            _ => Err("the pickle calls something that is not a known function".to_owned()),
        }
    }

    fn take<const N: usize>(&mut self) -> Unpickled<[u8; N]> {
        let split = self.rest.split_first_chunk::<N>();
        let (taken, rest) = split.ok_or("the pickle ends too early")?;
        self.rest = rest;
        Ok(*taken)
    }

    fn take_slice(&mut self, length: usize) -> Unpickled<&[u8]> {
        let split = self.rest.split_at_checked(length);
        let (taken, rest) = split.ok_or("the pickle ends too early")?;
        self.rest = rest;
        Ok(taken)
    }

    fn text(&mut self, length: usize) -> Unpickled<Value> {
        let text = std::str::from_utf8(self.take_slice(length)?)
            .map_err(|_| "the pickle has text that is not UTF-8")?;
        Ok(Value::Text(text.into()))
    }

    fn line(&mut self) -> Unpickled<String> {
        let length = self.rest.iter().position(|byte| *byte == b'\n');
        let length = length.ok_or("the pickle ends too early")?;
        let line = self.take_slice(length)?.to_vec();
        self.take::<1>()?;
        String::from_utf8(line).map_err(|_| "the pickle has text that is not UTF-8".to_owned())
    }

    /// A whole number of up to eight bytes; a longer one cannot be a size, and reads as nothing.
    fn long(&mut self) -> Unpickled<Value> {
        let [length] = self.take()?;
        let bytes = self.take_slice(length.into())?;
        let is_negative = bytes.last().is_some_and(|byte| *byte >= 0x80);
        let mut long = [if is_negative { 0xff } else { 0 }; 8];
        let Some(target) = long.get_mut(..bytes.len()) else {
            return Ok(Value::Nothing);
        };
        target.copy_from_slice(bytes);
        Ok(Value::Integer(i64::from_le_bytes(long)))
    }
}
