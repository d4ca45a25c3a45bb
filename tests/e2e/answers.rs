//! The numbers on the page against those of the native program, on each engine.

mod built_page {
    use std::collections::BTreeSet;

    use serde_json::json;

    use crate::harness::{
        ANSWERING, Browser, Server, add_picture, assert_agree, engine, golden_picture,
        native_reading, open_ready, pictures, reading, type_first_caption,
    };

    /// The same f32 arithmetic, compiled for another machine.
    const CPU_TOLERANCE: f64 = 1e-4;
    /// Sums in another order, and a GPU's own exponentials.
    const GPU_TOLERANCE: f64 = 1e-3;
    /// A caption that no test of the model holds, so that nothing recorded can answer.
    const CAPTION: &str = "a tiny striped thing near the corner";

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_cpu_engine_shows_the_numbers_of_the_native_program() {
        compare_with_native("scenes", "cpu", CPU_TOLERANCE);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_gpu_engine_shows_the_numbers_of_the_native_program() {
        compare_with_native("scenes", "gpu", GPU_TOLERANCE);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_engines_show_the_numbers_of_the_native_program_for_photographs() {
        compare_with_native("photos", "cpu", CPU_TOLERANCE);
        compare_with_native("photos", "gpu", GPU_TOLERANCE);
    }

    fn compare_with_native(world: &str, backend: &str, tolerance: f64) {
        let (server, browser) = (Server::start(), Browser::start());
        let address = format!("?backend={backend}&world={world}");
        open_ready(&browser, &server.address(&address));
        assert_eq!(engine(&browser), backend, "the engine asked for");
        let known = pictures(&browser);
        let file = golden_picture();
        let name = add_picture(&browser, &file);
        assert!(!known.contains(&name), "{name} is a new picture");
        type_first_caption(&browser, CAPTION);
        let mut page = reading(&browser);
        let captions: BTreeSet<String> = page
            .captions
            .keys()
            .map(|(caption, _)| caption.clone())
            .collect();
        assert!(
            captions.contains(CAPTION),
            "the typed caption has numbers: {captions:?}"
        );
        page.nats.retain(|(_, image), _| *image == name);
        assert_eq!(
            page.nats.len(),
            captions.len(),
            "each caption has a number for the picture"
        );
        assert_agree(
            &page,
            &native_reading(world, &captions, &[(name, &file)]),
            tolerance,
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn both_distributions_stand_beside_each_other_with_the_numbers_that_each_shows() {
        let (server, browser) = (Server::start(), Browser::start());
        let address =
            "?backend=cpu#v=1&c=a%20red%20star&c=a%20star&g=lone-red-star&g=four-cool-shapes";
        open_ready(&browser, &server.address(address));
        browser.run("document.querySelector('td.pair').click()", &[]);
        let cells = "const cells = field => [...document.querySelectorAll(`.comparison [data-field=${field}]`)]
                .map(cell => cell.dataset.value === undefined ? null : Number(cell.dataset.value));
            return ['pair-kappa', 'pair-nats', 'pair-rank'].map(cells)";
        let compared = browser.run(cells, &[]);
        let is_number = |field: usize| (0..3).map(move |column| (field, column));
        let numbers: Vec<bool> = (0..3)
            .flat_map(is_number)
            .map(|(field, column)| compared[field][column].is_number())
            .collect();
        let expected = [true, true, false, true, true, false, true, true, true];
        assert_eq!(numbers, expected, "the cosine has a rank alone: {compared}");
        let shows = "const radio = document.querySelectorAll('fieldset.distribution input')[arguments[0]];
            radio.click();
            const number = field => Number(document.querySelector(field).dataset.value);
            return number('[data-field=kappa]') === arguments[1] && number('td.pair') === arguments[2]";
        for column in [1, 0] {
            let arguments = [
                json!(column),
                compared[0][column].clone(),
                compared[1][column].clone(),
            ];
            browser.wait_for("the numbers of the other", ANSWERING, shows, &arguments);
        }
    }
}
