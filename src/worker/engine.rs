//! What an engine is, and what its loads are given.

use std::cell::RefCell;
use std::rc::Rc;

use super::control::Control;
use super::files::Picked;
use crate::device::Device;
use crate::inference::gemm::Kernel;
use crate::protocol::Probes;

/// What an engine is.
#[derive(Debug, Clone)]
pub struct Engine {
    /// Name by which messages call it, `cpu` or `gpu`.
    pub name: &'static str,
    /// Greatest relative error that the self-test allows it.
    pub tolerance: f64,
    /// Where its tensors live.
    pub device: Device,
    /// The device in words.
    pub device_words: String,
    /// What multiplies by packed matrices, if it packs them.
    pub kernel: Option<Kernel>,
    /// Whether it is trusted with weights of which no golden values are known.
    pub is_reference: bool,
}

/// What a load is given beside its request.
#[derive(Debug, Clone, Default)]
pub(super) struct LoadInputs {
    pub(super) control: Control,
    pub(super) picked: Picked,
    /// Embeddings of the probes by another engine.
    pub(super) expected: Rc<RefCell<Option<Probes>>>,
}
