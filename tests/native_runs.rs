//! Trainings that are killed, run out of disk, or are started twice: nothing is lost, nothing is mixed.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use kappascope::device::cpu;
use kappascope::model::parameters::Parameters;
use kappascope::train::export::bundle::records;
use kappascope::train::run_lock::RunLock;
use kappascope::train::scenes_model::recipe::{Preset, ScenesRecipe};
use kappascope::train::scenes_model::training::{self, RunFolder};
use kappascope::weights::shard::{Precision, write};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

/// Where the process that is killed keeps its run.
const FOLDER: &str = "KAPPASCOPE_RUN_FOLDER";
/// How many times a training is killed, if not [`N_KILLS`] times.
const KILLS: &str = "KAPPASCOPE_KILLS";
const N_KILLS: usize = 12;
/// Longer than any of these runs takes.
const LIMIT: Duration = Duration::from_secs(300);
/// What a finished run leaves beside its checkpoints, which are in folders of their own: every weight of its model.
const RESULTS: [&str; 3] = ["clip.trained", "vmf.trained", "power_spherical.trained"];

/// A training of a few seconds.
fn tiny() -> ScenesRecipe {
    let mut recipe = ScenesRecipe::new(Preset::Small, 7);
    let model = &mut recipe.model;
    model.embed_dim = 16;
    (model.vision_cfg.width, model.vision_cfg.layers) = (16, 1);
    model.vision_cfg.head_width = 8;
    (model.text_cfg.width, model.text_cfg.layers) = (16, 1);
    model.text_cfg.heads = 2;
    let clip = &mut recipe.clip;
    (clip.pool, clip.batch, clip.probes) = (24, 8, 8);
    (clip.steps, clip.warmup) = (40, 4);
    (recipe.adapter.embed_dim, recipe.adapter.hidden_width) = (16, 8);
    recipe.adapter_scenes = 24;
    (recipe.fit.batch, recipe.fit.epochs) = (16, 4);
    recipe
}

#[test]
#[ignore = "the training that the other tests kill"]
fn training_that_is_killed() {
    let folder = std::env::var_os(FOLDER).expect("the folder of the run");
    let folder = Path::new(&folder);
    let _lock = RunLock::take(folder).expect("nobody else is there");
    let run = RunFolder {
        folder,
        interval: Duration::ZERO,
    };
    let trained = match training::run(&tiny(), &run, &cpu()) {
        Ok(trained) => trained,
        Err(error) => panic!("{error:#}"),
    };
    let save = |name: &str, module: &dyn Fn() -> Vec<u8>| {
        std::fs::write(folder.join(name), module()).expect("room");
    };
    save(RESULTS[0], &|| weights(&trained.clip));
    save(RESULTS[1], &|| weights(&trained.adapters.vmf));
    save(RESULTS[2], &|| weights(&trained.adapters.power_spherical));
}

fn weights(module: &impl Parameters) -> Vec<u8> {
    let records = records(module).expect("floats");
    write(&records, Precision::F32).expect("tensors")
}

