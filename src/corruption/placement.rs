//! A picture turned, or partly hidden: severities of our own, in equal steps.

use super::canvas::Canvas;

/// Rotation about the middle for each severity, in degrees.
const DEGREES: f64 = 18.0;
/// Share of the side that the square hides for each severity.
const HIDDEN: f64 = 0.15;

/// Turned about its middle; what lies beyond the edge is mirrored.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounded places near a picture"
)]
pub(super) fn rotation(canvas: &Canvas, severity: u8) -> Canvas {
    let (sine, cosine) = (DEGREES * f64::from(severity)).to_radians().sin_cos();
    let centre = canvas.centre();
    canvas.map(|row, column, channel| {
        let (down, right) = (row as f64 - centre, column as f64 - centre);
        let from_row = (cosine * down - sine * right + centre).round() as isize;
        let from_column = (cosine * right + sine * down + centre).round() as isize;
        canvas.at(from_row, from_column, channel)
    })
}

/// A grey square over the middle.
pub(super) fn occlusion(canvas: &Canvas, severity: u8) -> Canvas {
    const GREY: f32 = 0.5;
    let centre = canvas.centre();
    let reach = HIDDEN * f64::from(severity) * canvas.side as f64 / 2.0;
    canvas.map(|row, column, channel| {
        let is_near = |place: isize| (place as f64 - centre).abs() <= reach;
        let is_hidden = is_near(row) && is_near(column);
        if is_hidden {
            GREY
        } else {
            canvas.at(row, column, channel)
        }
    })
}
