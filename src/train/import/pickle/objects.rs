//! Objects of a pickle of tensors, and the results of its few functions.

use std::rc::Rc;

use crate::weights::original::TensorDtype;

/// Most sizes that a shape has; a convolution's has four.
const MAX_RANK: usize = 8;

/// Longest name of a storage; `PyTorch` numbers them.
const MAX_KEY_BYTES: usize = 64;

/// A tensor as a pickle describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PickledTensor {
    pub(crate) storage: Storage,
    pub(crate) offset: usize,
    pub(crate) shape: Vec<usize>,
    pub(crate) strides: Vec<usize>,
}

/// Values in a file of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Storage {
    pub(crate) key: String,
    pub(crate) dtype: TensorDtype,
    pub(crate) n_values: usize,
}

/// A result, or the fault without its place in the file.
pub(super) type Unpickled<T> = Result<T, String>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Value that leads to no tensor: `None`, a truth value, a float.
    Nothing,
    Integer(i64),
    Text(Rc<str>),
    /// Index of a [`Node`].
    Node(usize),
}

#[derive(Debug)]
pub(super) enum Node {
    /// A tuple or a list.
    Sequence(Vec<Value>),
    Dictionary(Vec<(Value, Value)>),
    Global(Global),
    Storage(Storage),
    Tensor(PickledTensor),
    /// A `TorchScript` module and, once known, its attributes.
    Module(Value),
}

/// Classes and functions that a pickle may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Global {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
    /// One of the functions that give a `TorchScript` list its type.
    TypedList,
    Module,
    StorageClass(TensorDtype),
}

impl Global {
    pub(super) fn named(module: &str, name: &str) -> Unpickled<Self> {
        match (module, name) {
            ("collections", "OrderedDict") => Ok(Self::OrderedDict),
            ("torch._utils", "_rebuild_tensor_v2") => Ok(Self::RebuildTensor),
            ("torch._utils", "_rebuild_parameter") => Ok(Self::RebuildParameter),
            (
                "torch.jit._pickle",
                "build_intlist" | "build_doublelist" | "build_boollist" | "build_tensorlist"
                | "restore_type_tag",
            ) => Ok(Self::TypedList),
            ("torch", "DoubleStorage") => Ok(Self::StorageClass(TensorDtype::F64)),
            ("torch", "FloatStorage") => Ok(Self::StorageClass(TensorDtype::F32)),
            ("torch", "HalfStorage") => Ok(Self::StorageClass(TensorDtype::F16)),
            ("torch", "BFloat16Storage") => Ok(Self::StorageClass(TensorDtype::Bf16)),
            ("torch", "LongStorage") => Ok(Self::StorageClass(TensorDtype::Other { bytes: 8 })),
            ("torch", "IntStorage") => Ok(Self::StorageClass(TensorDtype::Other { bytes: 4 })),
            ("torch", "ShortStorage") => Ok(Self::StorageClass(TensorDtype::Other { bytes: 2 })),
            ("torch", "CharStorage" | "ByteStorage" | "BoolStorage") => {
                Ok(Self::StorageClass(TensorDtype::Other { bytes: 1 }))
            }
            _ if module == "__torch__" || module.starts_with("__torch__.") => Ok(Self::Module),
            _ => Err(format!(
                "the pickle names {module}.{name}, which is not part of a tensor"
            )),
        }
    }
}

/// Everything that a pickle made, in order.
#[derive(Debug, Default)]
pub(super) struct Objects(Vec<Node>);

impl Objects {
    pub(super) fn push(&mut self, node: Node) -> Value {
        self.0.push(node);
        Value::Node(self.0.len() - 1)
    }

    /// The object that a value stands for, if it stands for one.
    pub(super) fn get(&self, value: &Value) -> Option<&Node> {
        match value {
            Value::Node(index) => self.0.get(*index),
            _ => None,
        }
    }

    pub(super) fn get_mut(&mut self, value: &Value) -> Option<&mut Node> {
        match value {
            Value::Node(index) => self.0.get_mut(*index),
            _ => None,
        }
    }

    /// Object that the function of `PyTorch`'s would return.
    pub(super) fn call(&mut self, function: Global, mut arguments: Vec<Value>) -> Unpickled<Value> {
        match function {
            Global::OrderedDict if arguments.is_empty() => {
                Ok(self.push(Node::Dictionary(Vec::new())))
            }
            Global::RebuildTensor => {
                let tensor = self.tensor(&arguments)?;
                Ok(self.push(Node::Tensor(tensor)))
            }
            Global::RebuildParameter | Global::TypedList if !arguments.is_empty() => {
                Ok(arguments.swap_remove(0))
            }
            _ => Err("the pickle calls something that is not a known function".to_owned()),
        }
    }

    /// `('storage', class, key, device, n_values)`; before 1.6 a view's extent followed, which is always `None`.
    pub(super) fn storage(&self, id: &[Value]) -> Unpickled<Storage> {
        let id = id.strip_suffix(&[Value::Nothing]).unwrap_or(id);
        if let [
            Value::Text(kind),
            class,
            Value::Text(key),
            _,
            Value::Integer(n_values),
        ] = id
            && let Some(Node::Global(Global::StorageClass(dtype))) = self.get(class)
            && &**kind == "storage"
            && key.len() <= MAX_KEY_BYTES
        {
            let (key, dtype, n_values) = (key.to_string(), *dtype, size(*n_values)?);
            return Ok(Storage {
                key,
                dtype,
                n_values,
            });
        }
        Err("the pickle refers to something that is not a storage".to_owned())
    }

    /// `_rebuild_tensor_v2(storage, offset, shape, strides, requires_grad, backward_hooks)`.
    fn tensor(&self, arguments: &[Value]) -> Unpickled<PickledTensor> {
        let [storage, Value::Integer(offset), shape, strides, ..] = arguments else {
            return Err("the tensor's arguments are not those that PyTorch writes".to_owned());
        };
        let Some(Node::Storage(storage)) = self.get(storage) else {
            return Err("the tensor has no storage".to_owned());
        };
        Ok(PickledTensor {
            storage: storage.clone(),
            offset: size(*offset)?,
            shape: self.sizes(shape)?,
            strides: self.sizes(strides)?,
        })
    }

    fn sizes(&self, value: &Value) -> Unpickled<Vec<usize>> {
        let not_sizes = || "the tensor's shape is not a short list of whole numbers".to_owned();
        let values = match self.get(value) {
            Some(Node::Sequence(values)) if values.len() <= MAX_RANK => values,
            _ => return Err(not_sizes()),
        };
        let size = |value: &Value| match value {
            Value::Integer(value) => size(*value),
            _ => Err(not_sizes()),
        };
        values.iter().map(size).collect()
    }
}

fn size(value: i64) -> Unpickled<usize> {
    usize::try_from(value).map_err(|_| format!("{value} is not a valid size"))
}
