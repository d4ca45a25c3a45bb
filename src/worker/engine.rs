//! Description of an engine, and the inputs that its loads have beside their request.

use std::cell::RefCell;
use std::rc::Rc;

use super::control::Control;
use super::files::Picked;
use crate::device::Device;
use crate::host::gemm::Kernel;
use crate::protocol::Probes;

/// Engine of a worker: its name, tolerance, device and kernel.
#[derive(Debug, Clone)]
pub struct Engine {
    /// Name by which messages call it, `cpu` or `gpu`.
    pub name: &'static str,
    /// Greatest relative error that the self-test allows it.
    pub tolerance: f64,
    /// Device of its tensors.
    pub device: Device,
    /// Name of the device, for people.
    pub device_text: String,
    /// Kernel of packed products, if the engine packs its matrices.
    pub kernel: Option<Kernel>,
    /// Whether it is trusted with weights of which no golden values are known.
    pub is_reference: bool,
}

/// Inputs of a load beside its request: the visitor's command, the picked files, and another engine's embeddings.
#[derive(Debug, Clone, Default)]
pub(super) struct LoadInputs {
    pub(super) control: Control,
    pub(super) picked: Picked,
    /// Embeddings of the probes by another engine.
    pub(super) expected: Rc<RefCell<Option<Probes>>>,
}
