//! The methods by name, with the optimiser each is published with.

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::{
    AsymVlm, BayesVlm, Clip, Deterministic, DiagonalGaussian, Elip, EvaluatedAt, Evidence,
    ImageSide, IsotropicGaussian, Method, Objective, Pcmepp, Pfe, ProLip, ProbVlm, Symmetric,
    UncertaintyOf,
};
use crate::model::adapter::{AdapterConfig, Family};
use crate::train::fit::Optimizer;

/// A method.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// CLIP zero-shot.
    Clip,
    /// `AsymVLM`, von Mises–Fisher.
    AsymvlmVmf,
    /// `AsymVLM`, power spherical.
    AsymvlmPs,
    /// `AsymVLM`, von Mises–Fisher, with the logistic loss.
    AsymvlmVmfSigmoid,
    /// `AsymVLM`, power spherical, with the logistic loss.
    AsymvlmPsSigmoid,
    /// The image-side ablation, von Mises–Fisher.
    ImageVmf,
    /// The image-side ablation, power spherical.
    ImagePs,
    /// The symmetric ablation, von Mises–Fisher.
    SymvlmVmf,
    /// The symmetric ablation, power spherical.
    SymvlmPs,
    /// The symmetric ablation at raw embeddings, von Mises–Fisher.
    SymvlmVmfRaw,
    /// The symmetric ablation at raw embeddings, power spherical.
    SymvlmPsRaw,
    /// The isotropic Gaussian ablation.
    Gaussian,
    /// The diagonal Gaussian ablation.
    GaussianDiagonal,
    /// Deterministic fine-tuning.
    Deterministic,
    /// PFE*.
    Pfe,
    /// PCME++*.
    Pcmepp,
    /// `ProbVLM`.
    Probvlm,
    /// The adapter of `ProLIP`.
    Prolip,
    /// `BayesVLM`.
    Bayesvlm,
    /// ELIP's evidential loss, with the evidence above each query's mean.
    Elip,
    /// ELIP's evidential loss with the released evidence.
    ElipReleased,
}

/// What to do where paper and released code differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Follow {
    /// As the code.
    #[default]
    Code,
    /// As the paper.
    Paper,
}

/// Choices within a method.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Paper or code.
    pub follow: Follow,
    /// Sizes of the perceptrons.
    pub sizes: AdapterConfig,
    /// Pairs in a batch, on which the start of the logistic loss depends.
    pub batch: usize,
    /// Where τ starts in deterministic fine-tuning; 1 if not given.
    pub deterministic_scale: Option<f32>,
    /// What `ProbVLM` calls uncertainty.
    pub probvlm_uncertainty: UncertaintyOf,
}

/// Something to do with a method, whichever it is.
pub trait Job {
    /// What comes of it.
    type Output;

    /// Does it.
    fn run<M: Method>(self, method: M) -> Self::Output;
}

