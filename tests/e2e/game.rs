//! The guessing game, and the ranks that change places.

mod built_page {
    use std::fs;

    use kappascope::explorer::game_rounds;
    use kappascope::explorer::views::learn::{LessonQuestion, Lessons};
    use serde_json::json;

    use crate::harness::{
        ANSWERING, Browser, Server, dist, open_ready, wait_until_it_says, wait_until_ready,
    };

    const ENTER: &str = "\u{E007}";
    const GAME: u32 = 3;

    /// The rounds of the game of the scenes with this number.
    fn rounds(game: u32) -> Vec<LessonQuestion> {
        let text = fs::read_to_string(dist().join("lessons.json")).expect("the page brings it");
        let lessons: Lessons = serde_json::from_str(&text).expect("it is ours");
        game_rounds(&lessons, game)
    }

    /// The side, from 1, at which a round offers its vaguer caption.
    fn vaguer_side(round: &LessonQuestion) -> usize {
        let vaguer = &round.truth[0][0];
        let at = round.captions.iter().position(|caption| caption == vaguer);
        1 + at.expect("it is offered")
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_game_is_won_by_keys_and_its_link_brings_the_same_pairs() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = format!("?backend=cpu#v=1&c=a%20star&view=learn&game={GAME}");
        open_ready(&browser, &server.address(&address));
        let offers = "return [...document.querySelectorAll('.duel .words')].map(words => words.innerText).join('|') === arguments[0]";
        for round in rounds(GAME) {
            let captions = json!(round.captions.join("|"));
            browser.wait_for("the pair", ANSWERING, offers, &[captions]);
            let button = format!(".duel button:nth-child({})", vaguer_side(&round));
            browser.press(&button, ENTER);
            let answered =
                "return document.querySelector('.game .finding').innerText.startsWith('Right.')
                && document.querySelectorAll('.duel .number:not(:empty)').length === 2
                && document.activeElement.matches('.game .view-controls .ask')";
            browser.wait_for("the model's answer", ANSWERING, answered, &[]);
            if round != rounds(GAME)[2] {
                browser.press(":focus", ENTER);
                let is_next = "return document.activeElement.matches('.duel button')";
                browser.wait_for("the focus on the next pair", ANSWERING, is_next, &[]);
            }
        }
        wait_until_it_says(&browser, "3 of 3 right. In a row: 3.");
        let link = "return document.querySelector('#game-link').value.includes('game=3')";
        assert_eq!(browser.run(link, &[]), true, "the same pairs");
        browser.press(":focus", ENTER);
        let wrong = &rounds(GAME + 1)[0];
        let captions = json!(wrong.captions.join("|"));
        browser.wait_for("another game", ANSWERING, offers, &[captions]);
        wait_until_it_says(&browser, "Pair 1 of 3. In a row: 3.");
        browser.click(&format!(
            ".duel button:nth-child({})",
            3 - vaguer_side(wrong)
        ));
        wait_until_it_says(&browser, "the other way round");
        wait_until_it_says(&browser, "In a row: 0.");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_game_is_offered_beside_the_matrix_and_answers_at_once() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        browser.click(".to-game");
        wait_until_it_says(&browser, "Pair 1 of 3");
        browser.click(".duel button");
        let answered = "return document.querySelectorAll('.duel .number:not(:empty)').length === 2";
        browser.wait_for("the model's answer", ANSWERING, answered, &[]);
        browser.run("history.back(); return null", &[]);
        let back = "return document.querySelector('.matrix') !== null";
        browser.wait_for("the matrix again", ANSWERING, back, &[]);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn captions_change_places_when_the_order_is_that_of_the_cosine() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = "?backend=cpu#v=1&c=a%20picture&c=something%20red&c=a%20red%20star&c=a%20blue%20circle\
            &g=lone-red-star&g=star-above-circle&g=red-circles";
        open_ready(&browser, &server.address(address));
        browser.click(".ranks summary");
        // The greatest number of each column, and what stands first on the card of its picture.
        let columns = "const rows = [...document.querySelectorAll('tr[data-caption]')];
            const cards = [...document.querySelectorAll('.rank-card')];
            return cards.map((card, i) => {
                const read = row => Number(arguments[0]
                    ? row.querySelectorAll('.pair')[i].querySelector('.nats').innerText.replace('−', '-')
                    : row.querySelectorAll('.pair')[i].dataset.value);
                const best = rows.reduce((a, b) => read(b) > read(a) ? b : a);
                const first = card.querySelector('[data-place=\"0\"]')?.innerText;
                const near = rows.filter(row => read(row) >= read(best) - arguments[1]).map(row => row.dataset.caption);
                return near.includes(first) && card.querySelectorAll('[data-place]').length === rows.length;
            })";
        let all = json!([true, true, true]);
        // Nats within the free offset are a tie.
        let found = browser.run(columns, &[json!(false), json!(1.0)]);
        assert_eq!(found, all, "by likelihood");
        browser.click(".ranks label:nth-of-type(2)");
        wait_until_ready(&browser, ANSWERING);
        let found = browser.run(columns, &[json!(true), json!(0.0)]);
        assert_eq!(found, all, "by cosine");
        let linked = "return location.hash.includes('by=cosine')";
        browser.wait_for("the order in the link", ANSWERING, linked, &[]);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_score_of_a_lesson_is_a_code_that_the_teachers_page_reads() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = "?backend=cpu#v=1&c=a%20star&view=learn";
        open_ready(&browser, &server.address(address));
        wait_until_it_says(&browser, "Which caption is vaguer?");
        browser.click("[data-question='0'] .ask");
        let code = "return document.querySelector('[data-field=score]').innerText.match(/code is ([A-Z]{6})/)?.[1] ?? null";
        let code = browser.wait_for("a code", ANSWERING, code, &[]);
        let code = code.as_str().expect("letters");
        browser.click("[data-to=teach]");
        wait_until_it_says(&browser, "The class’s results");
        browser.fill("#codes", &format!("{code} {code} BBBBBB"));
        wait_until_it_says(&browser, ": 2 answers, ");
        wait_until_it_says(&browser, "right (1 of 3 answered): 2 of the class");
        wait_until_it_says(&browser, "BBBBBB: not a code");
    }
}
