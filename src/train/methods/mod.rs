//! The ways to score captions against pictures on frozen features, one a file: the paper's method, its ablations and
//! the baselines.
//!
//! Each defines the rows that it compares, its scores of pairs, its uncertainty and its loss. A new method is a file
//! and, here, its module and its row.

mod asymvlm;
mod bayesvlm;
mod cosine_with_uncertainty;
mod density;
mod deterministic;
mod eigen;
mod elip;
mod entropy;
mod fit;
mod gaussian;
mod image_side;
mod method;
mod options;
mod pcmepp;
mod pfe;
mod probes;
mod probvlm;
mod prolip;
mod rotation;
mod symmetric;
mod table;
mod zero_shot;

use burn::tensor::Device;

use self::cosine_with_uncertainty::CosineWithUncertainty;
use crate::model::adapter::Family::{PowerSpherical, VonMisesFisher};
use crate::train::optimize::Optimizer;

pub use asymvlm::{AsymVlm, ContrastiveLoss};
pub use bayesvlm::{Activations, BayesUncertainty, BayesVlm, Laplace};
pub use density::KnownFeatures;
pub use deterministic::Deterministic;
pub use elip::{Elip, ElipBottleneck, ElipEvidence, ElipPart};
pub use fit::{Features, FitOutputs, Training, mean_loss, seconds_of_steps, train};
pub use gaussian::{DiagonalGaussian, IsotropicGaussian, Parametrisation};
pub use image_side::ImageSide;
pub use method::{Method, Pairs, Side};
pub use options::{MethodOptions, MethodVisitor, Variant};
pub use pcmepp::Pcmepp;
pub use pfe::Pfe;
pub use probes::{ProbeLog, ProbeReading};
pub use probvlm::{ProbVlm, UncertaintyOf};
pub use prolip::ProLip;
pub use rotation::rotation;
pub use symmetric::{EvaluatedAt, Symmetric};
pub use zero_shot::ZeroShot;

/// The optimiser of the paper and its ablations.
const fn sgd(learning_rate: f64) -> Option<Optimizer> {
    Some(Optimizer::Sgd {
        learning_rate,
        momentum: 0.9,
        weight_decay: 5e-4,
    })
}

const fn adam_w(learning_rate: f64, weight_decay: f32) -> Option<Optimizer> {
    Some(Optimizer::AdamW {
        learning_rate,
        weight_decay,
    })
}

