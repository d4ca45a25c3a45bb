//! The address holds what the page shows.

mod built_page {
    use std::time::Duration;

    use serde_json::json;

    use crate::harness::{
        Browser, Server, open_ready, reading, text, type_first_caption, wait_for_caption,
        wait_until_it_says, weights,
    };

    /// A caption that no test of the model holds, so that nothing recorded can answer.
    const CAPTION: &str = "a tiny striped thing near the corner";

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_address_brings_back_what_was_typed() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        type_first_caption(&browser, CAPTION);
        let before = reading(&browser);
        let kept = "return decodeURIComponent(location.hash).includes(arguments[0])";
        browser.wait_for(
            "the caption in the address",
            Duration::from_secs(10),
            kept,
            &[json!(CAPTION)],
        );
        browser.reload();
        wait_for_caption(&browser, CAPTION);
        assert_eq!(
            reading(&browser).captions,
            before.captions,
            "after a reload"
        );
        let address = browser.run("return location.href", &[]);
        let another = Browser::start();
        another.open(address.as_str().expect("an address is text"));
        wait_for_caption(&another, CAPTION);
        assert_eq!(
            reading(&another).captions,
            before.captions,
            "in another visitor's browser"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_link_of_other_weights_says_so_and_the_pages_own_link_names_those_that_answer() {
        let said = "made with other weights";
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(
            &browser,
            &server.address("?backend=cpu#v=1&c=a%20star&w=00000000"),
        );
        wait_until_it_says(&browser, said);
        type_first_caption(&browser, CAPTION);
        browser.wait_for(
            "the weights in the address",
            Duration::from_secs(10),
            "return location.hash.includes(arguments[0])",
            &[json!(format!("w={}", weights()))],
        );
        browser.reload();
        wait_for_caption(&browser, CAPTION);
        assert!(!text(&browser).contains(said), "the page's own link");
    }
}