/// This very program, told to train in a folder; `before` comes before it on the command line.
fn training(before: &[&str], folder: &Path) -> Command {
    let this = std::env::current_exe().expect("this program");
    let mut command = match before {
        [] => Command::new(this),
        [program, words @ ..] => {
            let mut command = Command::new(program);
            command.args(words).arg(this);
            command
        }
    };
    let words = [
        "--exact",
        "training_that_is_killed",
        "--ignored",
        "--nocapture",
    ];
    command.args(words).env(FOLDER, folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn succeeded(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Trains without interruption; returns the results and the seconds that took.
fn uninterrupted(folder: &Path) -> (Vec<Vec<u8>>, f64) {
    let started = Instant::now();
    succeeded(&training(&[], folder).output().expect("it starts"));
    (results(folder), started.elapsed().as_secs_f64())
}

fn results(folder: &Path) -> Vec<Vec<u8>> {
    let result = |name: &&str| std::fs::read(folder.join(name)).expect("a finished run");
    RESULTS.iter().map(result).collect()
}

/// Whether a process ended within this time.
fn ended_within(child: &mut Child, time: Duration) -> bool {
    let started = Instant::now();
    while started.elapsed() < time {
        if child.try_wait().expect("a child").is_some() {
            return true;
        }
        sleep(Duration::from_millis(2));
    }
    false
}

#[test]
fn a_training_that_is_killed_at_any_moment_ends_as_the_uninterrupted_one() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let (whole, seconds) = uninterrupted(&scratch.path().join("whole"));
    let n_kills = std::env::var(KILLS).map_or(N_KILLS, |n| n.parse().expect("a number"));
    let (mut rng, mut n_killed, mut n_runs) = (ChaCha8Rng::seed_from_u64(17), 0, 0);
    while n_killed < n_kills {
        let folder = scratch.path().join(format!("killed-{n_runs}"));
        n_runs += 1;
        loop {
            let mut child = training(&[], &folder).spawn().expect("it starts");
            let moment = Duration::from_secs_f64(seconds * rng.random::<f64>());
            let moment = if n_killed < n_kills { moment } else { LIMIT };
            if ended_within(&mut child, moment) {
                succeeded(&child.wait_with_output().expect("it ended"));
                break;
            }
            child.kill().expect("SIGKILL");
            child.wait().expect("it ended");
            n_killed += 1;
        }
        let same = results(&folder) == whole;
        assert!(
            same,
            "after {n_killed} kills the weights of run {n_runs} are others"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_stops_a_training_and_loses_nothing() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let (whole, _) = uninterrupted(&scratch.path().join("whole"));
    let folder = scratch.path().join("full");
    let pointer = folder.join("encoder/checkpoint.json");
    let mut child = training(&[], &folder).spawn().expect("it starts");
    let started = Instant::now();
    while !pointer.exists() && started.elapsed() < LIMIT {
        sleep(Duration::from_millis(2));
    }
    child.kill().expect("SIGKILL");
    child.wait().expect("it ended");
    // No file may have more than a few kilobytes: less than the weights of the tiny model.
    let limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 24; exec \"$0\" \"$@\""];
    let output = training(&limited, &folder).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("saving a checkpoint in"), "{said}");
    assert!(said.contains("too large"), "the system's reason: {said}");
    assert!(
        !folder.join("encoder/unfinished").exists(),
        "half a checkpoint stays"
    );
    succeeded(&training(&[], &folder).output().expect("it starts"));
    assert!(results(&folder) == whole, "the weights are others");
}

#[test]
fn a_damaged_checkpoint_is_refused_by_its_hash() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let folder = scratch.path().join("run");
    uninterrupted(&folder);
    let module = folder.join("encoder/step-40/module.bpk");
    let mut bytes = std::fs::read(&module).expect("the last checkpoint");
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&module, bytes).expect("the folder is the test's own");
    let output = training(&[], &folder).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("the checkpoint is damaged"), "{said}");
}

/// Runs `train` with these words.
fn train(words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_train"))
        .args(words)
        .output();
    let output = output.expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

/// Whether the program says that another run, this very process, is at it; its exit code is that of a bad input then.
fn is_refused(words: &[&str]) -> bool {
    let (code, said) = train(words);
    let number = format!("in use by another run, process {};", std::process::id());
    let is_refused = said.contains(&number);
    assert!(!is_refused || code == Some(2), "{words:?}: {code:?} {said}");
    is_refused
}

#[test]
fn a_second_run_in_one_folder_is_refused() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let out: PathBuf = scratch.path().join("run");
    let _first = RunLock::take(&out).expect("nobody is there");
    let out = out.display().to_string();
    for words in [
        &["scenes"][..],
        &["embed"],
        &["embed", "--world", "captions", "--root", "none"],
        &["embed", "--world", "captions", "--shard", "0/2"],
        &["export", "--vmf", "none", "--ps", "none"],
        &["photos", "--root", "none", "--wordnet", "none"],
        &["adapt", "none", "--data", "captions", "--root", "none"],
        &["fit", "--method", "asymvlm-vmf", "--features", "none"],
        &["reproduce", "--features", "none"],
    ] {
        let is_refused = is_refused(&[words, &["--out", &out]].concat());
        assert!(is_refused, "{words:?}");
    }
    assert!(is_refused(&["merge", &out]), "it would end a run");
}

