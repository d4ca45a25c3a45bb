//! Spread of a caption on the sphere, in the model's own dimension and in any other.

use leptos::prelude::*;

use crate::explorer::views::geometry::{
    CaptionGeometry, CosineDistribution, N_DRAWS, PictureTick, ball_text, caption_geometry,
    dimensions,
};
use crate::explorer::{family_name, three_significant};
use crate::numerics::Family;
use crate::ui::page::state::PageState;
use crate::ui::panels::chosen_caption::{ChosenCaption, chosen_key};
use crate::ui::panels::chosen_picture::{PictureStrip, alt};
use crate::ui::panels::prose::about;
use crate::ui::plot;
use crate::ui::plot::{Bands, Line, Panel, Tick};
use crate::ui::views::geometry::spreads::{Concentration, LabelledSpread, concentration, spreads};
use crate::ui::views::geometry::tables::GeometryTables;

/// Share of the probability within a band on the ball.
const BAND: f64 = 0.95;
/// Room above the highest curve, as a share of it.
const HEADROOM: f64 = 1.05;

const NOT_YET: &str =
    "Not yet: this caption has no numbers. They come as soon as the model has read it.";
const EXACT: &str = "Curves are exact densities of the cosine between the caption’s mean direction and a picture. \
    Ticks are the pictures on the page; each distribution has a mean direction of its own.";
const ELSEWHERE: &str =
    "The pictures live in the model’s own dimension, so their ticks are shown only there.";
const ABOUT: &str = "
# Why no ball
A spread on a sphere is often drawn as a cap on a ball. In many dimensions almost all of the sphere lies near the
equator of any direction, so the same *κ* that means a tight cap on a ball means next to nothing there. Move the
slider and watch the curve walk to the middle.

# κ and τκ
Training compares likelihoods after multiplying them by *τ*, so pictures only fix the two together. *τκ* is the
spread that fits how far pictures really stand; it is a picture of scale and no evidence. All nats on this page use *κ*
alone; “times likelier” and shares weigh them by *τ*.";

/// The view: a caption, its spreads, the dimension, and what they say.
#[component]
pub(crate) fn Geometry() -> impl IntoView {
    let page = expect_context::<PageState>();
    let key = chosen_key(page);
    let geometry = Memo::new(move |_| {
        page.snapshot.with(|snapshot| {
            let (snapshot, key) = (snapshot.as_ref()?, key.get()?);
            page.state
                .with(|state| caption_geometry(snapshot, &state.pictures, key))
        })
    });
    let is_known = Memo::new(move |_| geometry.with(Option::is_some));
    let own = own_dimension(geometry);
    let shown = Memo::new(move |_| {
        page.state
            .with(|state| state.dimension)
            .unwrap_or_else(|| own.get())
    });
    view! {
        <section class="view" aria-labelledby="geometry-title">
            <h2 id="geometry-title">"Where do the pictures of a caption lie?"</h2>
            <ChosenCaption/>
            <Show when=move || is_known.get() fallback=|| view! { <p class="blank">{NOT_YET}</p> }>
                <Dimension geometry=geometry shown=shown/>
                <Spreads geometry=geometry shown=shown/>
                <GeometryTables geometry=geometry shown=shown/>
            </Show>
            {about(ABOUT)}
        </section>
    }
}

/// The dimension in which the spreads are drawn.
#[component]
fn Dimension(geometry: Memo<Option<CaptionGeometry>>, shown: Memo<usize>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let own = own_dimension(geometry);
    let offered = Memo::new(move |_| dimensions(own.get()));
    let at = move || {
        offered.with(|offered| {
            let at = offered.partition_point(|&dimension| dimension < shown.get());
            at.min(offered.len() - 1).to_string()
        })
    };
    let last = move || (offered.with(Vec::len) - 1).to_string();
    let choose = move |at: String| {
        let chosen = at
            .parse()
            .ok()
            .and_then(|at: usize| offered.with_untracked(|offered| offered.get(at).copied()));
        let dimension = chosen.filter(|chosen| *chosen != own.get_untracked());
        page.change(&mut |state| state.dimension = dimension);
    };
    let words = move || match shown.get() {
        dimension if dimension == own.get() => format!("{dimension} dimensions, the model’s own"),
        3 => "3 dimensions, a ball".into(),
        dimension => format!("{dimension} dimensions"),
    };
    let home = move |_| page.change(&mut |state| state.dimension = None);
    view! {
        <div class="slider">
            <label for="dimension">"Dimension"</label>
            <input
                id="dimension" type="range" min="0" step="1" max=last prop:value=at aria-valuetext=words
                on:input:target=move |event| choose(event.target().value())
            />
            <output for="dimension" aria-live="off">{words}</output>
            <button type="button" class="quiet" disabled=move || shown.get() == own.get() on:click=home>
                "back to the model’s own"
            </button>
        </div>
        <Ball geometry=geometry shown=shown/>
    }
}