table::methods! {
    Clip "clip" "CLIP zero-shot", |_| None, |_, device| ZeroShot::new(device);
    Pfe "pfe" "PFE*", |_| sgd(1e-3), |o, device| Pfe::new(&o.sizes, device);
    Pcmepp "pcmepp" "PCME++*",
        |variant| match variant {
            Variant::Code => adam_w(5e-4, 1e-4),
            Variant::Paper => sgd(5e-4),
        },
        |o, device| Pcmepp::new(&o.sizes, device);
    Bayesvlm "bayesvlm" "BayesVLM", |_| None,
        |o, _| BayesVlm::new(o.sizes.embed_dim, BayesUncertainty::RelativeTrace);
    BayesvlmCosine "bayesvlm-cosine" "BayesVLM, variance of cosine", |_| None,
        |o, _| BayesVlm::new(o.sizes.embed_dim, BayesUncertainty::OfCosine);
    Entropy "entropy" "Entropy of captions’ cosines", |_| None, |_, _| entropy::Entropy::new(Side::Text);
    ImageEntropy "image-entropy" "Entropy of pictures’ cosines", |_| None, |_, _| entropy::Entropy::new(Side::Image);
    Density "density" "Density of captions’ features", |_| None,
        |o, _| CosineWithUncertainty::new(o.sizes.embed_dim, Side::Text);
    ImageDensity "image-density" "Density of pictures’ features", |_| None,
        |o, _| CosineWithUncertainty::new(o.sizes.embed_dim, Side::Image);
    Augmentation "augmentation" "Frozen cosine, spread over views", |_| None,
        |o, _| CosineWithUncertainty::new(o.sizes.embed_dim, Side::Image);
    Probvlm "probvlm" "ProbVLM", |_| adam_w(1e-4, 5e-4),
        |o, device| ProbVlm::new(&o.sizes, o.probvlm_uncertainty, device);
    Prolip "prolip" "ProLIP adapter", |_| adam_w(5e-4, 5e-4), |o, device| ProLip::new(&o.sizes, device);
    ElipBottleneck "elip-bottleneck" "ELIP, bottlenecks on features", |_| adam_w(5e-4, 0.02),
        |o, device| ElipBottleneck::new(o.sizes.embed_dim, None, o.variant.annealing_epochs(), device);
    ElipTextBottleneck "elip-text-bottleneck" "ELIP, bottleneck of captions alone", |_| adam_w(5e-4, 0.02),
        |o, device| {
            let left_out = Some(ElipPart::ImageBottleneck);
            ElipBottleneck::new(o.sizes.embed_dim, left_out, o.variant.annealing_epochs(), device)
        };
    ElipImageBottleneck "elip-image-bottleneck" "ELIP, bottleneck of pictures alone", |_| adam_w(5e-4, 0.02),
        |o, device| {
            let left_out = Some(ElipPart::TextBottleneck);
            ElipBottleneck::new(o.sizes.embed_dim, left_out, o.variant.annealing_epochs(), device)
        };
    ElipContrastive "elip-contrastive" "ELIP, contrastive loss", |_| adam_w(5e-4, 0.02),
        |o, device| {
            let left_out = Some(ElipPart::EvidentialLoss);
            ElipBottleneck::new(o.sizes.embed_dim, left_out, o.variant.annealing_epochs(), device)
        };
    Elip "elip" "ELIP's loss, evidence of our own", |_| adam_w(5e-4, 0.02),
        |o, device| Elip::new(&o.sizes, ElipEvidence::AboveMean, o.variant.annealing_epochs(), device);
    ElipReleased "elip-released" "ELIP's loss, new MLP", |_| adam_w(5e-4, 0.02),
        |o, device| Elip::new(&o.sizes, ElipEvidence::Cosine, o.variant.annealing_epochs(), device);
    AsymvlmVmf "asymvlm-vmf" "AsymVLM vMF", |_| sgd(1e-2),
        |o, device| AsymVlm::new(&o.sizes, VonMisesFisher, ContrastiveLoss::InfoNce, device);
    AsymvlmPs "asymvlm-ps" "AsymVLM PS", |_| sgd(1e-2),
        |o, device| AsymVlm::new(&o.sizes, PowerSpherical, ContrastiveLoss::InfoNce, device);
    AsymvlmVmfEncoderMean "asymvlm-vmf-encoder-mean" "AsymVLM vMF, encoder’s mean", |_| sgd(1e-2),
        |o, device| AsymVlm::new(&o.sizes.with_encoder_mean(), VonMisesFisher, ContrastiveLoss::InfoNce, device);
    AsymvlmPsEncoderMean "asymvlm-ps-encoder-mean" "AsymVLM PS, encoder’s mean", |_| sgd(1e-2),
        |o, device| AsymVlm::new(&o.sizes.with_encoder_mean(), PowerSpherical, ContrastiveLoss::InfoNce, device);
    AsymvlmVmfSigmoid "asymvlm-vmf-sigmoid" "AsymVLM vMF, sigmoid", |_| sgd(1e-2),
        |o, device| AsymVlm::new(&o.sizes, VonMisesFisher, ContrastiveLoss::Sigmoid { batch: o.batch }, device);
    AsymvlmPsSigmoid "asymvlm-ps-sigmoid" "AsymVLM PS, sigmoid", |_| sgd(1e-2),
        |o, device| AsymVlm::new(&o.sizes, PowerSpherical, ContrastiveLoss::Sigmoid { batch: o.batch }, device);
    ImageVmf "image-vmf" "AsymVLM(image) vMF", |_| sgd(1e-2), |o, device| ImageSide::new(&o.sizes, VonMisesFisher, device);
    ImagePs "image-ps" "AsymVLM(image) PS", |_| sgd(1e-2), |o, device| ImageSide::new(&o.sizes, PowerSpherical, device);
    SymvlmVmf "symvlm-vmf" "SymVLM vMF", |_| sgd(1e-2),
        |o, device| Symmetric::new(&o.sizes, VonMisesFisher, EvaluatedAt::MeanDirection, device);
    SymvlmPs "symvlm-ps" "SymVLM PS", |_| sgd(1e-2),
        |o, device| Symmetric::new(&o.sizes, PowerSpherical, EvaluatedAt::MeanDirection, device);
    SymvlmVmfRaw "symvlm-vmf-raw" "SymVLM vMF, raw", |_| sgd(1e-2),
        |o, device| Symmetric::new(&o.sizes, VonMisesFisher, EvaluatedAt::Embedding, device);
    SymvlmPsRaw "symvlm-ps-raw" "SymVLM PS, raw", |_| sgd(1e-2),
        |o, device| Symmetric::new(&o.sizes, PowerSpherical, EvaluatedAt::Embedding, device);
    GaussianPrecision "gaussian-precision" "AsymVLM(Gaussian)", |_| sgd(1e-2),
        |o, device| IsotropicGaussian::new(&o.sizes, Parametrisation::Precision, device);
    Gaussian "gaussian" "AsymVLM(Gaussian), per dimension", |_| sgd(1e-2),
        |o, device| IsotropicGaussian::new(&o.sizes, Parametrisation::PerDimension, device);
    GaussianDiagonal "gaussian-diagonal" "AsymVLM(Gaussian), diagonal", |_| sgd(1e-2),
        |o, device| DiagonalGaussian::new(&o.sizes, device);
    Deterministic "deterministic" "Determ. FT", |_| sgd(1e-2),
        |o, device| Deterministic::new(&o.sizes, o.deterministic_scale.unwrap_or(1.0), device);
}
