//! The curves of the geometry as formulas and as tables.

use leptos::prelude::*;

use crate::explorer::views::geometry::{
    CaptionGeometry, CosineDistribution, density_formula, density_formula_with_numbers,
};
use crate::explorer::{family_name, three_significant};
use crate::numerics::Family;
use crate::ui::page::state::PageState;
use crate::ui::panels::chosen_picture::alt;
use crate::ui::panels::formula::typeset;
use crate::ui::panels::measures::head;
use crate::ui::views::geometry::spreads::{Concentration, spreads};

const SPREAD_COLUMNS: &str = "Distribution|concentration|mean cosine|standard deviation|\
    angle of the mean cosine|nats from a blind guess";
const PICTURE_COLUMNS: &str = "Picture|cosine, von Mises–Fisher|nats|cosine, power spherical|nats";

/// Numbers of the plots above as tables.
#[component]
pub(crate) fn GeometryTables(
    geometry: Memo<Option<CaptionGeometry>>,
    shown: Memo<usize>,
) -> impl IntoView {
    let page = expect_context::<PageState>();
    let spreads = move || {
        geometry.with(|geometry| {
            geometry
                .as_ref()
                .map(|known| spread_rows(known, shown.get()))
        })
    };
    let pictures =
        move || geometry.with(|geometry| geometry.as_ref().map(|known| picture_rows(page, known)));
    view! {
        <Formulas geometry=geometry shown=shown/>
        <details class="twin">
            <summary>"The same as tables"</summary>
            <div class="scroll" tabindex="0" role="region" aria-label="Numbers of the curves and pictures">
                <table>
                    <caption>"Spreads in "{move || shown.get()}" dimensions"</caption>
                    {head(SPREAD_COLUMNS)}
                    <tbody>{spreads}</tbody>
                </table>
                <table>
                    <caption>"Pictures, in the model’s own dimension"</caption>
                    {head(PICTURE_COLUMNS)}
                    <tbody>{pictures}</tbody>
                </table>
            </div>
        </details>
    }
}

/// The densities as formulas, with these numbers.
#[component]
fn Formulas(geometry: Memo<Option<CaptionGeometry>>, shown: Memo<usize>) -> impl IntoView {
    let formula = move |family: Family| {
        let numbers = move || {
            geometry.with(|geometry| {
                let kappa = *geometry.as_ref()?.concentration.get(family);
                Some(density_formula_with_numbers(family, kappa, shown.get()))
            })
        };
        view! {
            <p class="aside">{family_name(family)}</p>
            {typeset(move || Some(density_formula(family).to_owned()))}
            {typeset(numbers)}
        }
    };
    view! {
        <details class="twin">
            <summary>"The formulas, with these numbers"</summary>
            {Family::ALL.map(formula).collect_view()}
            <p class="aside">
                "The second factor is the sphere’s own, all that a blind guess has; in many dimensions it is so narrow "
                "that a small κ hardly moves it."
            </p>
        </details>
    }
}

fn spread_rows(known: &CaptionGeometry, dimension: usize) -> impl IntoView + use<> {
    let symbols = [(Concentration::Model, "κ"), (Concentration::Tempered, "τκ")];
    let drawn = symbols.into_iter().flat_map(|(which, symbol)| {
        let [_, vmf, power_spherical] = spreads(known, which);
        [vmf, power_spherical].map(|(spread, label, _)| (spread, format!("{label}, {symbol}")))
    });
    let uniform = (CosineDistribution::Uniform, "a blind guess".to_owned());
    let row = |(spread, label): (CosineDistribution, String)| {
        let numbers = spread.view(dimension);
        let concentration = match spread {
            CosineDistribution::Uniform => 0.0,
            CosineDistribution::OfFamily(_, concentration) => concentration,
        };
        view! {
            <tr>
                <th scope="row">{label}</th>
                {cell("spread-concentration", concentration, "")}
                {cell("spread-mean", numbers.mean, "")}
                {cell("spread-deviation", numbers.deviation, "")}
                {cell("spread-angle", numbers.mean_angle_degrees, "°")}
                {cell("spread-nats", numbers.nats, "")}
            </tr>
        }
    };
    std::iter::once(uniform)
        .chain(drawn)
        .map(row)
        .collect_view()
}

fn picture_rows(page: PageState, known: &CaptionGeometry) -> impl IntoView + use<> {
    let rows = known.pictures.iter().map(|picture| {
        let (cosine, nats) = (picture.cosine, picture.nats);
        view! {
            <tr data-image=picture.image.clone()>
                <th scope="row">{alt(page, &picture.image)}</th>
                {cell("cosine-vmf", cosine.vmf, "")}
                {cell("nats-vmf", nats.vmf, "")}
                {cell("cosine-power-spherical", cosine.power_spherical, "")}
                {cell("nats-power-spherical", nats.power_spherical, "")}
            </tr>
        }
    });
    rows.collect_view()
}

fn cell(field: &'static str, value: f64, unit: &'static str) -> impl IntoView {
    let exact = value.to_string();
    view! { <td data-field=field data-value=exact.clone() title=exact>{three_significant(value)}{unit}</td> }
}