fn own_dimension(geometry: Memo<Option<CaptionGeometry>>) -> Memo<usize> {
    Memo::new(move |_| {
        geometry.with(|geometry| geometry.as_ref().map_or(0, |known| known.embed_dim))
    })
}

/// Ball with the region of most of the probability in the dimension that is shown.
#[component]
fn Ball(geometry: Memo<Option<CaptionGeometry>>, shown: Memo<usize>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let of_family = move |known: &CaptionGeometry| *known.concentration.get(page.family());
    let kappa = move || geometry.with(|geometry| geometry.as_ref().map(of_family));
    let spread = move || CosineDistribution::OfFamily(page.family(), kappa().unwrap_or_default());
    let bands = Memo::new(move |_| {
        let [uniform, spread] = [CosineDistribution::Uniform, spread()]
            .map(|spread| spread.curve(shown.get()).middle(BAND));
        Bands { uniform, spread }
    });
    let finding =
        move || geometry.with(|geometry| ball_text(geometry.as_ref()?, page.family(), shown.get()));
    view! {
        <div class="ball-beside">
            <figure>
                {plot::ball(move || bands.get(), move || spread().draws(shown.get()))}
                <figcaption>
                    {move || shown.get()}" dimensions, "{move || family_name(page.family())}
                    ": height is the cosine, the bands hold 95 %. Dots: "{N_DRAWS}
                    " draws, projected on a plane through "<i>"μ"</i>"."
                </figcaption>
            </figure>
            <p class="finding">{finding}</p>
        </div>
    }
}

/// The two panels: κ and τκ.
#[component]
fn Spreads(geometry: Memo<Option<CaptionGeometry>>, shown: Memo<usize>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let panels = Memo::new(move |_| {
        let touched = page.picture();
        let of = |known: &CaptionGeometry| panels(page, known, shown.get(), touched.as_deref());
        geometry.with(|geometry| geometry.as_ref().map(of).unwrap_or_default())
    });
    let panel = move |i: usize| Memo::new(move |_| panels.with(|panels| panels[i].clone()));
    let kappas = move |which| {
        let values =
            geometry.with(|geometry| geometry.as_ref().map(|known| concentration(known, which)))?;
        let [vmf, power_spherical] = [values.vmf, values.power_spherical].map(three_significant);
        Some(format!(
            "{vmf} (von Mises–Fisher), {power_spherical} (power spherical)"
        ))
    };
    let own = own_dimension(geometry);
    view! {
        <div class="spreads">
            <figure>
                <figcaption>
                    <i>"κ"</i>" as the model gives it: "{move || kappas(Concentration::Model)}
                </figcaption>
                {plot::marginal(panel(0))}
            </figure>
            <figure>
                <figcaption>
                    <i>"τκ"</i>", tempered as in training: "{move || kappas(Concentration::Tempered)}
                </figcaption>
                {plot::marginal(panel(1))}
            </figure>
        </div>
        <p class="aside">{move || if own.get() == shown.get() { EXACT } else { ELSEWHERE }}</p>
        <PictureStrip/>
    }
}

/// The curves and ticks of κ and of τκ, on one scale.
fn panels(
    page: PageState,
    known: &CaptionGeometry,
    dimension: usize,
    touched: Option<&str>,
) -> [Panel; 2] {
    let line = |(spread, label, class): LabelledSpread| Line {
        label,
        class,
        curve: spread.curve(dimension),
    };
    let lines = |which| spreads(known, which).map(line).to_vec();
    let both = [Concentration::Model, Concentration::Tempered].map(lines);
    let peaks = both.iter().flatten().map(|line| line.curve.peak[1]);
    let top = HEADROOM * peaks.fold(0.0, f64::max);
    let row = |family| {
        let ticks = ticks(page, known, family, dimension, touched);
        (family_name(family), ticks)
    };
    let ticks = Family::ALL.map(row).to_vec();
    both.map(|lines| Panel {
        lines,
        top,
        ticks: ticks.clone(),
    })
}

/// The pictures under one distribution; none in a dimension in which they do not lie.
fn ticks(
    page: PageState,
    known: &CaptionGeometry,
    family: Family,
    dimension: usize,
    touched: Option<&str>,
) -> Vec<Tick> {
    if dimension != known.embed_dim {
        return Vec::new();
    }
    let tick = |picture: &PictureTick| Tick {
        cosine: *picture.cosine.get(family),
        label: alt(page, &picture.image),
        is_touched: touched == Some(&picture.image),
    };
    known.pictures.iter().map(tick).collect()
}
