"""Times `train` beside the programs that a researcher would use, each in turn, and writes benches/results/train.{json,md}, or
cuda.{json,md} with `--device cuda`.

    cargo xtask bench train
    cargo xtask bench gpu

| row | ours | theirs |
|---|---|---|
| embed | `train embed`, from JPEG files and words to features in files | PIL, tokenizers and onnxruntime, or PyTorch on a GPU, the same to one .npz |
| fit | `cargo bench --bench fit` | `benches/fit.py`, PyTorch |
| scenes | `cargo bench --bench scenes` | `benches/scenes.py`, PyTorch |

Both embed 1,200 pictures of 500 x 375 pixels and 6,000 captions with a random ViT-B/32, with all cores, from the start of
the program to its end. Their captions go through the tower in batches of like length, as ours do. Features must agree.

pip install torch==2.15.0 numpy==2.4.6 safetensors==0.8.0 onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.32.0 \
    pillow==13.0.0 tokenizers==0.23.2
"""

import argparse
import csv
import importlib.util
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from PIL import Image
from safetensors.numpy import load_file
from tokenizers import Tokenizer

ROOT = Path(__file__).parents[2]
SEED = 20261123
N_PICTURES, CAPTIONS_OF_EACH = 1_200, 5
SIDE = 224
BATCH = 64
# A cosine of features that differ by rounding, and by f16 in the files.
AGREEMENT = 0.9999
# What is timed of fits and of the scenes encoder's training, by device: a GPU's steps are short, and it has memory for more.
FIT = {"cpu": ["--pairs", "20480", "--steps", "24"], "cuda": ["--steps", "200"]}
SCENES = {"cpu": ["--preset", "small"], "cuda": ["--preset", "full", "--steps", "50"]}
WORDS = """a the two three young old small large black white red brown man woman dog cat child boy girl people group horse
bird running sitting standing playing jumping holding wearing riding looking on in under beside behind with of and grass
beach street park water snow table chair ball shirt hat bicycle skateboard river mountain field""".split()


def make_data(folder):
    """Pictures of smooth noise, and captions of 4 to 18 words."""
    if (folder / "captions.csv").exists():
        return
    random = np.random.default_rng(SEED)
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    rows = []
    for i in range(N_PICTURES):
        coarse = Image.fromarray(random.integers(0, 256, (15, 20, 3), dtype=np.uint8))
        name = f"pictures/{i:04}.jpg"
        coarse.resize((500, 375), Image.Resampling.BICUBIC).save(folder / name, quality=90)
        rows += [(name, " ".join(random.choice(WORDS, random.integers(4, 19)))) for _ in range(CAPTIONS_OF_EACH)]
    with open(folder / "captions.csv", "w", newline="") as file:
        csv.writer(file).writerows([("image", "caption", "split"), *((*row, "train") for row in rows)])