impl MethodName {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 21] = [
        Self::Clip,
        Self::Pfe,
        Self::Pcmepp,
        Self::Bayesvlm,
        Self::Probvlm,
        Self::Prolip,
        Self::Elip,
        Self::ElipReleased,
        Self::AsymvlmVmf,
        Self::AsymvlmPs,
        Self::AsymvlmVmfSigmoid,
        Self::AsymvlmPsSigmoid,
        Self::ImageVmf,
        Self::ImagePs,
        Self::SymvlmVmf,
        Self::SymvlmPs,
        Self::SymvlmVmfRaw,
        Self::SymvlmPsRaw,
        Self::Gaussian,
        Self::GaussianDiagonal,
        Self::Deterministic,
    ];

    /// The name on the command line and in files.
    #[must_use]
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Clip => "clip",
            Self::AsymvlmVmf => "asymvlm-vmf",
            Self::AsymvlmPs => "asymvlm-ps",
            Self::AsymvlmVmfSigmoid => "asymvlm-vmf-sigmoid",
            Self::AsymvlmPsSigmoid => "asymvlm-ps-sigmoid",
            Self::ImageVmf => "image-vmf",
            Self::ImagePs => "image-ps",
            Self::SymvlmVmf => "symvlm-vmf",
            Self::SymvlmPs => "symvlm-ps",
            Self::SymvlmVmfRaw => "symvlm-vmf-raw",
            Self::SymvlmPsRaw => "symvlm-ps-raw",
            Self::Gaussian => "gaussian",
            Self::GaussianDiagonal => "gaussian-diagonal",
            Self::Deterministic => "deterministic",
            Self::Pfe => "pfe",
            Self::Pcmepp => "pcmepp",
            Self::Probvlm => "probvlm",
            Self::Prolip => "prolip",
            Self::Bayesvlm => "bayesvlm",
            Self::Elip => "elip",
            Self::ElipReleased => "elip-released",
        }
    }

    /// The name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Clip => "CLIP zero-shot",
            Self::AsymvlmVmf => "AsymVLM vMF",
            Self::AsymvlmPs => "AsymVLM PS",
            Self::AsymvlmVmfSigmoid => "AsymVLM vMF, sigmoid",
            Self::AsymvlmPsSigmoid => "AsymVLM PS, sigmoid",
            Self::ImageVmf => "AsymVLM(image) vMF",
            Self::ImagePs => "AsymVLM(image) PS",
            Self::SymvlmVmf => "SymVLM vMF",
            Self::SymvlmPs => "SymVLM PS",
            Self::SymvlmVmfRaw => "SymVLM vMF, raw",
            Self::SymvlmPsRaw => "SymVLM PS, raw",
            Self::Gaussian => "AsymVLM(Gaussian)",
            Self::GaussianDiagonal => "AsymVLM(Gaussian), diagonal",
            Self::Deterministic => "Determ. FT",
            Self::Pfe => "PFE*",
            Self::Pcmepp => "PCME++*",
            Self::Probvlm => "ProbVLM",
            Self::Prolip => "ProLIP adapter",
            Self::Bayesvlm => "BayesVLM",
            Self::Elip => "ELIP, evidential",
            Self::ElipReleased => "ELIP, as released",
        }
    }

    /// The published optimiser, at the published learning rate; `None` where nothing is trained.
    #[must_use]
    pub fn optimizer(self, follow: Follow) -> Option<Optimizer> {
        let sgd = |learning_rate| Optimizer::Sgd {
            learning_rate,
            momentum: 0.9,
            weight_decay: 5e-4,
        };
        let adam_w = |learning_rate, weight_decay| Optimizer::AdamW {
            learning_rate,
            weight_decay,
        };
        Some(match (self, follow) {
            (Self::Clip | Self::Bayesvlm, _) => return None,
            (Self::Pfe, _) => sgd(1e-3),
            (Self::Pcmepp, Follow::Code) => adam_w(5e-4, 1e-4),
            (Self::Pcmepp, Follow::Paper) => sgd(5e-4),
            (Self::Probvlm, _) => adam_w(1e-4, 5e-4),
            (Self::Prolip, _) => adam_w(5e-4, 5e-4),
            (Self::Elip | Self::ElipReleased, _) => adam_w(5e-4, 0.02),
            _ => sgd(1e-2),
        })
    }

    /// Makes the method, untrained, and hands it to `job`.
    pub fn with<J: Job>(self, options: &Options, device: &Device, job: J) -> J::Output {
        const VMF: Family = Family::VonMisesFisher;
        const PS: Family = Family::PowerSpherical;
        let sizes = &options.sizes;
        let asymvlm = |family, objective| AsymVlm::new(sizes, family, objective, device);
        let logistic = Objective::Sigmoid {
            batch: options.batch,
        };
        let elip = |evidence| {
            let annealing = annealing_epochs(options.follow);
            Elip::new(sizes, evidence, annealing, device)
        };
        let symmetric = |family, point| Symmetric::new(sizes, family, point, device);
        match self {
            Self::Clip => job.run(Clip::new(device)),
            Self::AsymvlmVmf => job.run(asymvlm(VMF, Objective::InfoNce)),
            Self::AsymvlmPs => job.run(asymvlm(PS, Objective::InfoNce)),
            Self::AsymvlmVmfSigmoid => job.run(asymvlm(VMF, logistic)),
            Self::AsymvlmPsSigmoid => job.run(asymvlm(PS, logistic)),
            Self::ImageVmf => job.run(ImageSide::new(sizes, VMF, device)),
            Self::ImagePs => job.run(ImageSide::new(sizes, PS, device)),
            Self::SymvlmVmf => job.run(symmetric(VMF, EvaluatedAt::MeanDirection)),
            Self::SymvlmPs => job.run(symmetric(PS, EvaluatedAt::MeanDirection)),
            Self::SymvlmVmfRaw => job.run(symmetric(VMF, EvaluatedAt::Embedding)),
            Self::SymvlmPsRaw => job.run(symmetric(PS, EvaluatedAt::Embedding)),
            Self::Gaussian => job.run(IsotropicGaussian::new(sizes, device)),
            Self::GaussianDiagonal => job.run(DiagonalGaussian::new(sizes, device)),
            Self::Deterministic => {
                let scale = options.deterministic_scale.unwrap_or(1.0);
                job.run(Deterministic::new(sizes, scale, device))
            }
            Self::Pfe => job.run(Pfe::new(sizes, device)),
            Self::Pcmepp => job.run(Pcmepp::new(sizes, device)),
            Self::Probvlm => job.run(ProbVlm::new(sizes, options.probvlm_uncertainty, device)),
            Self::Prolip => job.run(ProLip::new(sizes, device)),
            Self::Bayesvlm => job.run(BayesVlm::new(sizes.embed_dim)),
            Self::Elip => job.run(elip(Evidence::AboveMean)),
            Self::ElipReleased => job.run(elip(Evidence::Cosine)),
        }
    }
}

const fn annealing_epochs(follow: Follow) -> usize {
    match follow {
        Follow::Code => 20,
        Follow::Paper => 15,
    }
}
