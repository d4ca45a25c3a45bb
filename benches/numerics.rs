//! What one caption costs: the scalars of its distribution, and the curve of its cosine density.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use kappascope::numerics::Family;

const EMBED_DIM: usize = 512;

/// A trained, a tempered, and a very large concentration: the last is beyond the series.
const CONCENTRATIONS: [f64; 3] = [5.0, 150.0, 1000.0];

fn scalars(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scalars");
    for family in Family::ALL {
        for kappa in CONCENTRATIONS {
            let id = BenchmarkId::new(format!("{family:?}"), kappa);
            group.bench_with_input(id, &kappa, |bencher, &kappa| {
                bencher.iter(|| {
                    let kappa = black_box(kappa);
                    let mean = family.mean_resultant_length(EMBED_DIM, kappa);
                    let likelihood = family.log_likelihood_ratio(EMBED_DIM, kappa, 0.3);
                    (mean, likelihood, family.kl_to_uniform(EMBED_DIM, kappa))
                });
            });
        }
    }
    group.finish();
}

fn density_curve(criterion: &mut Criterion) {
    let cosines: Vec<f64> = (-100..=100).map(|i| f64::from(i) / 100.0).collect();
    let mut group = criterion.benchmark_group("density_curve");
    for family in Family::ALL {
        group.bench_function(format!("{family:?}"), |bencher| {
            bencher.iter(|| {
                let density = |t: &f64| family.cosine_density(EMBED_DIM, black_box(150.0), *t);
                cosines.iter().map(density).sum::<f64>()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, scalars, density_curve);
criterion_main!(benches);
