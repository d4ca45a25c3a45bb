//! Archives of `PyTorch` that are damaged, or whose pickle does more than name tensors.

use std::io::Write as _;
use std::path::Path;

use kappascope::train::import::open::open;
use kappascope::weights::shard::{Precision, read};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::checkpoints::{Scratch, fixture, import_into, put, tiny_folder};

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in members {
        zip.start_file(*name, stored).expect("a new member");
        zip.write_all(bytes).expect("written to memory");
    }
    zip.finish().expect("an archive").into_inner()
}

fn text(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("a short text");
    [b"X", &length.to_le_bytes()[..], text.as_bytes()].concat()
}

fn global(module: &str, name: &str) -> Vec<u8> {
    format!("c{module}\n{name}\n").into_bytes()
}

fn integer(value: i32) -> Vec<u8> {
    [b"J", &value.to_le_bytes()[..]].concat()
}

fn tuple(items: &[Vec<u8>]) -> Vec<u8> {
    [b"(", &items.concat()[..], b"t"].concat()
}

/// A tensor of f32 in the storage `0`.
fn tensor(n_values: i32, offset: i32, shape: &[i32], strides: &[i32]) -> Vec<u8> {
    let sizes = |sizes: &[i32]| tuple(&sizes.iter().copied().map(integer).collect::<Vec<_>>());
    let storage = tuple(&[
        text("storage"),
        global("torch", "FloatStorage"),
        text("0"),
        text("cpu"),
        integer(n_values),
    ]);
    let arguments = tuple(&[
        [&storage[..], b"Q"].concat(),
        integer(offset),
        sizes(shape),
        sizes(strides),
        vec![0x89],
        [&global("collections", "OrderedDict")[..], b")R"].concat(),
    ]);
    [
        &global("torch._utils", "_rebuild_tensor_v2")[..],
        &arguments,
        b"R",
    ]
    .concat()
}

/// `{name: value, …}`, whole.
fn pickle(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let members = members
        .iter()
        .flat_map(|(name, value)| [text(name), value.clone()].concat());
    let members: Vec<u8> = members.collect();
    [b"\x80\x02}(", &members[..], b"u."].concat()
}

fn with_pickle(pickle: &[u8]) -> Vec<u8> {
    archive(&[("x/data.pkl", pickle), ("x/data/0", &[0; 16])])
}

fn error(scratch: &Scratch, bytes: &[u8]) -> String {
    put(&scratch.path("."), "hostile.pt", bytes);
    let opened = open(&scratch.path("hostile.pt"));
    opened.expect_err("no such file may be opened").to_string()
}

#[test]
fn an_honest_pickle_of_this_kind_is_read() {
    let scratch = Scratch::new();
    let bytes = with_pickle(&pickle(&[
        ("a", tensor(4, 0, &[2, 2], &[2, 1])),
        ("b", tensor(4, 1, &[3], &[1])),
    ]));
    put(&scratch.path("."), "honest.pt", &bytes);
    let mut opened = open(&scratch.path("honest.pt")).expect("two tensors");
    assert_eq!(opened.entries()["a"].shape, [2, 2], "its shape");
    assert_eq!(opened.read("b"), Ok(vec![0.0; 3]), "a part of the storage");
}

