"""Local Hugging Face vision-language models with dynamic batching across conversations.

Requests that wait at the same moment are answered together, up to `batch`: sixteen conversations
ask one model at nearly the cost of one. Batches are padded on the left, which with an attention
mask leaves greedy answers as they are one by one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from mmrag.errors import ServiceError, SpecError, Unavailable, error_text
from mmrag.models.chat_template import calls_in, chat_text
from mmrag.models.endpoint_errors import cut_answer_message, is_answer_cut
from mmrag.models.model_thread_queue import ModelThreadQueue, QueuedRequest
from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.records import Usage
from mmrag.registry import parse_whole_number
from mmrag.tools import CallRequest
from mmrag.torchvision_fix import ensure_torchvision, one_at_a_time

if TYPE_CHECKING:
    import torch

_DTYPES = ("auto", "float32", "bfloat16", "float16")

_GATHER = 0.005
"""Seconds that a batch waits for company."""


class LocalModel:
    """A model from the hub or a folder, loaded through `AutoModelForImageTextToText`.

    `local:name=Qwen/Qwen2-VL-2B-Instruct,batch=16,dtype=bfloat16`.
    """

    def __init__(
        self,
        *,
        name: str,
        batch: str | int = 16,
        device: str = "auto",
        dtype: str = "auto",
        side: str | int = 1024,
        max_tokens: str | int = 0,
    ) -> None:
        """`max_tokens` stands for what a caller asks for, where it is not 0."""
        if not name:
            raise SpecError("local needs a model: local:name=ORGANISATION/MODEL or a folder.")
        if dtype not in _DTYPES:
            raise SpecError(
                f"local: dtype={dtype} is not {', '.join(_DTYPES[:-1])} or {_DTYPES[-1]}."
            )
        self.name = name
        self.batch = parse_whole_number("local", "batch", batch)
        """Most requests answered together; halved for good when memory runs out."""
        self._device = device
        self._dtype = dtype
        self._side = parse_whole_number("local", "side", side)
        self._max_tokens = parse_whole_number("local", "max_tokens", max_tokens, least=0)
        self._waiting = ModelThreadQueue(self._serve)
        self._loading = threading.Lock()
        self._loaded: LoadedModel | None = None
        self._refused = ""
        """Why it cannot be loaded, once that is known."""

    async def warm(self) -> None:
        """Load the model, so that no turn's time is spent on it."""
        await asyncio.to_thread(self._load)

    async def generate(
        self, messages: Sequence[Message], options: GenerateOptions = GenerateOptions()
    ) -> Completion:
        """One completion, computed with whatever other requests are waiting."""
        return await self._waiting.completion(messages, options, self._max_tokens)

    def _serve(self, first: QueuedRequest) -> None:
        """Answer a request together with those that come within a moment."""
        together = [first]
        while len(together) < self.batch and (another := self._waiting.more(_GATHER)):
            together.append(another)
        for group in _alike(together):
            self._answer(group)

    def _answer(self, group: list[QueuedRequest]) -> None:
        left = [[r for r in group if r.future.set_running_or_notify_cancel()]]
        while left:
            group = left.pop(0)
            now, more = group[: self.batch], group[self.batch :]
            if more:
                left.insert(0, more)
            try:
                completions = self._run(now) if now else []
            except BaseException as error:  # a model's code is somebody else's; the others go on
                if len(now) == 1 or isinstance(error, Unavailable):
                    for request in now:
                        request.settle(self._problem(error))
                elif is_out_of_memory(error):
                    self.batch = len(now) // 2
                    left.insert(0, now)
                else:  # one request may be at fault, and the others are not to suffer for it
                    left[:0] = [[request] for request in now]
            else:
                for request, completion in zip(now, completions, strict=True):
                    self._settle(request, completion)

    def _settle(self, request: QueuedRequest, done: Completion) -> None:
        if is_answer_cut(done.text, done.finish):
            request.settle(
                ServiceError(f"local model {self.name!r}: {cut_answer_message(done.finish)}")
            )
        else:
            request.settle(done)

    def _problem(self, error: BaseException) -> ServiceError:
        if isinstance(error, ServiceError):
            return error
        return ServiceError(f"local model {self.name!r}: {error_text(error)[:300]}")

    def _load(self) -> LoadedModel:
        """The model in memory. What cannot be loaded is not tried again at each batch."""
        with self._loading:
            if self._loaded is None and not self._refused:
                try:
                    self._loaded = self._read()
                except Unavailable:
                    raise
                except BaseException as error:  # the files may hold anything
                    self._refused = error_text(error).partition("\n")[0][:300]
            if self._loaded is None:
                raise Unavailable(
                    f"local model {self.name!r} cannot be loaded ({self._refused}); give a folder, "
                    f"or download it first with `hf download {self.name}` (--force-download where "
                    "it is damaged; where it is too large, say dtype=bfloat16)."
                )
            return self._loaded

    def _read(self) -> LoadedModel:
        return _load(self.name, self._device, self._dtype)

    def _run(self, group: list[QueuedRequest]) -> list[Completion]:
        import torch

        loaded = self._load()
        model, processor = loaded.model, loaded.processor
        inputs = self._inputs(processor, group).to(model.device)
        for key, value in list(inputs.items()):
            if torch.is_tensor(value) and value.is_floating_point():
                inputs[key] = value.to(model.dtype)
        options = group[0].options
        sampling: dict[str, Any] = {"do_sample": options.temperature > 0}
        if options.temperature > 0:
            sampling["temperature"] = options.temperature
            torch.manual_seed(options.seed or 0)
        if options.stop:
            sampling |= {"stop_strings": list(options.stop), "tokenizer": processor.tokenizer}
        with torch.inference_mode():
            out = model.generate(
                **inputs,
                max_new_tokens=max(r.options.max_tokens for r in group),
                return_dict_in_generate=True,
                output_logits=options.logprobs,
                **sampling,
            )
        return self._completions(group, inputs, out, processor)

    def _completions(
        self, group: list[QueuedRequest], inputs: Any, out: Any, processor: Any
    ) -> list[Completion]:
        start = inputs["input_ids"].shape[1]
        pad = cast("LoadedModel", self._loaded).pad
        ends = cast("LoadedModel", self._loaded).ends
        found: list[Completion] = []
        for row, request in enumerate(group):
            tokens = _until_end(out.sequences[row, start:].tolist(), ends, pad)
            finish = "length" if len(tokens) >= request.options.max_tokens else "stop"
            tokens = tokens[: request.options.max_tokens]
            text = processor.tokenizer.decode(tokens, skip_special_tokens=True).strip()
            calls: tuple[CallRequest, ...] = ()
            if request.options.tools:
                text, calls = calls_in(text)
            found.append(
                Completion(
                    text=text,
                    calls=calls,
                    usage=Usage(
                        input_tokens=int(inputs["attention_mask"][row].sum()),
                        output_tokens=len(tokens),
                        calls=1,
                    ),
                    model=self.name,
                    finish=finish,
                    logprobs=_logprobs(out, row, tokens, processor.tokenizer)
                    if request.options.logprobs
                    else (),
                )
            )
        return found

    def _inputs(self, processor: Any, group: list[QueuedRequest]) -> Any:
        texts = [chat_text(processor, r.messages, r.options.tools) for r in group]
        pictures = [[self._picture(i) for m in r.messages for i in m.images] for r in group]
        kwargs: dict[str, Any] = {"text": texts, "padding": True, "return_tensors": "pt"}
        if any(pictures):
            kwargs["images"] = pictures
        return processor(**kwargs)

    def _picture(self, image: Any) -> Any:
        picture = image.pil()
        if max(picture.size) > self._side:
            picture = picture.copy()
            picture.thumbnail((self._side, self._side))
        return picture


