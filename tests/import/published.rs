//! Embeddings that others published, through our metrics.

use kappascope::metrics::{first_hit_rank, recall_at_k};
use kappascope::preprocess::TextPreprocess;
use kappascope::train::import::tokenizer::from_vocab_and_merges;

use crate::npy;
use crate::shared::shared;

fn file(path: &str) -> Vec<u8> {
    std::fs::read(shared(path)).expect("a file of the shared data")
}

/// `ranks[i]`: where the partner of query `i` stands among the gallery, sorted by cosine.
fn ranks(queries: &[&[f32]], gallery: &[&[f32]]) -> Vec<usize> {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let rank = |(i_query, query): (usize, &&[f32])| {
        let scores: Vec<f32> = gallery.iter().map(|item| dot(query, item)).collect();
        first_hit_rank(&scores, [i_query]).expect("every query has a partner")
    };
    queries.iter().enumerate().map(rank).collect()
}

mod shared_data {
    use super::*;

    /// CLIP ViT-B/16 on 500 pictures of COCO with a caption each; the recalls are those of their publication.
    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn published_embeddings_have_their_published_recall() {
        let array = npy::read(&file("clip_features/coco_val2017_500_vit_b16_f32.npy"))
            .expect("a NumPy file");
        assert_eq!(array.shape, [2, 500, 512], "pictures and captions");
        let rows: Vec<&[f32]> = array.values.chunks(512).collect();
        let (images, texts) = rows.split_at(500);
        let to_text = recall_at_k(&ranks(images, texts), 1);
        let to_image = recall_at_k(&ranks(texts, images), 1);
        assert_eq!(to_text, 0.552, "R@1 of captions for a picture");
        assert_eq!(to_image, 0.506, "R@1 of pictures for a caption");
    }

    /// `CLIP`'s vocabulary and merges give the tokenizer that is published as one file.
    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn a_tokenizer_of_two_files_is_that_of_one() {
        let files = ["vocab.json", "merges.txt", "clip_tokenizer.json"];
        let [vocab, merges, whole] = files.map(|name| file(&format!("clip_tokenizer/{name}")));
        let merges = String::from_utf8(merges).expect("text");
        let made = from_vocab_and_merges(&vocab, &merges).expect("CLIP's vocabulary");
        let tokenizer = |json: &[u8]| TextPreprocess::from_tokenizer_json(json, 77).expect("whole");
        let (made, whole) = (tokenizer(made.as_bytes()), tokenizer(&whole));
        assert_eq!(made.vocab_size(), whole.vocab_size(), "the same tokens");
        for caption in [
            "a photo of a cat",
            "Hello, World! it's 2024 café 你好",
            "don't  stop\u{a0}🦄 <|endoftext|> x²",
            "",
        ] {
            assert_eq!(made.encode(caption), whole.encode(caption), "{caption}");
        }
    }

    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn published_half_precision_embeddings_are_read() {
        let array = npy::read(&file(
            "clip_features/detic_vitb32_text/coco_clip_a+cname.npy",
        ))
        .expect("a NumPy file");
        assert_eq!(array.shape, [80, 512], "COCO's classes");
        // The features of ViT-B/32's captions are about this long.
        for row in array.values.chunks(512) {
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert!((5.0..20.0).contains(&norm), "length {norm}");
        }
    }
}
