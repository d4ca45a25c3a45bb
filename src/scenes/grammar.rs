//! Chooses what to say about a scene: a hierarchy of five levels, or a random part of the truth.

use rand::{Rng, RngExt as _};

use super::description::{Claim, CountRange, Description, Mask, ObjectDescription, Relation, has};
use super::scene::{Object, Scene};
use super::vocabulary::{Attribute, COUNTS, term_for, terms};

/// Levels of a hierarchy, from "a picture" to everything.
pub const N_LEVELS: usize = 5;
/// Share of vague words ("warm" for red) where one could be used.
const VAGUE: f64 = 0.3;
/// The five attributes of an object.
const OBJECT_ATTRIBUTES: [Attribute; 5] = [
    Attribute::Shape,
    Attribute::Colour,
    Attribute::Size,
    Attribute::Texture,
    Attribute::Cell,
];

/// Descriptions of one scene, each of which says all that the one before says, and more.
///
/// Nothing; one attribute; two or three of the same object; that object in full with a part of another (or the
/// ground); everything.
///
/// # Examples
/// ```
/// use kappascope::scenes::{Compositions, Scene, grammar::hierarchy};
/// use rand::{SeedableRng as _, rngs::ChaCha8Rng};
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let scene = Scene::sample(Compositions::All, &mut rng);
/// // Every level is true of the scene.
/// assert!(hierarchy(&scene, &mut rng).iter().all(|level| level.fits(&scene)));
/// ```
pub fn hierarchy<R: Rng + ?Sized>(scene: &Scene, rng: &mut R) -> [Description; N_LEVELS] {
    let order = shuffled(scene.objects.len(), rng);
    let anchor = &scene.objects[order[0]];
    let attributes = shuffled(OBJECT_ATTRIBUTES.len(), rng)
        .into_iter()
        .map(|i| OBJECT_ATTRIBUTES[i])
        .collect::<Vec<_>>();

    let mut object = ObjectDescription::ANY;
    constrain(&mut object, attributes[0], anchor, VAGUE, rng);
    let one = Description::of(Claim::Exists(vec![object]));

    let n_more = rng.random_range(1..=2);
    for &attribute in &attributes[..=n_more] {
        constrain(&mut object, attribute, anchor, 0.0, rng);
    }
    let few = Description::of(Claim::Exists(vec![object]));

    for &attribute in &OBJECT_ATTRIBUTES[..4] {
        constrain(&mut object, attribute, anchor, 0.0, rng);
    }
    let mut most = Description::of(Claim::Exists(vec![object]));
    match order.get(1) {
        Some(&second) => most.claim = with_second(object, anchor, &scene.objects[second], rng),
        None => most.grounds = 1 << scene.ground.index(),
    }
    [
        Description::anything(),
        one,
        few,
        most,
        everything(scene, &order),
    ]
}

/// All there is to say: every object with all its attributes in this order, ground and light.
pub fn everything(scene: &Scene, order: &[usize]) -> Description {
    let objects = order.iter().map(|&i| exact(&scene.objects[i])).collect();
    Description {
        claim: Claim::Exists(objects),
        grounds: 1 << scene.ground.index(),
        lights: 1 << scene.light.index(),
    }
}

/// The full description with its objects in random order.
pub fn full_description<R: Rng + ?Sized>(scene: &Scene, rng: &mut R) -> Description {
    everything(scene, &shuffled(scene.objects.len(), rng))
}

/// A random part of the truth about a scene, from one vague word to nearly everything.
pub fn random_part<R: Rng + ?Sized>(scene: &Scene, rng: &mut R) -> Description {
    let share = rng.random_range(0.1..0.95);
    let mut description = if rng.random_bool(0.15) {
        count(scene, rng)
    } else {
        some_objects(scene, share, rng)
    };
    if rng.random_bool(share * 0.5) {
        description.grounds = some_mask(Attribute::Ground, scene.ground.index(), rng);
    }
    if rng.random_bool(share * 0.4) {
        description.lights = 1 << scene.light.index();
    }
    description
}

