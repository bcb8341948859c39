"""A cross-encoder chosen by its spec: a real transformers model, tiny and made here."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mmrag.errors import SpecError, Unavailable
from mmrag.protocols import Reranker
from mmrag.search.index.open import open_index
from mmrag.search.web.rerank import rerankers
from mmrag.torchvision_fix import ensure_torchvision

QUERY = "elm speaker warranty"
PASSAGES = [
    "elm speaker", "the warranty of the elm speaker lasts eleven years", "oat", "",
    "kettle " * 100, "the elm speaker and its warranty",
]  # fmt: skip
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the elm speaker warranty of lasts eleven years oat kettle"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ensure_torchvision()
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    place = tmp_path_factory.mktemp("cross-encoder")
    (place / "vocab.txt").write_text("\n".join(WORDS.split()))
    BertTokenizer(str(place / "vocab.txt")).save_pretrained(place)
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(WORDS.split()), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=64, num_labels=1, initializer_range=0.5,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def reranker(folder: Path) -> Reranker:
    return rerankers.create(f"cross-encoder:model={folder},batch=4,max_tokens=64")


def test_scores_are_those_of_the_model_itself(folder: Path, reranker: Reranker) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    told = tokenizer([QUERY] * len(PASSAGES), PASSAGES, padding=True, truncation=True,
                     max_length=64, return_tensors="pt")  # fmt: skip
    with torch.inference_mode():
        direct = torch.sigmoid(model(**told).logits[:, 0]).tolist()
    scores = reranker.rerank(QUERY, PASSAGES)
    assert scores == pytest.approx(direct, abs=1e-5)
    assert max(scores) - min(scores) > 0.01


def test_a_passage_scores_alone_what_it_scores_in_company(reranker: Reranker) -> None:
    together = reranker.rerank(QUERY, PASSAGES)
    alone = [reranker.rerank(QUERY, [passage])[0] for passage in PASSAGES]
    assert alone == pytest.approx(together, abs=1e-5)
    assert reranker.rerank(QUERY, PASSAGES[::-1]) == pytest.approx(together[::-1], abs=1e-5)
    assert reranker.rerank(QUERY, []) == []


def test_a_search_is_opened_with_it_by_name(folder: Path, index_folder: Path) -> None:
    spec = f"cross-encoder:model={folder},max_tokens=64"
    by_model = open_index(index_folder, reranker=spec).web
    plain = open_index(index_folder, reranker="off").web
    found = by_model.search_text([QUERY], 6)[0]
    assert sorted(hit.url for hit in found) == sorted(
        hit.url for hit in plain.search_text([QUERY], 6)[0]
    )
    assert plain.reranker is None
    passages = [f"{hit.title}\n{hit.text}" for hit in found]
    assert len(set(by_model.reranker.rerank(QUERY, passages))) > 1


@pytest.mark.parametrize("name", ["no-such-reranker", "BAAI/bge-reranker-base", "cross-encoder"])
def test_a_name_that_is_none_is_told_what_there_is(index_folder: Path, name: str) -> None:
    with pytest.raises(SpecError) as found:
        open_index(index_folder, reranker=name)
    for choice in (name, "builtin", "off", "cross-encoder:model=NAME", "folder", "hub"):
        assert choice in str(found.value)


def test_a_classifier_is_no_reranker(folder: Path, tmp_path: Path) -> None:
    from transformers import BertConfig, BertForSequenceClassification

    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    config = BertConfig.from_pretrained(folder, num_labels=3)
    BertForSequenceClassification(config).save_pretrained(tmp_path)
    with pytest.raises(Unavailable, match="3 outputs"):
        rerankers.create(f"cross-encoder:model={tmp_path}")


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
@pytest.mark.parametrize("data", [b"", b"{", None])
def test_a_broken_folder_is_named(
    folder: Path, tmp_path: Path, name: str, data: bytes | None
) -> None:
    broken = shutil.copytree(folder, tmp_path / "broken")
    if data is None:
        (broken / name).unlink()
        if name == "tokenizer.json":
            (broken / "vocab.txt").unlink(missing_ok=True)
            (broken / "tokenizer_config.json").unlink(missing_ok=True)
    else:
        (broken / name).write_bytes(data)
    with pytest.raises(Unavailable, match="cross-encoder") as found:
        rerankers.create(f"cross-encoder:model={broken}")
    assert str(broken) in str(found.value)
