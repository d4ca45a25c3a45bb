"""Writes the models that `cargo xtask bench browser` compares engines on.

    python benches/browser/export.py FOLDER

| file | what |
|---|---|
| checkpoint/ | a random CLIP ViT-B/32 as the model hub has such models, for `train import`; every weight is one that f16 holds |
| clip-text.onnx, clip-image.onnx | its towers in f32 |
| clip-text-int8.onnx, clip-image-int8.onnx | the same, quantised by onnxruntime's `quantize_dynamic` |
| photos-text.onnx, photos-image.onnx | the towers, heads and adapters of public/models/photos in f32 |

Captions of a row have one length, so that the models need no mask. CLIP's tokenizer.json is that of the public data where
KAPPASCOPE_SHARED_DATA names it; else it merges nothing. Words of one letter are one token either way, and the same one.

pip install torch==2.15.0 numpy==2.4.6 safetensors==0.8.0 onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.32.0
"""

import hashlib
import json
import logging
import os
import shutil
import sys
from pathlib import Path

try:
    import onnxruntime
    import onnxscript
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from safetensors.torch import load_file, save_file
    from torch import nn
    from torch.nn import functional as F
except ImportError as error:
    sys.exit(f"{error}; expected:\n{__doc__.splitlines()[-1]}")

SEED = 20261123
PHOTOS = Path(__file__).parents[2] / "public/models/photos"
CONFIG = dict(
    model_type="clip", projection_dim=512,
    text_config=dict(
        vocab_size=49408, hidden_size=512, intermediate_size=2048, num_hidden_layers=12, num_attention_heads=8,
        max_position_embeddings=77, hidden_act="quick_gelu", bos_token_id=49406, eos_token_id=49407, pad_token_id=49407,
    ),
    vision_config=dict(
        hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12, image_size=224, patch_size=32,
        hidden_act="quick_gelu",
    ),
)  # fmt: skip


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, is_causal):
        heads = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in (self.q_proj(x), self.k_proj(x), self.v_proj(x)))
        return self.out_proj(F.scaled_dot_product_attention(*heads, is_causal=is_causal).transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.fc1, self.fc2, self.activation = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), activation

    def forward(self, x):
        return self.fc2(self.activation(self.fc1(x)))


class Layer(nn.Module):
    """A block of CLIP, with its norms before attention and MLP, or of BERT, with its norms after them."""

    def __init__(self, width, heads, activation, eps=1e-5):
        super().__init__()
        self.self_attn, self.mlp = Attention(width, heads), Mlp(width, activation)
        self.layer_norm1, self.layer_norm2 = nn.LayerNorm(width, eps), nn.LayerNorm(width, eps)

    def forward(self, x, is_causal=False):
        x = x + self.self_attn(self.layer_norm1(x), is_causal)
        return x + self.mlp(self.layer_norm2(x))

    def norm_after(self, x):
        x = self.layer_norm1(x + self.self_attn(x, False))
        return self.layer_norm2(x + self.mlp(x))


def quick_gelu(x):
    return x * torch.sigmoid(1.702 * x)


def holder(**parts):
    """A module that only holds others, under the names that a checkpoint has."""
    module = nn.Module()
    for name, part in parts.items():
        setattr(module, name, part)
    return module


def layers(config):
    sizes = config["hidden_size"], config["num_attention_heads"]
    return holder(layers=nn.ModuleList(Layer(*sizes, quick_gelu) for _ in range(config["num_hidden_layers"])))


class ClipText(nn.Module):
    def __init__(self, config, embed_dim):
        super().__init__()
        width = config["hidden_size"]
        self.text_model = holder(
            embeddings=holder(
                token_embedding=nn.Embedding(config["vocab_size"], width),
                position_embedding=nn.Embedding(config["max_position_embeddings"], width),
            ),
            encoder=layers(config),
            final_layer_norm=nn.LayerNorm(width),
        )
        self.text_projection = nn.Linear(width, embed_dim, bias=False)

    def forward(self, ids):
        embeddings = self.text_model.embeddings
        x = embeddings.token_embedding(ids) + embeddings.position_embedding.weight[: ids.shape[1]]
        for layer in self.text_model.encoder.layers:
            x = layer(x, is_causal=True)
        # The end token has the greatest id; the first one counts.
        x = self.text_model.final_layer_norm(x[torch.arange(ids.shape[0]), ids.argmax(1)])
        return self.text_projection(x)