#[test]
fn a_transposed_tensor_is_read_in_its_own_order() {
    let scratch = Scratch::new();
    let data: Vec<u8> = (0..6_u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
    let pickle = pickle(&[("a", tensor(6, 0, &[3, 2], &[1, 3]))]);
    let bytes = archive(&[("x/data.pkl", &pickle), ("x/data/0", &data)]);
    put(&scratch.path("."), "strided.pt", &bytes);
    let mut opened = open(&scratch.path("strided.pt")).expect("a tensor");
    let values = opened.read("a").expect("six values");
    assert_eq!(
        values,
        [0.0, 3.0, 1.0, 4.0, 2.0, 5.0],
        "rows of the transposed matrix"
    );
}

#[test]
fn a_pickle_that_does_more_than_name_tensors_is_refused() {
    let scratch = Scratch::new();
    let call = |module: &str, name: &str| {
        [
            &global(module, name)[..],
            &tuple(&[text("touch /tmp/x")]),
            b"R",
        ]
        .concat()
    };
    let stack_global = [text("builtins"), text("eval"), b"\x93".to_vec()].concat();
    let oddities: [(Vec<u8>, &str); 10] = [
        (
            call("os", "system"),
            "a: the pickle names os.system, which is not part of a tensor",
        ),
        (stack_global, "builtins.eval, which is not part of a tensor"),
        (call("torch", "load"), "a: the pickle names torch.load"),
        (
            call("collections", "OrderedDict"),
            "the pickle calls something that is not a known function",
        ),
        (
            b"(ios\nsystem\n".to_vec(),
            "the pickle has the opcode 0x69, which no tensor needs",
        ),
        (b"\x82\x01".to_vec(), "a: the pickle has the opcode 0x82"),
        (
            [
                &tuple(&[text("storage"), global("torch", "FloatStorage")])[..],
                b"Q",
            ]
            .concat(),
            "the pickle refers to something that is not a storage",
        ),
        (tensor(4, 0, &[-1], &[1]), "-1 is not a valid size"),
        (
            b"R".to_vec(),
            "the pickle's arguments are not a short tuple",
        ),
        (
            b"h\x09".to_vec(),
            "a: the pickle reads memo 9, which it never wrote",
        ),
    ];
    for (value, message) in oddities {
        let error = error(&scratch, &with_pickle(&pickle(&[("a", value)])));
        assert!(error.contains(message), "{error:?}, expected {message:?}");
    }
}

#[test]
fn a_tensor_outside_its_storage_is_refused_by_name() {
    let scratch = Scratch::new();
    let cases = [
        (
            tensor(4, 0, &[5], &[1]),
            "a: shape [5] with strides [1] from 0 leaves its storage of 4 values",
        ),
        (
            tensor(4, 1, &[4], &[1]),
            "a: shape [4] with strides [1] from 1 leaves",
        ),
        (
            tensor(4, 0, &[2, 2], &[4, 1]),
            "a: shape [2, 2] with strides [4, 1] from 0 leaves",
        ),
        // One value shown as two thousand million.
        (
            tensor(4, 0, &[2_000_000_000], &[0]),
            "a: shape [2000000000] with strides [0] from 0 leaves",
        ),
        (
            tensor(4, 0, &[2, 2], &[1]),
            "a: shape [2, 2] with strides [1] from 0 leaves",
        ),
        (
            tensor(1000, 0, &[1000], &[1]),
            "a: x/data/0 has 16 bytes, expected 1000 values of 4 bytes",
        ),
    ];
    for (tensor, message) in cases {
        let error = error(&scratch, &with_pickle(&pickle(&[("a", tensor)])));
        assert!(error.contains(message), "{error:?}, expected {message:?}");
    }
    let twice = pickle(&[
        ("a", tensor(4, 0, &[4], &[1])),
        ("a", tensor(4, 0, &[4], &[1])),
    ]);
    let error = error(&scratch, &with_pickle(&twice));
    assert!(error.contains("a: given twice"), "{error}");
}

#[test]
fn an_archive_that_is_no_checkpoint_is_refused() {
    let scratch = Scratch::new();
    let tensors = pickle(&[("a", tensor(4, 0, &[4], &[1]))]);
    // A dictionary that holds itself.
    let endless = [b"\x80\x02}q\x00", &text("a")[..], b"h\x00s."].concat();
    let mut cut_short = pickle(&[("a", vec![b'N'])]);
    cut_short.truncate(cut_short.len() - 1);
    let cases: [(Vec<u8>, &str); 6] = [
        (b"PK\x03\x04".to_vec(), "not a whole zip archive"),
        (
            archive(&[("x/version", b"3")]),
            "no data.pkl in the archive",
        ),
        (
            archive(&[("x/data.pkl", &tensors), ("y/data.pkl", &tensors)]),
            "several data.pkl",
        ),
        (archive(&[("x/data.pkl", &tensors)]), "a: x/data/0: "),
        (
            with_pickle(&endless),
            "the pickle has too many or too long names",
        ),
        (with_pickle(&cut_short), "the pickle ends too early"),
    ];
    for (bytes, message) in cases {
        let error = error(&scratch, &bytes);
        assert!(error.contains(message), "{error:?}, expected {message:?}");
    }
    let bare = error(&scratch, b"\x80\x02}q\x00.");
    assert!(bare.contains("bare pickle"), "{bare}");
    let cut = error(&scratch, b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.");
    assert!(cut.contains("the pickle ends too early"), "{cut}");
}

/// The pickle of the fixture, and the archive with another one in its place.
fn fixture_with(change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let file = std::fs::File::open(fixture("pytorch_model.bin")).expect("the fixture");
    let mut zip = ZipArchive::new(file).expect("a zip archive");
    let mut members = Vec::new();
    for index in 0..zip.len() {
        let mut member = zip.by_index(index).expect("a member");
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut member, &mut bytes).expect("its bytes");
        let name = member.name().expect("a name").into_owned();
        if name.ends_with("data.pkl") {
            change(&mut bytes);
        }
        members.push((name, bytes));
    }
    let members: Vec<_> = members
        .iter()
        .map(|(name, bytes)| (&**name, &**bytes))
        .collect();
    archive(&members)
}

#[test]
fn a_pickle_with_any_byte_changed_is_read_or_refused_but_never_more() {
    let scratch = Scratch::new();
    let mut length = 0;
    fixture_with(|pickle| assert!(pickle.len() > 1000, "a pickle of {} bytes", pickle.len()));
    for (index, flip) in (0..)
        .step_by(61)
        .zip([0x01_u8, 0x80, 0xff, 0x20].into_iter().cycle())
    {
        let mut beyond = false;
        let changed = std::cell::Cell::new(false);
        let bytes = fixture_with(|pickle| {
            if let Some(byte) = pickle.get_mut(index) {
                *byte ^= flip;
                changed.set(true);
            }
        });
        beyond |= !changed.get();
        if beyond {
            break;
        }
        put(&scratch.path("."), "changed.pt", &bytes);
        // Reaching the next line is the test: no panic, no endless loop, no memory that the file does not have.
        drop(open(&scratch.path("changed.pt")));
        length = index;
    }
    assert!(length > 1000, "bytes up to {length} were changed");
}

/// An archive whose last member has half of the bytes that it claims.
fn with_half_a_storage(pickle: &[u8]) -> Vec<u8> {
    let mut bytes = archive(&[("x/data.pkl", pickle), ("x/data/0", &[0; 8])]);
    // The claim stands in the member's own header and in the directory, as many bytes behind their marks.
    for (mark, claim) in [(b"PK\x03\x04", 22), (b"PK\x01\x02", 24)] {
        let at = bytes.windows(4).rposition(|window| window == mark);
        bytes[at.expect("a header") + claim] = 16;
    }
    bytes
}

#[test]
fn a_storage_that_is_shorter_than_it_claims_is_refused() {
    let scratch = Scratch::new();
    let pickle = pickle(&[("a", tensor(4, 0, &[4], &[1]))]);
    let error = error(&scratch, &with_half_a_storage(&pickle));
    let expected = "a: x/data/0 has 8 bytes in the archive, expected all 16";
    assert!(error.contains(expected), "{error:?}, expected {expected:?}");
}

#[test]
fn a_damaged_storage_is_refused_by_the_tensors_name() {
    let scratch = Scratch::new();
    let source = tiny_folder(&scratch, "torch", &["config.json"]);
    let mut bytes = std::fs::read(fixture("pytorch_model.bin")).expect("the fixture");
    let table = table_bytes(&fixture("model.safetensors"));
    let start = bytes.windows(64).position(|window| window == &table[..64]);
    bytes[start.expect("the table lies in the archive as it is")] ^= 1;
    put(&source, "pytorch_model.bin", &bytes);
    let error = import_into(&source, &scratch.path("out"), Precision::F16).expect_err("one bit");
    let message = error.to_string();
    assert!(
        message.contains("text_model.embeddings.token_embedding.weight: ")
            && message.contains("hecksum"),
        "{message}"
    );
    assert_eq!(scratch.names("."), ["torch"], "nothing half-written");
}

fn table_bytes(safetensors: &Path) -> Vec<u8> {
    let records = read(&std::fs::read(safetensors).expect("the fixture")).expect("safetensors");
    let table = records
        .iter()
        .find(|record| record.name.contains("token_embedding"));
    let values = table.expect("the token table").values.iter();
    values.flat_map(|value| value.to_le_bytes()).collect()
}
