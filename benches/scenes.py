"""What benches/scenes.rs does, in PyTorch: steps of the scenes encoder's training, on random pictures and captions.

    python benches/scenes.py [--preset small] [--threads 2] [--device cpu]

Captions have the lengths of the preset's own (sixteen groups of like length, as `train scenes` sorts them). Drawing
scenes' captions, which ours does on another thread meanwhile, is left out. Needs torch.
"""

import argparse
import time

import torch
import torch.nn.functional as F
from torch import nn

# What benches/scenes.rs prints: tokens of each group, padded.
LENGTHS = [8] * 5 + [16] * 3 + [24] * 3 + [32, 32, 40, 48, 64]

parser = argparse.ArgumentParser()
parser.add_argument("--preset", choices=["small", "full"], default="small")
parser.add_argument("--device", default="cpu")
parser.add_argument("--steps", type=int, default=12)
parser.add_argument("--threads", type=int, default=torch.get_num_threads())
parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, help="tokens of each group, padded")
args = parser.parse_args()

torch.manual_seed(0)
torch.set_num_threads(args.threads)
FULL = args.preset == "full"
BATCH, PROBES, VOCABULARY, CONTEXT, EMBED = 256 if FULL else 192, 128, 100, 64, 128
SIDE, PATCH = 72, 24


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.expand, self.contract = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, is_causal):
        n, length, width = x.shape
        qkv = self.qkv(self.norms[0](x)).view(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(*qkv, is_causal=is_causal)
        x = x + self.output(attended.transpose(1, 2).reshape(n, length, width))
        hidden = self.expand(self.norms[1](x))
        return x + self.contract(hidden * torch.sigmoid(1.702 * hidden))


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        image, text, n_layers = 192 if FULL else 128, 128, 5 if FULL else 4
        n_patches = (SIDE // PATCH) ** 2
        self.patches = nn.Conv2d(3, image, PATCH, PATCH, bias=False)
        self.first = nn.Parameter(torch.randn(image) * image**-0.5)
        self.image_positions = nn.Parameter(0.5 * torch.randn(n_patches + 1, image))
        self.image_norms = nn.ModuleList([nn.LayerNorm(image) for _ in range(2)])
        self.image_blocks = nn.ModuleList([Block(image, image // 32) for _ in range(n_layers)])
        self.image_projection = nn.Linear(image, EMBED, bias=False)
        self.tokens = nn.Embedding(VOCABULARY, text)
        self.text_positions = nn.Parameter(0.01 * torch.randn(CONTEXT, text))
        self.text_blocks = nn.ModuleList([Block(text, 4) for _ in range(3)])
        self.text_norm = nn.LayerNorm(text)
        self.text_projection = nn.Linear(text, EMBED, bias=False)
        self.scales = nn.Parameter(torch.tensor([2.66, 2.3, -3.0]))

    def images(self, pixels):
        x = self.patches(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(len(x), 1, -1), x], dim=1)
        x = self.image_norms[0](x + self.image_positions)
        for block in self.image_blocks:
            x = block(x, False)
        return self.image_projection(self.image_norms[1](x[:, 0]))

    def texts(self, ids, ends):
        x = self.tokens(ids) + self.text_positions[: ids.shape[1]]
        for block in self.text_blocks:
            x = block(x, True)
        return self.text_projection(self.text_norm(x)[torch.arange(len(ids)), ends])


model = Clip().to(args.device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-8, weight_decay=0.05)
n_texts = BATCH + PROBES
group = -(-n_texts // len(args.lengths))
pixels = torch.randn(BATCH, 3, SIDE, SIDE, device=args.device)
sizes = [min(group, n_texts - i * group) for i in range(len(args.lengths))]
texts = [
    (torch.randint(VOCABULARY, (n, length), device=args.device), torch.full((n,), length - 1, device=args.device))
    for n, length in zip(sizes, args.lengths)
]
order = torch.randperm(n_texts, device=args.device)
truth = torch.rand(n_texts, BATCH, device=args.device) < 0.1
mask = torch.where(truth[:BATCH] & ~torch.eye(BATCH, dtype=torch.bool, device=args.device), -1e4, 0.0)
sign = torch.where(truth, 1.0, -1.0)
weight = torch.full((n_texts, BATCH), 1.0 / (n_texts * BATCH), device=args.device)
labels = torch.arange(BATCH, device=args.device)


def step():
    images = F.normalize(model.images(pixels), dim=1)
    found = torch.cat([model.texts(ids, ends) for ids, ends in texts])[order]
    cosines = F.normalize(found, dim=1) @ images.T
    logits = cosines[:BATCH] * model.scales[0].clamp(max=4.605).exp() + mask
    contrastive = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
    signed = (cosines * model.scales[1].exp() + model.scales[2]) * sign
    loss = contrastive + 4.0 * (F.softplus(-signed) * weight).sum()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss


for _ in range(3):
    step().item()
started = time.perf_counter()
for _ in range(args.steps):
    loss = step()
loss.item()
print(f"PyTorch {torch.__version__}: {args.steps / (time.perf_counter() - started):.3f} steps/s by the clock")
