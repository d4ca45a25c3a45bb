//! Findings that need what is not measured here, with what they need.

use super::super::judge::Judge;
use super::super::verdict::{Finding, PaperClaim};

const fn undecided(text: &'static str, otherwise: &'static str) -> PaperClaim {
    PaperClaim {
        text,
        rule: "",
        groups: &[],
        otherwise,
    }
}

static CLAIMS: [PaperClaim; 3] = [
    undecided(
        "ProLIP's appendix C.3",
        "needs ProLIP pre-trained; here its loss adapts features",
    ),
    undecided(
        "ProLIP: weighted prompts gain by uncertainty (table 3)",
        "is of ImageNet's classes and prompts, which are not here",
    ),
    undecided(
        "AsymVLM does on SigLIP's features what it does on CLIP's",
        "features of one encoder are measured here",
    ),
];

pub(super) fn findings(judge: &Judge<'_>) -> Vec<Finding> {
    let findings = CLAIMS.iter().map(|claim| judge.finding(claim, Vec::new()));
    findings.collect()
}
