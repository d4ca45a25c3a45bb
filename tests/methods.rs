//! Every method against an independent `PyTorch` implementation: scores, uncertainty, loss, gradients, and ten steps of
//! its optimiser.
//!
//! `tests/fixtures/generate_methods.py` wrote the weights and what is expected of them.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]

use std::collections::BTreeMap;

use burn::module::Param;
use burn::optim::GradientsParams;
use burn::tensor::{Tensor, TensorData};
use kappascope::error::Result;
use kappascope::model::adapter::{AdapterConfig, MeanDirection};
use kappascope::model::parameters::{Layout, ParameterVisitor, TensorRecord};
use kappascope::train::methods::{
    Activations, Features, FitOutputs, Laplace, Method, MethodName, MethodOptions, MethodVisitor,
    Pairs, Side, Training, UncertaintyOf, Variant, train,
};
use kappascope::train::optimize::Optimizer;
use kappascope::weights::manifest::Logits;
use kappascope::weights::shard::read;

#[path = "support/device.rs"]
mod device;

use device::device;

/// Error of a value, a score or a gradient over the greatest of its tensor, computed in f32.
const TOLERANCE: f32 = 1e-5;
/// Error of a weight after ten steps over the greatest movement.
const TOLERANCE_OF_STEPS: f32 = 1e-4;
/// The fixture's rate of descent over the published one.
const FASTER: f64 = 20.0;

struct Fixture(BTreeMap<String, TensorRecord>);

impl Fixture {
    fn load() -> Self {
        let records =
            read(include_bytes!("fixtures/methods.safetensors")).expect("a safetensors file");
        Self(
            records
                .into_iter()
                .map(|record| (record.name.clone(), record))
                .collect(),
        )
    }

    fn get(&self, name: &str) -> &TensorRecord {
        self.0
            .get(name)
            .unwrap_or_else(|| panic!("the fixture holds {name}"))
    }

    /// Everything under `prefix/`, without it.
    fn below(&self, prefix: &str) -> Vec<TensorRecord> {
        let prefix = format!("{prefix}/");
        let under = self.0.values().filter(|r| r.name.starts_with(&prefix));
        under
            .map(|record| TensorRecord {
                name: record.name[prefix.len()..].to_owned(),
                ..record.clone()
            })
            .collect()
    }

    fn matrix(&self, name: &str) -> Tensor<2> {
        let record = self.get(name);
        let shape = [record.shape[0], record.shape[1]];
        Tensor::from_data(TensorData::new(record.values.clone(), shape), &device())
    }
}

/// Dimensions of a method's features in the fixture.
fn embed_dim(name: MethodName) -> usize {
    if name.slug().split('-').any(|word| word == "ps") {
        64
    } else {
        8
    }
}

fn values(tensor: Tensor<2>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("f32")
}

fn greatest(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |most, value| value.abs().max(most))
}

#[track_caller]
fn assert_close(what: &str, found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len(), "{what}: number of values");
    let allowed = device::tolerance(tolerance);
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= allowed,
            "{what}, value {i}: {found}, expected {expected} within {allowed}"
        );
    }
}

/// Takes the gradients of a module, in the layout of a file.
struct TakeGradients<'a> {
    gradients: &'a mut GradientsParams,
    found: Vec<TensorRecord>,
}

impl ParameterVisitor for TakeGradients<'_> {
    fn visit<const D: usize>(
        &mut self,
        name: &str,
        layout: Layout,
        parameter: &mut Param<Tensor<D>>,
    ) -> Result<()> {
        let gradient = self.gradients.remove::<D>(parameter.id);
        let gradient = gradient.unwrap_or_else(|| panic!("{name} has a gradient"));
        let file = if layout == Layout::OutIn {
            gradient.swap_dims(0, 1)
        } else {
            gradient
        };
        self.found.push(TensorRecord {
            name: name.to_owned(),
            shape: Vec::new(),
            values: file.into_data().try_into_vec().expect("f32"),
        });
        Ok(())
    }
}

struct Check<'a> {
    name: MethodName,
    fixture: &'a Fixture,
}