#[test]
fn shards_work_side_by_side_but_no_two_on_the_same_part() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let out = scratch.path().join("features");
    let _first = RunLock::take_part(&out, "0-of-2").expect("nobody is there");
    let out = out.display().to_string();
    let shard = |part| {
        let words = ["embed", "--world", "captions", "--root", "none"];
        is_refused(&[&words[..], &["--shard", part, "--out", &out]].concat())
    };
    assert!(shard("0/2"), "the same part");
    assert!(!shard("1/2"), "the other part");
    assert!(is_refused(&["merge", &out]), "a part is under way");
    assert!(is_refused(&["embed", "--out", &out]), "a part is under way");
}

#[test]
fn a_model_or_a_report_is_made_by_one_run_at_a_time() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let out = scratch.path().join("made");
    let _first = RunLock::take_beside(&out).expect("nobody makes it");
    let out = out.display().to_string();
    for words in [&["import", "--random", "1"][..], &["evaluate"]] {
        let is_refused = is_refused(&[words, &["--out", &out]].concat());
        assert!(is_refused, "{words:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_said_to_be() {
    // Not even root writes here.
    for out in ["/proc/run", "/proc/self"] {
        for words in [
            &["scenes"][..],
            &["embed"],
            &["export", "--vmf", "none", "--ps", "none"],
            &["reproduce", "--features", "none"],
        ] {
            let (code, said) = train(&[words, &["--out", out]].concat());
            assert_eq!(code, Some(2), "{words:?}: {said}");
            assert!(said.contains(out), "{words:?} names the folder: {said}");
        }
    }
}

#[test]
fn a_checkpoint_of_an_earlier_version_is_refused_by_name() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let encoder = scratch.path().join("encoder");
    std::fs::create_dir_all(&encoder).expect("a folder");
    let old = r#"{"format": 2, "step": 70, "training": {}}"#;
    std::fs::write(encoder.join("checkpoint.json"), old).expect("a file");
    let (code, said) = train(&["scenes", "--out", &scratch.path().display().to_string()]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("a checkpoint of an earlier version of this program"),
        "{said}"
    );
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn the_program_keeps_freed_memory_under_its_own_number_and_words() {
    const SETTING: &str = "MALLOC_TRIM_THRESHOLD_";
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let out = scratch.path().join("run").display().to_string();
    let started = |own: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_train"));
        command.args(["scenes", "--out", &out]);
        command
            .env_remove(SETTING)
            .envs(own.map(|own| (SETTING, own)));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        // It runs as itself as soon as it has taken its folder.
        let until = Instant::now() + LIMIT;
        while !Path::new(&out).exists() && Instant::now() < until {
            sleep(Duration::from_millis(5));
        }
        let of = |file| std::fs::read(format!("/proc/{}/{file}", child.id()));
        let (words, settings) = (of("cmdline"), of("environ"));
        child.kill().and_then(|()| child.wait()).expect("its end");
        std::fs::remove_dir_all(&out).expect("the folder that it took");
        let text = |bytes: std::io::Result<Vec<u8>>| {
            String::from_utf8(bytes.expect("a process")).expect("UTF-8")
        };
        (text(words), text(settings))
    };
    let setting = |settings: &str| {
        let set = settings.split('\0').filter(|set| set.starts_with(SETTING));
        set.map(str::to_owned).collect::<Vec<_>>()
    };

    let (words, settings) = started(None);
    assert!(
        words.ends_with(&format!("\0scenes\0--out\0{out}\0")),
        "{words}"
    );
    assert_eq!(setting(&settings), [format!("{SETTING}=1099511627776")]);
    let (_, settings) = started(Some("131072"));
    assert_eq!(
        setting(&settings),
        [format!("{SETTING}=131072")],
        "a user's own stays"
    );
}
