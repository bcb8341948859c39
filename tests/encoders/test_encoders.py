from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mmrag.encoders import image_encoders, text_encoders
from mmrag.encoders.devices import choose_dtype
from mmrag.encoders.families import encoder_settings
from mmrag.encoders.image import BUILTIN, ImageEncoder
from mmrag.encoders.text import TextEncoder
from mmrag.errors import SpecError, Unavailable
from mmrag.torchvision_fix import ensure_torchvision


@pytest.fixture(scope="module")
def text() -> TextEncoder:
    return text_encoders.create("minilm")


@pytest.fixture(scope="module")
def image() -> ImageEncoder:
    return image_encoders.create("builtin")


@pytest.mark.parametrize(
    ("name", "pooling", "query"),
    [
        (
            "BAAI/bge-large-en-v1.5", "cls",
            "Represent this sentence for searching relevant passages: "
        ),
        ("BAAI/bge-m3", "cls", ""), ("intfloat/e5-large-v2", "mean", "query: "),
        ("intfloat/multilingual-e5-base", "mean", "query: "), ("thenlper/gte-base", "mean", ""),
        ("Alibaba-NLP/gte-large-en-v1.5", "cls", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", "mean", "")
    ]
)  # fmt: skip
def test_each_family_is_used_as_it_wants(name: str, pooling: str, query: str) -> None:
    usage = encoder_settings(name)
    assert (usage.pooling, usage.query) == (pooling, query)


def test_an_unknown_family_must_say_its_pooling() -> None:
    with pytest.raises(SpecError, match="pooling=cls"):
        encoder_settings("somebody/something")
    assert encoder_settings("somebody/something", "last").pooling == "last"
    assert encoder_settings("BAAI/bge-large-en-v1.5", "official").pooling == "mean"


def test_near_meanings_are_near(text: TextEncoder) -> None:
    passages = text.encode(["The oat drink is bottled in Tessaly.", "The car has three trims."])
    query = text.encode_queries(["Where does the oat milk get filled?"])
    assert query @ passages[0] > query @ passages[1] + 0.2
    np.testing.assert_allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-5)


def test_a_query_vector_does_not_depend_on_its_company(text: TextEncoder) -> None:
    queries = [f"query number {i} " + "and more " * (i % 5) for i in range(9)]
    together = text.encode_queries(queries)
    for i, query in enumerate(queries):
        assert (text.encode_queries([query])[0] == together[i]).all()


@pytest.mark.parametrize("odd", ["", "x" * 100_000, "\0", "日本語"])
def test_odd_texts_have_finite_vectors(text: TextEncoder, odd: str) -> None:
    assert np.isfinite(text.encode([odd])).all()


def test_a_model_that_is_not_here_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(Unavailable, match="hf download"):
        text_encoders.create("transformers:model=./nowhere/bge-large-en-v1.5")
    with pytest.raises(Unavailable, match="hf download"):
        image_encoders.create("open-clip:model=no-such-model,weights=openai")
    with pytest.raises(Unavailable, match="weights=openai"):
        image_encoders.create("open-clip:model=ViT-L-14-336")


def test_the_built_in_image_encoder_is_small_and_described() -> None:
    assert (BUILTIN / "open_clip_model.safetensors").stat().st_size <= 15_000_000
    assert "seed" in (BUILTIN / "training.json").read_text()


def test_pictures_do_not_depend_on_their_company(image: ImageEncoder) -> None:
    rng = np.random.default_rng(0)
    pictures = [Image.fromarray(rng.integers(0, 255, (80, 60, 3), np.uint8)) for _ in range(19)]
    together = image.encode_crops(pictures)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-4)
    for i in (0, 7, 18):
        assert (image.encode_crops([pictures[i]])[0] == together[i]).all()


def test_one_pixel_has_a_vector(image: ImageEncoder) -> None:
    assert np.isfinite(image.encode_crops([Image.new("RGB", (1, 1))])).all()


def test_folded_norms_give_the_same_vectors() -> None:
    ensure_torchvision()
    import open_clip
    import torch

    image = image_encoders.create("builtin:precision=full")
    plain, _, _ = open_clip.create_model_and_transforms(f"local-dir:{BUILTIN}")
    side = image.image_size
    pixels = torch.rand(2, 3, side, side, generator=torch.Generator().manual_seed(1)) * 2 - 1
    with torch.inference_mode():
        expected = plain.eval().encode_image(pixels, normalize=True)
        found = image._model.encode_image(pixels, normalize=True)
    norms = [m for m in image._model.visual.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    assert not norms
    assert torch.allclose(found, expected, atol=1e-4)


@pytest.mark.proof("weights")
def test_the_built_in_encoder_tells_a_thing_from_its_look_alike(
    studio: None, image: ImageEncoder
) -> None:
    """Things that no training has seen, from the front and in a lived-in place."""
    from simulator.studio.camera.scene_to_picture import compose
    from simulator.world.facts.look import Look
    from simulator.world.pictures.scene import Scene

    looks = [
        Look(domain="food", kind=kind, family=family, variant=variant, label=None)
        for kind in ("bottle", "jar")
        for family in (41, 42)
        for variant in (0, 1)
    ]
    scenes = [
        [Scene(main=look, is_ego=ego, key=f"k{ego}", width=side, height=side) for look in looks]
        for ego, side in ((False, 256), (True, 384))
    ]
    shelf, place = (
        image.encode_crops([Image.fromarray(compose(scene).image) for scene in some])
        for some in scenes
    )
    best = (place @ shelf.T).argmax(axis=1)
    of_family = [looks[i].family == look.family for i, look in zip(best, looks, strict=True)]
    assert sum(of_family) >= 6, best.tolist()


# -- precision


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
