//! The browser's cache of weights: an optimisation whose every failure means "not there".

use js_sys::Uint8Array;
use wasm_bindgen::prelude::JsCast as _;
use wasm_bindgen_futures::JsFuture;
use web_sys::{CacheQueryOptions, Response};

use super::scope::{property, scope};

const NAME: &str = "kappascope-weights";

/// Files by address and SHA-256; at most one version of each address.
#[derive(Debug)]
pub(super) struct Cache {
    /// `None` where the browser has none, as on insecure origins and in some private windows.
    cache: Option<web_sys::Cache>,
}

impl Cache {
    pub(super) async fn open() -> Self {
        Self {
            cache: open().await,
        }
    }

    /// The bytes kept under this address and hash; they must still be verified.
    pub(super) async fn find(&self, address: &str, sha256: &str) -> Option<Vec<u8>> {
        let found = JsFuture::from(self.cache.as_ref()?.match_with_str(&key(address, sha256)))
            .await
            .ok()?;
        let response: Response = found.dyn_into().ok()?;
        let buffer = JsFuture::from(response.array_buffer().ok()?).await.ok()?;
        Some(Uint8Array::new(&buffer).to_vec())
    }

    /// Keeps bytes in place of any other version of the same address.
    pub(super) async fn keep(&self, address: &str, sha256: &str, bytes: &[u8]) {
        // Full or forbidden storage is no reason to stop: the bytes are here.
        self.try_keep(address, sha256, bytes).await;
    }

    async fn try_keep(&self, address: &str, sha256: &str, bytes: &[u8]) -> Option<()> {
        let cache = self.cache.as_ref()?;
        let any_version = CacheQueryOptions::new();
        any_version.set_ignore_search(true);
        JsFuture::from(cache.delete_with_str_and_options(address, &any_version))
            .await
            .ok()?;
        let response = Response::new_with_opt_js_u8_array(Some(&Uint8Array::from(bytes))).ok()?;
        JsFuture::from(cache.put_with_str(&key(address, sha256), &response))
            .await
            .ok()?;
        Some(())
    }
}

async fn open() -> Option<web_sys::Cache> {
    if property(&scope(), "caches").is_undefined() {
        return None;
    }
    let storage = scope().caches().ok()?;
    JsFuture::from(storage.open(NAME))
        .await
        .ok()?
        .dyn_into()
        .ok()
}

fn key(address: &str, sha256: &str) -> String {
    format!("{address}?sha256={sha256}")
}