/// One attribute of one object, of the ground or of the light, in an exact or a vague word.
pub fn single_attribute<R: Rng + ?Sized>(scene: &Scene, rng: &mut R) -> Description {
    match rng.random_range(0..8) {
        0 => Description {
            grounds: some_mask(Attribute::Ground, scene.ground.index(), rng),
            ..Description::anything()
        },
        1 => Description {
            lights: 1 << scene.light.index(),
            ..Description::anything()
        },
        2 => Description::of(Claim::Count(
            ObjectDescription::ANY,
            count_range(scene.objects.len(), rng),
        )),
        i => {
            let mut object = ObjectDescription::ANY;
            let anchor = &scene.objects[rng.random_range(0..scene.objects.len())];
            constrain(&mut object, OBJECT_ATTRIBUTES[i - 3], anchor, VAGUE, rng);
            Description::of(Claim::Exists(vec![object]))
        }
    }
}

fn some_objects<R: Rng + ?Sized>(scene: &Scene, share: f64, rng: &mut R) -> Description {
    let order = shuffled(scene.objects.len(), rng);
    let n_objects = rng.random_range(1..=order.len().min(3));
    let mut objects: Vec<ObjectDescription> = order[..n_objects]
        .iter()
        .map(|&i| part_of(&scene.objects[i], share, rng))
        .collect();
    if n_objects == 2 && rng.random_bool(0.5) {
        let (first, second) = (&scene.objects[order[0]], &scene.objects[order[1]]);
        if let Some(relation) = relation_between(first.cell(), second.cell(), rng) {
            objects
                .iter_mut()
                .for_each(|object| object.cells = ObjectDescription::ANY.cells);
            return Description::of(Claim::Related(objects[0], relation, objects[1]));
        }
    }
    Description::of(Claim::Exists(objects))
}

fn count<R: Rng + ?Sized>(scene: &Scene, rng: &mut R) -> Description {
    let anchor = &scene.objects[rng.random_range(0..scene.objects.len())];
    let object = part_of(anchor, rng.random_range(0.0..0.5), rng);
    let n = scene.objects.iter().filter(|o| object.fits(o)).count();
    Description::of(Claim::Count(object, count_range(n, rng)))
}

/// The exact number, or now and then "several".
fn count_range<R: Rng + ?Sized>(n: usize, rng: &mut R) -> CountRange {
    let fitting: Vec<CountRange> = COUNTS
        .iter()
        .map(|c| c.0)
        .filter(|range| range.contains(n))
        .collect();
    fitting[rng.random_range(0..fitting.len())]
}

fn part_of<R: Rng + ?Sized>(object: &Object, share: f64, rng: &mut R) -> ObjectDescription {
    let mut part = ObjectDescription::ANY;
    for attribute in OBJECT_ATTRIBUTES {
        if rng.random_bool(share) {
            constrain(&mut part, attribute, object, VAGUE, rng);
        }
    }
    part
}

fn with_second<R: Rng + ?Sized>(
    first: ObjectDescription,
    anchor: &Object,
    object: &Object,
    rng: &mut R,
) -> Claim {
    let mut second = ObjectDescription::ANY;
    for i in shuffled(4, rng).into_iter().take(2) {
        constrain(&mut second, OBJECT_ATTRIBUTES[i], object, 0.0, rng);
    }
    let free = first.cells == ObjectDescription::ANY.cells;
    match relation_between(anchor.cell(), object.cell(), rng) {
        Some(relation) if free => Claim::Related(first, relation, second),
        _ => Claim::Exists(vec![first, second]),
    }
}

fn relation_between<R: Rng + ?Sized>(cell: usize, other: usize, rng: &mut R) -> Option<Relation> {
    let holding: Vec<Relation> = Relation::ALL
        .into_iter()
        .filter(|r| r.holds(cell, other))
        .collect();
    if holding.is_empty() {
        None
    } else {
        Some(holding[rng.random_range(0..holding.len())])
    }
}

