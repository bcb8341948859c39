"""Half precision where the processor multiplies halves natively, and only there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mmrag.encoders import image_encoders, text_encoders
from mmrag.encoders.loading import choose_dtype
from mmrag.errors import SpecError
from mmrag.torchvision_fix import ensure_torchvision


@pytest.fixture
def amx(monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend(monkeypatch, amx_bf16=True)


def _pretend(monkeypatch: pytest.MonkeyPatch, **units: bool) -> None:
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: units)


def test_half_where_the_device_has_matrix_units(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    _pretend(monkeypatch, amx_bf16=False, avx512_bf16=True)
    assert choose_dtype("cpu", "auto") == torch.bfloat16
    _pretend(monkeypatch, amx_bf16=True)
    assert choose_dtype("cpu", "auto") == torch.bfloat16
    assert choose_dtype("cpu", "full") == torch.float32
    assert choose_dtype("cuda", "auto") == torch.float16
    assert choose_dtype("mps", "auto") == torch.float32
    _pretend(monkeypatch, amx_bf16=False, avx512_bf16=False)
    assert choose_dtype("cpu", "auto") == torch.float32
    monkeypatch.setattr("torch.cpu.get_capabilities", dict)  # another architecture lists others
    assert choose_dtype("cpu", "auto") == torch.float32


@pytest.mark.parametrize("spec", ["builtin:precision=double", "builtin:precision="])
def test_an_unknown_precision_names_those_there_are(spec: str) -> None:
    with pytest.raises(SpecError, match="auto, full"):
        image_encoders.create(spec)


@pytest.mark.proof("weights")
def test_halves_of_pictures_differ_little_and_have_length_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _pretend(monkeypatch, amx_bf16=False)
    image_encoders.create("builtin")  # as any test before this may have: kept, in 32 bits
    _pretend(monkeypatch, amx_bf16=True)
    rng = np.random.default_rng(3)
    noise = [rng.integers(0, 255, (40, 30, 3), np.uint8) for _ in range(5)]
    pictures = [Image.fromarray(pixels).resize((160, 160)) for pixels in noise]
    half = image_encoders.create("builtin").encode_crops(pictures)
    full = image_encoders.create("builtin:precision=full").encode_crops(pictures)
    assert half.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(half, axis=1), 1, atol=1e-5)
    assert ((half * full).sum(axis=1) > 0.99).all()
    assert not np.array_equal(half, full)


@pytest.mark.proof("weights")
def test_halves_of_texts_differ_little_and_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend(monkeypatch, amx_bf16=False)
    text_encoders.create("minilm")  # as any test before this may have: kept, in 32 bits
    _pretend(monkeypatch, amx_bf16=True)
    texts = ["The oat drink is bottled in Tessaly.", "a " * 700, ""]
    half = text_encoders.create("minilm")
    full = text_encoders.create("minilm:precision=full")
    one, other = half.encode(texts), full.encode(texts)
    assert ((one * other).sum(axis=1) > 0.999).all()
    assert not np.array_equal(one, other)
    assert half.id != full.id  # neither a cache nor an index mixes them


@pytest.mark.usefixtures("amx")
def test_a_vision_transformer_in_halves(tmp_path: Path) -> None:
    """Its layer norms stay in 32 bits; pixels must still come in 16."""
    ensure_torchvision()
    import torch
    from open_clip.model import CLIP
    from safetensors.torch import save_file

    vision = {"image_size": 32, "layers": 2, "width": 64, "head_width": 32, "patch_size": 8}
    text = {"context_length": 8, "vocab_size": 16, "width": 64, "heads": 1, "layers": 1}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = CLIP(32, vision, text)
    save_file(
        {k: v.contiguous() for k, v in model.state_dict().items()},
        tmp_path / "open_clip_model.safetensors",
    )
    known = {"embed_dim": 32, "vision_cfg": vision, "text_cfg": text}
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": known}))
    pictures = [Image.new("RGB", (50, 40), colour) for colour in ("red", "green", "blue")]
    spec = f"open-clip:model={tmp_path}"
    half = image_encoders.create(spec).encode_crops(pictures)
    full = image_encoders.create(f"{spec},precision=full").encode_crops(pictures)
    assert ((half * full).sum(axis=1) > 0.99).all()