impl Check<'_> {
    fn features(&self) -> (Tensor<2>, Tensor<2>) {
        let d = embed_dim(self.name);
        (
            self.fixture.matrix(&format!("images/{d}")),
            self.fixture.matrix(&format!("texts/{d}")),
        )
    }

    fn expected(&self, what: &str) -> &[f32] {
        &self
            .fixture
            .get(&format!("{}/{what}", self.name.slug()))
            .values
    }

    fn scores_and_uncertainty(&self, method: &impl Method) {
        let (images, texts) = self.features();
        let of_images = method.uncertainty_of_images(images.clone());
        let (images, texts) = (method.of_images(images), method.of_texts(texts));
        let expected = self.expected("scores");
        let found = values(method.scores(images.clone(), texts.clone()));
        let tolerance = TOLERANCE * greatest(expected).max(1.0);
        assert_close("scores", &found, expected, tolerance);
        let (rows, gallery) = match method.uncertain_side() {
            Side::Text => (texts, images),
            Side::Image => (images, texts),
        };
        self.optional("uncertainty", method.uncertainty(rows, gallery));
        self.optional("uncertainty_of_images", of_images);
    }

    /// Compares what some methods have and others have not.
    fn optional(&self, what: &str, found: Option<Tensor<2>>) {
        let name = format!("{}/{what}", self.name.slug());
        let is_expected = self.fixture.0.contains_key(&name);
        assert_eq!(found.is_some(), is_expected, "{name}");
        let Some(found) = found else { return };
        let expected = self.expected(what);
        let tolerance = TOLERANCE * greatest(expected);
        assert_close(what, &values(found), expected, tolerance);
    }

    fn loss_and_gradients(&self, method: &impl Method) {
        let (images, texts) = self.features();
        let pairs = Pairs {
            images: images.autodiff(),
            texts: texts.autodiff(),
        };
        let loss = method.loss(pairs, 1);
        let mut gradients = GradientsParams::from_grads(loss.backward(), method);
        let (found, expected) = (loss.into_scalar::<f32>(), self.expected("loss")[0]);
        assert_close("loss", &[found], &[expected], TOLERANCE * expected.abs());
        let mut take = TakeGradients {
            gradients: &mut gradients,
            found: Vec::new(),
        };
        let visited = method.clone().visit_parameters(&mut take);
        visited.expect("taking gradients accepts every parameter");
        let all = self
            .fixture
            .below(&format!("{}/gradient", self.name.slug()));
        assert_eq!(take.found.len(), all.len(), "number of parameters");
        let most = all
            .iter()
            .map(|record| greatest(&record.values))
            .fold(0.0, f32::max);
        for TensorRecord { name, values, .. } in &take.found {
            let expected = self.expected(&format!("gradient/{name}"));
            assert_close(
                &format!("gradient of {name}"),
                values,
                expected,
                TOLERANCE * most,
            );
        }
    }

    fn ten_steps(&self, method: impl Method) {
        let (images, texts) = self.features();
        let [n, _] = texts.dims();
        let optimizer = self.name.optimizer(Variant::Code).expect("it is trained");
        let training = Training {
            optimizer: match optimizer {
                Optimizer::Sgd { .. } => optimizer.faster(FASTER),
                Optimizer::AdamW { .. } => optimizer,
            },
            batch: n,
            epochs: 10,
            seed: 0,
        };
        let features = Features {
            texts,
            images,
            image_of_text: (0..n as i64).collect(),
        };
        let trained = train(
            method,
            self.name.title(),
            &training,
            &features,
            FitOutputs::default(),
        );
        for tensor in trained.expect("nothing interrupts").named_tensors() {
            let found: Vec<f32> = tensor.values.into_data().try_into_vec().expect("f32");
            let before = self.expected(&format!("weights/{}", tensor.name));
            let after = self.expected(&format!("after/{}", tensor.name));
            let moves = before.iter().zip(after).map(|(b, a)| a - b);
            let moved = greatest(&moves.collect::<Vec<_>>());
            assert!(moved > 0.0, "{} stands still in the fixture", tensor.name);
            // The weights themselves are rounded ten times.
            let tolerance = (TOLERANCE_OF_STEPS * moved).max(1e-6 * greatest(after));
            assert_close(&tensor.name, &found, after, tolerance);
        }
    }
}

impl MethodVisitor for Check<'_> {
    type Output = ();

    fn visit<M: Method>(self, mut method: M) {
        let weights = self.fixture.below(&format!("{}/weights", self.name.slug()));
        method.load(weights).expect("the names of the fixture");
        self.scores_and_uncertainty(&method.clone().valid());
        self.loss_and_gradients(&method);
        self.ten_steps(method);
    }
}