/// Narrows one attribute to a word that is true of the object: the exact one, or a vague one with this probability.
fn constrain<R: Rng + ?Sized>(
    description: &mut ObjectDescription,
    attribute: Attribute,
    object: &Object,
    vague: f64,
    rng: &mut R,
) {
    let index = value_index(attribute, object);
    let current = slot(description, attribute);
    let mask = if rng.random_bool(vague) {
        some_mask(attribute, index, rng)
    } else {
        1 << index
    };
    if mask & *current == mask {
        *current = mask;
    }
}

/// The mask of a random term that is true of the value.
fn some_mask<R: Rng + ?Sized>(attribute: Attribute, index: usize, rng: &mut R) -> Mask {
    let masks: Vec<Mask> = terms(attribute)
        .map(|term| term.mask)
        .filter(|&mask| has(mask, index))
        .collect();
    masks[rng.random_range(0..masks.len())]
}

fn exact(object: &Object) -> ObjectDescription {
    let mut description = ObjectDescription::ANY;
    for attribute in OBJECT_ATTRIBUTES {
        *slot(&mut description, attribute) = 1 << value_index(attribute, object);
    }
    debug_assert!(
        term_for(Attribute::Cell, description.cells).is_some(),
        "every cell has a name"
    );
    description
}

fn slot(description: &mut ObjectDescription, attribute: Attribute) -> &mut Mask {
    match attribute {
        Attribute::Colour => &mut description.colours,
        Attribute::Size => &mut description.sizes,
        Attribute::Texture => &mut description.textures,
        Attribute::Cell => &mut description.cells,
        Attribute::Shape | Attribute::Ground | Attribute::Light => &mut description.shapes,
    }
}

fn value_index(attribute: Attribute, object: &Object) -> usize {
    match attribute {
        Attribute::Colour => object.colour.index(),
        Attribute::Size => object.size.index(),
        Attribute::Texture => object.texture.index(),
        Attribute::Cell => object.cell(),
        Attribute::Shape | Attribute::Ground | Attribute::Light => object.shape.index(),
    }
}

