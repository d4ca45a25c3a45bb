"""What benches/fit.rs does, in PyTorch: AsymVLM's von Mises-Fisher adapter on random pairs.

    python benches/fit.py [--threads 1] [--device cpu]

Needs torch.
"""

import argparse
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cpu")
parser.add_argument("--pairs", type=int, default=600_000)
parser.add_argument("--batch", type=int, default=2048)
parser.add_argument("--width", type=int, default=512)
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--threads", type=int, default=torch.get_num_threads())
args = parser.parse_args()

torch.manual_seed(0)
torch.set_num_threads(args.threads)
d, hidden = args.width, 2 * args.width
adapter = nn.Sequential(
    nn.Linear(d, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
    nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, d),
).to(args.device)  # fmt: skip
factor = nn.Parameter(torch.ones((), device=args.device))
optimizer = torch.optim.SGD([*adapter.parameters(), factor], lr=1e-2, momentum=0.9, weight_decay=5e-4)
per_epoch = math.ceil(args.pairs / args.batch)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 200 * per_epoch, eta_min=1e-6)
texts = torch.rand(args.pairs, d, device=args.device)
images = torch.rand(args.pairs, d, device=args.device)


def log_likelihood(eta, z):
    kappa = eta.norm(dim=1)
    a, b = (d - 1) / 2, (d + 1) / 2
    s_a, s_b = (a * a + kappa**2).sqrt(), (b * b + kappa**2).sqrt()
    normalizer = a / 2 * ((a + s_a).log() + (a + s_b).log()) - (s_a + s_b) / 2
    return z @ eta.T + normalizer


def batches():
    """Rows of each step, without end: every epoch has an order of its own."""
    while True:
        yield from torch.randperm(args.pairs).split(args.batch)


def step(rows):
    rows = rows.to(args.device)
    logits = factor * log_likelihood(adapter(texts[rows]), F.normalize(images[rows], dim=1))
    labels = torch.arange(len(rows), device=args.device)
    loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    return loss


rows = batches()
processor_before = time.process_time()
for _ in range(2):
    loss = step(next(rows))
loss.item()
started = time.perf_counter()
for _ in range(args.steps):
    loss = step(next(rows))
assert math.isfinite(loss.item()), f"the loss is {loss.item()}: the steps are of no use"
print(f"PyTorch {torch.__version__}: {args.steps / (time.perf_counter() - started):.3f} steps/s by the clock")
busy = time.process_time() - processor_before
print(f"PyTorch {torch.__version__}: {(args.steps + 2) / busy:.3f} steps per second of a core")