fn check(name: MethodName) {
    let options = MethodOptions {
        variant: Variant::Code,
        sizes: AdapterConfig {
            embed_dim: embed_dim(name),
            hidden_width: 8,
            hidden_layers: 3,
            mean_direction: MeanDirection::Learned,
        },
        batch: 7,
        deterministic_scale: None,
        probvlm_uncertainty: UncertaintyOf::Inverse,
    };
    let fixture = Fixture::load();
    let check = Check {
        name,
        fixture: &fixture,
    };
    name.visit(&options, &device().autodiff(), check);
}

macro_rules! methods {
    ($($test:ident: $name:ident,)+) => {
        $(#[test]
        fn $test() {
            check(MethodName::$name);
        })+

        #[test]
        fn every_trained_method_is_checked() {
            let checked = [$(MethodName::$name),+];
            let missing: Vec<_> = MethodName::ALL
                .into_iter()
                .filter(|name| name.optimizer(Variant::Code).is_some() && !checked.contains(name))
                .collect();
            assert!(missing.is_empty(), "without a check: {missing:?}");
        }
    };
}

methods! {
    asymvlm_vmf_is_pytorchs: AsymvlmVmf,
    asymvlm_ps_is_pytorchs: AsymvlmPs,
    asymvlm_vmf_of_the_encoders_mean_is_pytorchs: AsymvlmVmfEncoderMean,
    asymvlm_ps_of_the_encoders_mean_is_pytorchs: AsymvlmPsEncoderMean,
    asymvlm_vmf_with_the_logistic_loss_is_pytorchs: AsymvlmVmfSigmoid,
    asymvlm_ps_with_the_logistic_loss_is_pytorchs: AsymvlmPsSigmoid,
    the_image_side_with_vmf_is_pytorchs: ImageVmf,
    the_image_side_with_ps_is_pytorchs: ImagePs,
    the_symmetric_vmf_is_pytorchs: SymvlmVmf,
    the_symmetric_ps_is_pytorchs: SymvlmPs,
    the_symmetric_vmf_at_raw_embeddings_is_pytorchs: SymvlmVmfRaw,
    the_symmetric_ps_at_raw_embeddings_is_pytorchs: SymvlmPsRaw,
    the_gaussian_of_the_paper_is_pytorchs: GaussianPrecision,
    the_gaussian_per_dimension_is_pytorchs: Gaussian,
    the_diagonal_gaussian_is_pytorchs: GaussianDiagonal,
    deterministic_fine_tuning_is_pytorchs: Deterministic,
    pfe_is_pytorchs: Pfe,
    pcmepp_is_pytorchs: Pcmepp,
    probvlm_is_pytorchs: Probvlm,
    prolip_is_pytorchs: Prolip,
    elips_bottlenecks_are_pytorchs: ElipBottleneck,
    elips_bottleneck_of_captions_alone_is_pytorchs: ElipTextBottleneck,
    elips_bottleneck_of_pictures_alone_is_pytorchs: ElipImageBottleneck,
    elips_bottlenecks_with_the_contrastive_loss_are_pytorchs: ElipContrastive,
    elips_loss_with_evidence_of_our_own_is_pytorchs: Elip,
    elips_loss_on_a_new_perceptron_is_pytorchs: ElipReleased,
}

#[test]
fn the_variance_of_bayesvlm_is_that_of_one_matrix_a_row() {
    let fixture = Fixture::load();
    let (images, texts) = (fixture.matrix("images/8"), fixture.matrix("texts/8"));
    let activations = Activations {
        rows: fixture.matrix("bayesvlm/activations"),
        squared_weight_norm: 5.0,
    };
    let logits = Logits {
        scale: 8.0,
        bias: None,
    };
    let laplace = Laplace::estimate(&texts, &activations, &images, logits);
    let laplace = laplace.expect("finite features");
    let expected = f64::from(fixture.get("bayesvlm/precision").values[0]);
    assert!(
        (laplace.prior_precision / expected - 1.0).abs() < 1e-4,
        "λ: {}, expected {expected}",
        laplace.prior_precision
    );
    let found = laplace.with_variance(texts, activations.rows);
    let [n, width] = found.dims();
    let expected = &fixture.get("bayesvlm/variance").values;
    let tolerance = 1e-4 * greatest(expected);
    let found = values(found.slice([0..n, width / 2..width]));
    assert_close("variance", &found, expected, tolerance);
}
