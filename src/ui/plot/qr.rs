//! A text as a square of dots that a phone reads.

use leptos::prelude::*;
use qrcode::{Color, EcLevel, QrCode};

/// Empty modules around the dots, as the standard asks.
const QUIET_ZONE: usize = 4;

/// The code of a text; `None` for a text that is too long for one.
pub(in crate::ui) fn qr(text: &str) -> Option<AnyView> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let (width, side) = (code.width(), code.width() + 2 * QUIET_ZONE);
    let colors = code.to_colors().into_iter().enumerate();
    let dark = colors.filter(|(_, color)| *color == Color::Dark);
    let dot = |i: usize| {
        format!(
            "M{} {}h1v1h-1z",
            i % width + QUIET_ZONE,
            i / width + QUIET_ZONE
        )
    };
    let path: String = dark.map(|(i, _)| dot(i)).collect();
    let view = view! {
        <svg
            class="qr" viewBox=format!("0 0 {side} {side}") role="img" aria-label="The link as a QR code"
            shape-rendering="crispEdges"
        >
            <rect class="qr-ground" width=side height=side/><path class="qr-dots" d=path/>
        </svg>
    };
    Some(view.into_any())
}
