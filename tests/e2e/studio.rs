//! Scenes that go along with the drag in the studio, and never leave what their caption says.

mod built_page {
    use kappascope::explorer::views::studio::drawing::Drawing;
    use kappascope::explorer::views::studio::ghosts::N_GHOSTS;
    use kappascope::scenes::parse;
    use serde_json::Value;

    use crate::harness::{Browser, Server, escaped, open_ready};

    const CAPTION: &str = "a star above a circle";
    /// Drags the first shape to the left and back up for half a second; passes the scenes after each frame.
    const DRAG: &str = "const done = arguments[arguments.length - 1], handle = document.querySelector('.handle'),
            frame = document.querySelector('.stage').getBoundingClientRect(), start = performance.now(), seen = [];
        const scenes = () => [...document.querySelectorAll('.ghosts canvas:not([hidden])')].map(scene => scene.dataset.scene);
        const send = (name, share) => handle.dispatchEvent(new PointerEvent(name, { bubbles: true, pointerId: 1,
            clientX: frame.left + frame.width * (0.5 - 0.3 * share), clientY: frame.top + frame.height * (0.2 + 0.05 * share) }));
        handle.setPointerCapture = () => {};
        seen.push(scenes());
        send('pointerdown', 0);
        const move = () => {
            seen.push(scenes());
            const share = (performance.now() - start) / 500;
            if (share > 2) { send('pointerup', 1); return done(seen); }
            send('pointermove', Math.min(share, 1));
            requestAnimationFrame(move);
        };
        move();";

    /// The scenes after each frame of a drag, with these media features.
    fn dragged(features: &[(&str, &str)]) -> Vec<Vec<Drawing>> {
        let (server, browser) = (Server::start(), Browser::start());
        browser.emulate_media("", features);
        let address = format!("?backend=cpu#v=1&c={}&view=studio", escaped(CAPTION));
        open_ready(&browser, &server.address(&address));
        let seen = browser.run_async(DRAG);
        let drawing = |digits: &Value| {
            let digits = digits.as_str().expect("a scene in digits");
            Drawing::decode(digits).expect("a scene")
        };
        let frame = |frame: &Value| {
            frame
                .as_array()
                .into_iter()
                .flatten()
                .map(drawing)
                .collect()
        };
        seen.as_array().into_iter().flatten().map(frame).collect()
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn four_scenes_move_with_the_drag_and_fit_their_caption_all_the_way() {
        let seen = dragged(&[]);
        let description = parse(CAPTION).expect("it parses");
        for scenes in &seen {
            assert_eq!(scenes.len(), N_GHOSTS, "{scenes:?}");
            for scene in scenes {
                assert!(description.fits(&scene.scene()), "{scene:?}");
            }
        }
        let n_moves = seen.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(
            n_moves >= 3,
            "they moved {n_moves} times in {} frames",
            seen.len()
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn they_stand_still_where_motion_is_unwanted() {
        let seen = dragged(&[("prefers-reduced-motion", "reduce")]);
        let first = seen.first().expect("some frames");
        assert_eq!(first.len(), N_GHOSTS, "they are there");
        assert!(seen.iter().all(|scenes| scenes == first), "{seen:?}");
    }
}
