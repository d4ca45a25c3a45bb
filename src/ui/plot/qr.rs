//! A text as a square of dots that a phone reads.

use leptos::prelude::*;
use qrcode::{Color, EcLevel, QrCode};

/// Empty modules around the dots, as the standard asks.
const QUIET_ZONE: usize = 4;

/// The code of a text; `None` for a text that is too long for one.
pub(in crate::ui) fn qr(text: &str) -> Option<AnyView> {
    let (path, side) = code(text)?;
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

/// The path of the dots of a text's code, and the side of the square that they are in; `None` for a text that is too
/// long.
pub(in crate::ui) fn code(text: &str) -> Option<(String, usize)> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let width = code.width();
    let colors = code.to_colors().into_iter().enumerate();
    let dark = colors.filter(|(_, color)| *color == Color::Dark);
    let dot = |i: usize| {
        format!(
            "M{} {}h1v1h-1z",
            i % width + QUIET_ZONE,
            i / width + QUIET_ZONE
        )
    };
    Some((dark.map(|(i, _)| dot(i)).collect(), width + 2 * QUIET_ZONE))
}