def read_data(folder):
    with open(folder / "captions.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return list(dict.fromkeys(row["image"] for row in rows)), [row["caption"] for row in rows]


def pixels(path, mean, std):
    picture = Image.open(path).convert("RGB")
    scale = SIDE / min(picture.size)
    # As torchvision: the shorter side becomes SIDE, the other one is cut to whole pixels.
    width, height = (int(side * scale) for side in picture.size)
    picture = picture.resize((width, height), Image.Resampling.BICUBIC)
    left, top = (width - SIDE) // 2, (height - SIDE) // 2
    values = np.asarray(picture.crop((left, top, left + SIDE, top + SIDE)), np.float32) / 255
    return ((values - mean) / std).transpose(2, 0, 1)


def in_onnxruntime(models):
    """Functions of pictures and of token ids: sessions with all cores."""
    sessions = [onnxruntime.InferenceSession(str(models / f"clip-{side}.onnx")) for side in ("image", "text")]
    return [lambda batch, run=session: run.run(None, {run.get_inputs()[0].name: batch})[0] for session in sessions]


def in_torch(models, device):
    """The same in PyTorch, with the modules that the ONNX files were written from."""
    path = ROOT / "benches/browser/export.py"
    spec = importlib.util.spec_from_file_location("export", path)
    export = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(export)
    tensors = {name: torch.from_numpy(values) for name, values in load_file(models / "checkpoint/model.safetensors").items()}

    def tower(made_by, side):
        model = made_by(export.CONFIG[f"{side}_config"], export.CONFIG["projection_dim"])
        own = model.state_dict()
        model.load_state_dict({name: value for name, value in tensors.items() if name in own})
        model = model.eval().to(device)
        return lambda batch: model(torch.from_numpy(batch).to(device)).cpu().numpy()

    return [tower(export.ClipImage, "vision"), tower(export.ClipText, "text")]


@torch.no_grad()
def embed_theirs(models, data, out, device):
    """What a careful script does: decoding ahead in threads, captions sorted by length."""
    pictures, captions = read_data(data)
    preprocess = json.loads((models / "clip/manifest.json").read_text())["preprocess"]
    mean, std = (np.array(preprocess[key], np.float32) for key in ("mean", "std"))
    image, text = in_onnxruntime(models) if device == "cpu" else in_torch(models, device)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        batches = [pictures[i : i + BATCH] for i in range(0, len(pictures), BATCH)]
        read = lambda batch: np.stack([pixels(data / name, mean, std) for name in batch])
        ahead = threads.submit(read, batches[0])
        image_features = []
        for following in [*batches[1:], None]:
            batch = ahead.result()
            if following:
                ahead = threads.submit(read, following)
            image_features.append(image(batch))
    tokenizer = Tokenizer.from_file(str(models / "clip/tokenizer.json"))
    ids = [encoding.ids for encoding in tokenizer.encode_batch(captions)]
    order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
    text_features = np.empty((len(ids), 512), np.float32)
    for i in range(0, len(order), BATCH):
        rows = order[i : i + BATCH]
        longest = max(len(ids[row]) for row in rows)
        # Behind the end token nothing is looked at.
        padded = [ids[row] + ids[row][-1:] * (longest - len(ids[row])) for row in rows]
        text_features[rows] = text(np.array(padded, np.int64))
    np.savez(out, images=np.concatenate(image_features), texts=text_features)


def clocked(command, **options):
    start = time.perf_counter()
    subprocess.run([str(word) for word in command], check=True, cwd=ROOT, stdout=subprocess.DEVNULL, **options)
    return time.perf_counter() - start


def agreement(ours, theirs):
    """The least cosine of a row of ours with theirs."""
    found = {}
    for file in sorted(Path(ours).rglob("*.safetensors")):
        for name, values in load_file(file).items():
            found.setdefault(name, []).append(values.astype(np.float32))
    worst = 1.0
    for name, expected in (("image.features", theirs["images"]), ("text.features", theirs["texts"])):
        rows = np.concatenate(found[name])
        norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(expected, axis=1)
        worst = min(worst, float(((rows * expected).sum(1) / norms).min()))
    return worst


def with_features(words, device):
    """A command of cargo's that builds for the device; others only need what is built by default."""
    return ["cargo", *words, "--locked", *([] if device == "cpu" else ["--features", device])]


def train(device, *arguments):
    return [*with_features(["run", "--release", "--quiet"], device), "--", *arguments]


def embed_row(folder, device, rounds):
    models, data = folder / "models", folder / "train-data"
    make_data(data)
    if not (models / "clip/manifest.json").exists():
        clocked(train(device, "import", models / "checkpoint", "--out", models / "clip"))
    ours, theirs = [], []
    for _ in range(rounds):
        out = folder / "train-features"
        shutil.rmtree(out, ignore_errors=True)
        sources = ["--world", "captions", "--root", data, "--model", models / "clip", "--out", out]
        ours.append(clocked(train(device, "embed", *sources, "--device", device), stderr=subprocess.DEVNULL))
        theirs.append(clocked([sys.executable, __file__, "--embed-theirs", "--device", device, folder]))
    worst = agreement(out, np.load(folder / "train-features.npz"))
    if worst < AGREEMENT:
        sys.exit(f"features differ: least cosine {worst}, expected {AGREEMENT}")
    return dict(name="embed 1,200 pictures and 6,000 captions, ViT-B/32", ours=ours, theirs=theirs, unit="s"), worst


def printed_by(command):
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout


def ms_of_step(printed):
    """From the steps a second by the clock that both benchmarks of a training print."""
    return 1_000 / float(re.search(r"([\d.]+) steps/s by the clock", printed)[1])


def lengths_in(printed):
    """Tokens of a batch's groups of captions, where ours prints them, so that theirs has the same."""
    found = re.search(r"tokens of each group: \[(.*)\]", printed)
    return ["--lengths", *found[1].split(", ")] if found else []


def step_row(name, bench, sizes, device, rounds):
    """A step of a training that a Rust and a Python benchmark of one name time."""
    ours, theirs = [], []
    sizes = [*sizes, "--device", device]
    threads = ["--threads", os.cpu_count()] if device == "cpu" else []
    for _ in range(rounds):
        bench_ours = [*with_features(["bench", "--quiet", "--bench", bench], device), "--", *sizes]
        printed = printed_by(bench_ours)
        ours.append(ms_of_step(printed))
        bench_theirs = [sys.executable, f"benches/{bench}.py", *threads, *sizes, *lengths_in(printed)]
        theirs.append(ms_of_step(printed_by(bench_theirs)))
    return dict(name=name, ours=ours, theirs=theirs, unit="ms")


def processor(device):
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    gpu = [] if device == "cpu" else [torch.cuda.get_device_name()]
    return ", ".join([*gpu, model, f"{os.cpu_count()} cores"])


def write(rows, worst, device, rounds):
    for row in rows:
        row["ours"], row["theirs"] = (round(statistics.median(row[side]), 3) for side in ("ours", "theirs"))
        row["ratio"] = round(row["ours"] / row["theirs"], 3)
    place = processor(device)
    results, name = ROOT / "benches/results", "train" if device == "cpu" else device
    git = lambda *words: subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    lines = [
        "# `train` beside onnxruntime and PyTorch",
        "",
        f"`cargo xtask bench {'train' if device == 'cpu' else 'gpu'}` writes this file; what each row is stands in"
        " `benches/train/compare.py`.",
        "",
        f"| what (median of {rounds}, all cores) | ours | theirs | unit | ratio |",
        "|---|---|---|---|---|",
        *(f"| {row['name']} | {row['ours']} | {row['theirs']} | {row['unit']} | {row['ratio']:.2f} |" for row in rows),
        "",
        f"The least cosine of a feature of ours with theirs: {worst:.6f}.",
        "",
        f"{place}; PyTorch {torch.__version__}, onnxruntime {onnxruntime.__version__};"
        f" commit {git('rev-parse', '--short', 'HEAD')}; {date.today()}.",
    ]
    text = "\n".join(lines) + "\n"
    (results / f"{name}.json").write_text(json.dumps(rows, indent=2) + "\n")
    (results / f"{name}.md").write_text(text)
    print(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--embed-theirs", action="store_true")
    args = parser.parse_args()
    folder, device, rounds = args.folder.resolve(), args.device, args.rounds
    if args.embed_theirs:
        return embed_theirs(folder / "models", folder / "train-data", folder / "train-features.npz", device)
    fit, scenes = FIT[device], SCENES[device]
    embed, worst = embed_row(folder, device, rounds)
    rows = [
        embed,
        step_row("a step of a fit, vMF, batch 2048, d 512", "fit", fit, device, rounds),
        step_row(f"a step of the scenes encoder's training, {scenes[1]} preset", "scenes", scenes, device, rounds),
    ]
    write(rows, worst, device, rounds)


if __name__ == "__main__":
    main()