class ClipImage(nn.Module):
    def __init__(self, config, embed_dim):
        super().__init__()
        width, patch = config["hidden_size"], config["patch_size"]
        embeddings = holder(
            patch_embedding=nn.Conv2d(3, width, patch, patch, bias=False),
            position_embedding=nn.Embedding((config["image_size"] // patch) ** 2 + 1, width),
        )
        embeddings.class_embedding = nn.Parameter(torch.zeros(width))
        self.vision_model = holder(
            embeddings=embeddings,
            pre_layrnorm=nn.LayerNorm(width),
            encoder=layers(config),
            post_layernorm=nn.LayerNorm(width),
        )
        self.visual_projection = nn.Linear(width, embed_dim, bias=False)

    def forward(self, images):
        model = self.vision_model
        patches = model.embeddings.patch_embedding(images).flatten(2).transpose(1, 2)
        first = model.embeddings.class_embedding.expand(images.shape[0], 1, -1)
        x = model.pre_layrnorm(torch.cat([first, patches], 1) + model.embeddings.position_embedding.weight)
        for layer in model.encoder.layers:
            x = layer(x)
        return self.visual_projection(model.post_layernorm(x[:, 0]))


class Head(nn.Module):
    """`W z + MLP(norm(z))` of standardised features."""

    def __init__(self, config, width, embed_dim):
        super().__init__()
        self.is_root = config["input"] == "square_root"
        self.mean, self.deviation = nn.Parameter(torch.zeros(width)), nn.Parameter(torch.ones(width))
        self.linear, self.norm = nn.Linear(width, embed_dim), nn.LayerNorm(width)
        self.expand = nn.Linear(width, config["hidden_width"])
        self.contract = nn.Linear(config["hidden_width"], embed_dim)

    def forward(self, features):
        z = ((features.clamp(min=0).sqrt() if self.is_root else features) - self.mean) / self.deviation
        return self.linear(z) + self.contract(F.gelu(self.expand(self.norm(z))))


def nearest(features, exemplars):
    """The mean cosine with the three nearest exemplars."""
    return (F.normalize(features) @ exemplars.T).topk(3).values.mean(1, keepdim=True)


def adapter(d, config):
    """features → ln κ; the mean direction is that of the features."""
    assert config["mean_direction"] == "encoder", config
    widths = [d] + [config["hidden_width"]] * config["hidden_layers"] + [1]
    linears = [nn.Linear(*pair) for pair in zip(widths, widths[1:])]
    return nn.Sequential(*(step for linear in linears for step in (linear, nn.ReLU())))[:-1]


class PhotosText(nn.Module):
    def __init__(self, manifest):
        super().__init__()
        towers, adapters = manifest["towers"], manifest["adapters"]
        text, d = towers["text"], towers["embed_dim"]
        self.tokens = nn.Embedding(text["vocab_size"], text["width"])
        self.positions = nn.Embedding(text["context_length"], text["width"])
        self.norm = nn.LayerNorm(text["width"], 1e-12)
        self.layers = nn.ModuleList(Layer(text["width"], text["heads"], F.gelu, 1e-12) for _ in range(text["layers"]))
        self.head = Head(towers["text_head"], text["width"], d)
        self.exemplars = nn.Parameter(torch.zeros(towers["exemplars"]["text"], text["width"]))
        self.vmf, self.power_spherical = (adapter(d, adapters[family]) for family in ("vmf", "power_spherical"))

    def forward(self, ids):
        x = self.norm(self.tokens(ids) + self.positions.weight[: ids.shape[1]])
        for layer in self.layers:
            x = layer.norm_after(x)
        features, familiarity = self.head(x.mean(1)), nearest(x.mean(1), self.exemplars)
        natural = [F.normalize(features) * of(features).exp() for of in (self.vmf, self.power_spherical)]
        return torch.cat([features, *natural, familiarity], 1)


class Convolution(nn.Module):
    """A convolution with TensorFlow's padding; its bias holds the batch norm."""

    def __init__(self, channels, width, kernel, stride=1, groups=1, is_cut=True):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width, channels // groups, kernel, kernel))
        self.bias = nn.Parameter(torch.zeros(width))
        self.kernel, self.stride, self.groups, self.is_cut = kernel, stride, groups, is_cut

    def forward(self, x):
        pads = []
        for side in (x.shape[3], x.shape[2]):
            pad = max((-(-side // self.stride) - 1) * self.stride + self.kernel - side, 0)
            pads += [pad // 2, pad - pad // 2]
        x = F.conv2d(F.pad(x, pads) if any(pads) else x, self.weight, self.bias, self.stride, groups=self.groups)
        return x.clamp(0, 6) if self.is_cut else x


class PhotosImage(nn.Module):
    def __init__(self, manifest):
        super().__init__()
        towers = manifest["towers"]
        image, width = towers["image"], towers["image"]["stem_width"]
        self.conv_stem = Convolution(3, width, 3, 2)
        self.blocks = nn.ModuleList()
        for stage in image["stages"]:
            blocks = nn.ModuleList()
            for i in range(stage["layers"]):
                inner, stride = width * stage["expansion"], stage["stride"] if i == 0 else 1
                is_wide = stage["expansion"] > 1
                widen = {"conv_pw": Convolution(width, inner, 1)} if is_wide else {}
                depthwise = Convolution(inner, inner, stage["kernel_size"], stride, inner)
                narrow = {"conv_pwl" if is_wide else "conv_pw": Convolution(inner, stage["width"], 1, is_cut=False)}
                blocks.append(nn.ModuleDict({**widen, "conv_dw": depthwise, **narrow}))
                width = stage["width"]
            self.blocks.append(blocks)
        self.conv_head = Convolution(width, image["width"], 1)
        self.head = Head(towers["image_head"], image["width"], towers["embed_dim"])
        # Compared is the map before the last block.
        self.exemplars = nn.Parameter(torch.zeros(towers["exemplars"]["image"], image["stages"][-2]["width"]))

    def forward(self, images):
        x = self.conv_stem(images)
        for block in (block for stage in self.blocks for block in stage):
            before = y = x
            for step in block.values():
                y = step(y)
            x = x + y if x.shape == y.shape else y
        familiarity = nearest(before.mean((2, 3)), self.exemplars)
        return torch.cat([self.head(self.conv_head(x).mean((2, 3))), familiarity], 1)


def randomise(model):
    """Values of f16 that keep the variance of what a layer passes on."""
    generator = torch.Generator().manual_seed(SEED)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        is_scale = "norm" in name and name.endswith("weight")
        scaled = 0.1 * noise if parameter.ndim == 1 else noise * parameter[0].numel() ** -0.5
        parameter.data = (scaled + is_scale).half().float()


def photos_tensors(manifest):
    """The shipped weights in f32, under the names that the modules here have."""
    named = {}
    for shard in manifest["shards"]:
        file = load_file(PHOTOS / shard["file"])
        for name, value in file.items():
            # The logit scale multiplies what was computed.
            if name.endswith((".scale", ".temperature")):
                continue
            scale = file.get(f"{name}.scale")
            value = value.float() if scale is None else value.float() * scale.reshape(-1, *[1] * (value.ndim - 1))
            adapter = shard["file"].removeprefix("adapter_").removesuffix(".safetensors")
            named[renamed(name, adapter)] = value
    return named


def renamed(name, adapter):
    for old, new in (
        ("text_adaptor.etta", adapter), ("text_head", "text.head"), ("text_exemplars", "text.exemplars"),
        ("visual_head", "image.head"), ("visual_exemplars", "image.exemplars"), ("vision_model", "image"),
        ("text_model.embeddings.word_embeddings", "text.tokens"), ("text_model.embeddings.LayerNorm", "text.norm"),
        ("text_model.embeddings.position_embeddings", "text.positions"), ("text_model.encoder.layer", "text.layers"),
        ("attention.self.query", "self_attn.q_proj"), ("attention.self.key", "self_attn.k_proj"),
        ("attention.self.value", "self_attn.v_proj"), ("attention.output.dense", "self_attn.out_proj"),
        ("attention.output.LayerNorm", "layer_norm1"), ("intermediate.dense", "mlp.fc1"), ("output.dense", "mlp.fc2"),
        ("output.LayerNorm", "layer_norm2"),
    ):  # fmt: skip
        name = name.replace(old, new)
    return f"text.{name}" if name.split(".")[0] in ("vmf", "power_spherical") else name


def filled(model, tensors, prefix):
    of_model = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    model.load_state_dict(of_model)
    return model


def export(model, example, shapes, path):
    torch.onnx.export(
        model.eval(), (example,), path, input_names=["input"], output_names=["features"], dynamic_shapes=[shapes],
        opset_version=18, dynamo=True, external_data=False, verbose=False,
    )  # fmt: skip


def export_text(model, path):
    ids = torch.randint(3, 500, (2, 9), generator=torch.Generator().manual_seed(1))
    longest = model.positions.num_embeddings if isinstance(model, PhotosText) else CONFIG["text_config"]["max_position_embeddings"]
    dims = {0: torch.export.Dim("n_texts", max=512), 1: torch.export.Dim("n_tokens", max=longest)}
    export(model, ids, dims, path)


def export_image(model, side, path):
    export(model, torch.zeros(2, 3, side, side), {0: torch.export.Dim("n_images", max=512)}, path)


def byte_tokenizer():
    """A tokenizer.json of CLIP's kind that merges nothing: its 256 bytes, the same at the end of a word, start, end."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    symbols = [chr(byte) for byte in printable] + [chr(0x100 + i) for i in range(256 - len(printable))]
    special = ["<|startoftext|>", "<|endoftext|>"]
    vocab = {symbol: i for i, symbol in enumerate(symbols + [f"{symbol}</w>" for symbol in symbols])}
    vocab |= {token: 49406 + i for i, token in enumerate(special)}
    words = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    split = {"type": "Split", "pattern": {"Regex": words}, "behavior": "Removed", "invert": True}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    flags = dict(special=True, normalized=False, single_word=False, lstrip=False, rstrip=False)
    return json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "post_processor": None, "decoder": None,
        "added_tokens": [{"id": vocab[token], "content": token, **flags} for token in special],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]},
        "model": {
            "type": "BPE", "dropout": None, "unk_token": special[1], "continuing_subword_prefix": "",
            "end_of_word_suffix": "</w>", "fuse_unk": False, "byte_fallback": False, "vocab": vocab, "merges": [],
        },
    })  # fmt: skip


def write_clip(folder):
    checkpoint = folder / "checkpoint"
    checkpoint.mkdir()
    text = ClipText(CONFIG["text_config"], CONFIG["projection_dim"])
    image = ClipImage(CONFIG["vision_config"], CONFIG["projection_dim"])
    randomise(text)
    randomise(image)
    tensors = {**text.state_dict(), **image.state_dict(), "logit_scale": torch.tensor(4.6052)}
    save_file(tensors, checkpoint / "model.safetensors", {"format": "pt"})
    (checkpoint / "config.json").write_text(json.dumps(CONFIG))
    shared = Path(os.environ.get("KAPPASCOPE_SHARED_DATA", ""), "clip_tokenizer/clip_tokenizer.json")
    (checkpoint / "tokenizer.json").write_text(shared.read_text() if shared.is_file() else byte_tokenizer())
    export_text(text, folder / "clip-text.onnx")
    export_image(image, CONFIG["vision_config"]["image_size"], folder / "clip-image.onnx")
    for tower in ("text", "image"):
        quantize_dynamic(folder / f"clip-{tower}.onnx", folder / f"clip-{tower}-int8.onnx", weight_type=QuantType.QUInt8)


def write_photos(folder):
    manifest = json.loads((PHOTOS / "manifest.json").read_text())
    tensors = photos_tensors(manifest)
    export_text(filled(PhotosText(manifest), tensors, "text."), folder / "photos-text.onnx")
    image = filled(PhotosImage(manifest), tensors, "image.")
    export_image(image, manifest["preprocess"]["image_size"], folder / "photos-image.onnx")


def main():
    logging.disable(logging.WARNING)
    folder = Path(sys.argv[1])
    made_of = [Path(__file__).read_bytes(), (PHOTOS / "manifest.json").read_bytes()]
    digest = hashlib.sha256(b"".join(made_of)).hexdigest()
    done = folder / "made-of"
    if done.is_file() and done.read_text() == digest:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with torch.no_grad():
        write_clip(folder)
        write_photos(folder)
    versions = f"torch {torch.__version__}, onnxscript {onnxscript.__version__}, onnxruntime {onnxruntime.__version__}"
    print(f"{folder}: written by {versions}")
    done.write_text(digest)


if __name__ == "__main__":
    main()