class LoadedModel(msgspec.Struct):
    """A model in memory, and what goes with it."""

    model: Any
    processor: Any
    pad: int | None
    ends: frozenset[int]


def _alike(waiting: list[QueuedRequest]) -> list[list[QueuedRequest]]:
    """Requests that can share a batch: same way of generating, all with pictures or all without."""
    groups: dict[object, list[QueuedRequest]] = {}
    for request in waiting:
        o = request.options
        pictures = any(m.images for m in request.messages)
        alone = id(request) if o.temperature > 0 else 0  # sampling must not depend on company
        groups.setdefault((o.stop, o.logprobs, pictures, alone), []).append(request)
    return list(groups.values())


@one_at_a_time
def _load(name: str, device: str, dtype: str) -> LoadedModel:
    ensure_torchvision()
    import torch
    from transformers import AutoModelForImageTextToText, AutoProcessor

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if dtype == "auto":
        dtype = "bfloat16" if device.startswith("cuda") else "float32"
    kind: torch.dtype = getattr(torch, dtype)
    processor: Any = AutoProcessor.from_pretrained(name)
    model: Any = AutoModelForImageTextToText.from_pretrained(name, dtype=kind)
    model = model.to(device).eval()
    processor.tokenizer.padding_side = "left"
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    config = model.generation_config
    ends = config.eos_token_id
    marks = frozenset(ends if isinstance(ends, list) else [ends] if ends is not None else [])
    if config.pad_token_id is None:
        config.pad_token_id = processor.tokenizer.pad_token_id
    return LoadedModel(model=model, processor=processor, pad=config.pad_token_id, ends=marks)


def _until_end(tokens: list[int], ends: frozenset[int], pad: int | None) -> list[int]:
    """Tokens up to the end mark. Padding after the end of a shorter row is not part of it."""
    for i, token in enumerate(tokens):
        if token in ends:
            return tokens[:i]
    while tokens and pad is not None and tokens[-1] == pad:
        tokens = tokens[:-1]
    return tokens


def _logprobs(
    out: Any, row: int, tokens: list[int], tokenizer: Any
) -> tuple[tuple[str, float], ...]:
    import torch

    return tuple(
        (tokenizer.decode([token]), float(torch.log_softmax(out.logits[i][row].float(), -1)[token]))
        for i, token in enumerate(tokens)
    )


def is_out_of_memory(error: BaseException) -> bool:
    """On a GPU, in Python, and as the allocators of a CPU say it."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    said = error_text(error).lower()
    return any(f"{sign} memory" in said for sign in ("out of", "can't allocate", "not enough"))