/// The numbers below `n` in random order.
fn shuffled<R: Rng + ?Sized>(n: usize, rng: &mut R) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng as _, rngs::ChaCha8Rng};

    use super::super::scene::Compositions;
    use super::super::wording::{Wording, say};
    use super::super::{parse::parse, vocabulary};
    use super::*;

    fn descriptions(scene: &Scene, rng: &mut ChaCha8Rng) -> Vec<Description> {
        let mut all = hierarchy(scene, rng).to_vec();
        all.extend([
            random_part(scene, rng),
            single_attribute(scene, rng),
            full_description(scene, rng),
        ]);
        all
    }

    /// Whether the world has a word for every constraint of a description.
    fn is_sayable(description: &Description) -> bool {
        let known = |attribute, mask, full| {
            mask == full
                || vocabulary::TERMS
                    .iter()
                    .any(|t| t.attribute == attribute && t.mask == mask)
        };
        let any = ObjectDescription::ANY;
        let object = |o: &ObjectDescription| {
            known(Attribute::Shape, o.shapes, any.shapes)
                && known(Attribute::Colour, o.colours, any.colours)
                && known(Attribute::Size, o.sizes, any.sizes)
                && known(Attribute::Texture, o.textures, any.textures)
                && known(Attribute::Cell, o.cells, any.cells)
        };
        let claim = match &description.claim {
            Claim::Exists(objects) => objects.iter().all(object),
            Claim::Related(a, _, b) => object(a) && object(b),
            Claim::Count(o, range) => object(o) && COUNTS.iter().any(|c| c.0 == *range),
        };
        let whole = Description::anything();
        claim
            && known(Attribute::Ground, description.grounds, whole.grounds)
            && known(Attribute::Light, description.lights, whole.lights)
    }

    #[test]
    fn every_description_is_true_of_its_scene_and_can_be_said() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..2000 {
            let scene = Scene::sample(Compositions::All, &mut rng);
            for description in descriptions(&scene, &mut rng) {
                let is_true = description.fits(&scene);
                assert!(is_true, "not true: {description:?} of {scene:?}");
                assert!(is_sayable(&description), "no words for {description:?}");
            }
        }
    }

    #[test]
    fn captions_mean_what_they_were_made_from() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let words = vocabulary::words();
        for wording in [Wording::Plain, Wording::Varied, Wording::HeldOut] {
            for _ in 0..1000 {
                let scene = Scene::sample(Compositions::All, &mut rng);
                for description in descriptions(&scene, &mut rng) {
                    let caption = say(&description, wording, &mut rng);
                    let read = parse(&caption).expect(&caption);
                    let is_same = same_meaning(&read, &description);
                    assert!(is_same, "{caption:?}: {read:?}, made from {description:?}");
                    let is_unknown = |word: &&str| !words.iter().any(|w| w == word);
                    let unknown = caption.split(' ').find(is_unknown);
                    assert_eq!(unknown, None, "not in the vocabulary: {caption:?}");
                }
            }
        }
    }

    /// "A shape" and "a picture" mean the same: there is always an object.
    fn same_meaning(a: &Description, b: &Description) -> bool {
        let normal = |d: &Description| match &d.claim {
            Claim::Exists(objects) if objects[..] == [ObjectDescription::ANY] => {
                Claim::Exists(Vec::new())
            }
            claim => claim.clone(),
        };
        normal(a) == normal(b) && a.grounds == b.grounds && a.lights == b.lights
    }

    #[test]
    fn each_level_fits_fewer_scenes() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let crowd: Vec<Scene> = (0..300)
            .map(|_| Scene::sample(Compositions::All, &mut rng))
            .collect();
        for _ in 0..300 {
            let scene = Scene::sample(Compositions::All, &mut rng);
            let levels = hierarchy(&scene, &mut rng);
            for other in &crowd {
                let fits: Vec<bool> = levels.iter().map(|level| level.fits(other)).collect();
                let is_nested = fits.is_sorted_by(|a, b| a >= b);
                assert!(is_nested, "a finer level alone fits: {levels:?}");
            }
        }
    }

    #[test]
    fn captions_without_articles_are_read() {
        for (caption, whole) in [
            ("red star", "a red star"),
            ("Star", "a star"),
            ("red", "something red"),
            ("small and red", "something small and red"),
            ("red on the left", "something red on the left"),
            (
                "red star above blue circle",
                "a red star above a blue circle",
            ),
            ("star on a grey ground", "a star on a grey ground"),
            ("there is a star in the picture", "a star"),
            ("there is something in the picture", "a picture"),
        ] {
            let read = parse(caption);
            assert!(read.is_some(), "{caption:?} is read");
            assert_eq!(read, parse(whole), "{caption:?} is {whole:?}");
        }
        let stars = parse("red stars").expect("they are read");
        let range = CountRange { least: 2, most: 4 };
        let Claim::Count(object, found) = stars.claim else {
            panic!("no number in {stars:?}");
        };
        let Some(Claim::Exists(one)) = parse("a red star").map(|one| one.claim) else {
            panic!("the sentence is of the grammar");
        };
        assert_eq!((vec![object], found), (one, range), "two at least");
    }

    #[test]
    fn sentences_outside_the_grammar_are_not_read() {
        for caption in [
            "",
            "a dog",
            "red and blue and",
            "and",
            "the star",
            "star and circle",
            "stars above a circle",
            "on the left",
            "a star above",
            "in the picture",
            "colourless green ideas sleep furiously",
            "two star",
        ] {
            assert_eq!(parse(caption), None, "{caption:?} was read");
        }
    }
}
