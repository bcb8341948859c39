from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from mmrag.encoders import image_encoders, text_encoders
from mmrag.encoders.families import usage_of
from mmrag.encoders.image import BUILTIN, ImageEncoder
from mmrag.encoders.text import TextEncoder
from mmrag.errors import SpecError, Unavailable


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
            "BAAI/bge-large-en-v1.5",
            "cls",
            "Represent this sentence for searching relevant passages: ",
        ),
        ("BAAI/bge-m3", "cls", ""),
        ("intfloat/e5-large-v2", "mean", "query: "),
        ("intfloat/multilingual-e5-base", "mean", "query: "),
        ("thenlper/gte-base", "mean", ""),
        ("Alibaba-NLP/gte-large-en-v1.5", "cls", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", "mean", ""),
    ],
)
def test_each_family_is_used_as_it_wants(name: str, pooling: str, query: str) -> None:
    usage = usage_of(name)
    assert (usage.pooling, usage.query) == (pooling, query)


def test_an_unknown_family_must_say_its_pooling() -> None:
    with pytest.raises(SpecError, match="pooling=cls"):
        usage_of("somebody/something")
    assert usage_of("somebody/something", "last").pooling == "last"
    assert usage_of("BAAI/bge-large-en-v1.5", "official").pooling == "mean"


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
