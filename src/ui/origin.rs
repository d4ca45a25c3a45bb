//! Where a model's weights come from, and what a worker is told to have them.

use js_sys::{Array, Reflect};
use leptos::web_sys;
use wasm_bindgen::JsValue;
use web_sys::File;

use crate::protocol::{Hub, Request};
use crate::ui::dom::browser;
use crate::wire;

/// The property of a message that holds files; the protocol itself knows plain data only.
const FILES: &str = "files";
/// The model that comes with the page.
pub(crate) const SCENES: &str = "./models/scenes/manifest.json";

/// Where a model's weights come from.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// The page brings it.
    Scenes,
    /// A manifest beside the page, by its path.
    Beside(&'static str),
    /// The model hub.
    Hub(Hub),
    /// Files that the visitor picked.
    Files(Vec<File>),
}

impl Origin {
    pub(crate) fn is_scenes(&self) -> bool {
        matches!(self, Self::Scenes)
    }

    /// The message that has a worker load the model.
    pub(crate) fn message(&self) -> Result<JsValue, String> {
        let request = match self {
            Self::Scenes => load(SCENES),
            Self::Beside(path) => load(path),
            Self::Hub(hub) => Request::LoadHub(hub.clone()),
            Self::Files(files) => Request::LoadFiles {
                names: files.iter().map(File::name).collect(),
            },
        };
        let message = wire::to_js(&request).map_err(|error| error.to_string())?;
        if let Self::Files(files) = self {
            let files: Array = files.iter().collect();
            Reflect::set(&message, &FILES.into(), &files)
                .map_err(|error| crate::ui::engine::reason(&error))?;
        }
        Ok(message)
    }
}

fn load(path: &str) -> Request {
    Request::Load {
        manifest_url: browser::beside_page(path),
    }
}
