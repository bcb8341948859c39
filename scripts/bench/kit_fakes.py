"""Stand-ins for what the public kits' agents call, outside their code: models and what loads them.

`install` puts modules called vllm, openai, anthropic, google.generativeai and so on in place. Every
call of a model is recorded as one text (all messages, pictures by their bytes) and answered by a
fixed function of that very text, so that a prompt that differs by a character changes the score.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from PIL import Image

_LONG = re.compile(r"[A-Za-z0-9+/=]{2000,}")


class Models:
    """All models at once: what they were asked, and what they say."""

    def __init__(self, answers: dict[str, str]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    def say(self, prompt: str) -> str:
        """Right, in capitals, unknowing, wrong, or an exception, by the prompt's hash."""
        self.asked.append(prompt)
        words = _LONG.sub("", prompt)
        last = max(
            self._answers, key=lambda q: words.rfind(json.dumps(q, ensure_ascii=False)[1:-1])
        )
        right, draw = self._answers[last], hashlib.sha256(prompt.encode()).digest()[0]
        if draw < 16:
            raise RuntimeError("Error code: 429 - the stub was asked too often")
        said = [right, right.upper(), "I don't know.", "I don't know, but it may be Paris.",
                "Unknown Pleasures", "It is\na wrong **guess**."]  # fmt: skip
        return said[draw % len(said)]

    def say_always(self, prompt: str) -> str:
        """The same for models in this process, which do not fail."""
        try:
            return self.say(prompt)
        except RuntimeError:
            return "I do not know"


def as_text(value: Any) -> str:
    """Messages as one text; a picture counts by its pixels."""

    def other(held: Any) -> Any:
        if isinstance(held, Image.Image):
            return f"{held.mode} {held.size} {hashlib.sha256(held.tobytes()).hexdigest()}"
        return str(held)

    return json.dumps(value, ensure_ascii=False, default=other)


def jpeg(image: Image.Image) -> str:
    """What vllm's `encode_image_base64` gives."""
    buffer = io.BytesIO()
    image.convert("RGB").save(buffer, "JPEG")
    return base64.b64encode(buffer.getvalue()).decode()


def install(models: Models) -> None:
    """Put the stand-ins in place of packages that are not here."""
    os.environ |= {f"{name}_API_KEY": "none" for name in ("OPENAI", "ANTHROPIC", "GOOGLE")}
    os.environ["WEARABLES_API_KEY"] = "none"
    _vllm(models)
    _endpoints(models)
    _tokenizers()
    _module("loguru", logger=SimpleNamespace(warning=print, info=print))
    _module("lmdb")
    _module("qwen_vl_utils", process_vision_info=lambda messages: ([as_text(messages)], None))
    request = SimpleNamespace(from_openai=lambda messages: messages)
    _module("mistral_common.protocol.instruct.request", ChatCompletionRequest=request)
    mistral = SimpleNamespace(
        v3=lambda is_tekken: SimpleNamespace(
            encode_chat_completion=lambda messages: SimpleNamespace(text=as_text(messages))
        )
    )
    _module("mistral_common.tokens.tokenizers.mistral", MistralTokenizer=mistral)


def _vllm(models: Models) -> None:
    class Llm:
        def __init__(self, *_: Any, **__: Any) -> None: ...

        def get_tokenizer(self) -> Any:
            return Tokenizer()

        def generate(self, inputs: list[Any], sampling_params: Any = None) -> list[Any]:
            said = [models.say_always(as_text(given)) for given in inputs]
            return [SimpleNamespace(outputs=[SimpleNamespace(text=text)]) for text in said]

    _module("vllm", LLM=Llm, SamplingParams=lambda **options: options)
    _module("vllm.multimodal.utils", encode_image_base64=jpeg)
    _module("vllm.sampling_params", GuidedDecodingParams=lambda **options: options)


class Tokenizer:
    """A chat template that keeps everything; tokens are not cut apart."""

    @staticmethod
    def apply_chat_template(messages: Any, **_: Any) -> str:
        return as_text(messages)

    @classmethod
    def from_pretrained(cls, *_: Any, **__: Any) -> Tokenizer:
        return cls()


def _endpoints(models: Models) -> None:
    class OpenAI:
        def __init__(self, **_: Any) -> None:
            self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._create))

        def _create(self, *, messages: Any, **_: Any) -> Any:
            message = SimpleNamespace(content=models.say(as_text(messages)))
            return SimpleNamespace(choices=[SimpleNamespace(message=message)])

    class Anthropic:
        def __init__(self, **_: Any) -> None:
            self.messages = SimpleNamespace(create=self._create)

        def _create(self, *, messages: Any, system: str, **_: Any) -> Any:
            text = models.say(as_text([system, *messages]))
            return SimpleNamespace(content=[SimpleNamespace(type="text", text=text)])

    class GenerativeModel:
        def __init__(self, _name: str, system_instruction: str) -> None:
            self._system = system_instruction

        def generate_content(self, *, contents: Any, **_: Any) -> Any:
            return SimpleNamespace(text=models.say(as_text([self._system, *contents])))

    _module("openai", OpenAI=OpenAI)
    _module("anthropic", Anthropic=Anthropic)
    _module("google.generativeai", GenerativeModel=GenerativeModel, configure=lambda **_: None)


def _tokenizers() -> None:
    """transformers' classes that would download: theirs by name; folders are loaded as ever."""
    from mmrag.torchvision_fix import ensure_torchvision

    ensure_torchvision()
    import transformers
    import transformers.pipelines  # first: it puts the classes themselves back in place

    real = transformers.AutoTokenizer

    class AutoTokenizer:
        @staticmethod
        def from_pretrained(name: str, **options: Any) -> Any:
            return real.from_pretrained(name, **options) if Path(name).is_dir() else Tokenizer()

    vars(transformers)["AutoTokenizer"] = AutoTokenizer
    vars(transformers)["AutoProcessor"] = Tokenizer
    vars(transformers)["MllamaForConditionalGeneration"] = object


class Pipeline:
    """What the search package wants of transformers 4; 5 calls it otherwise."""

    def __init__(self, **_: Any) -> None: ...

    def __call__(self, query: Any, **options: Any) -> Any:
        if isinstance(query, list):
            return [self(one, **options) for one in query]
        step: Any = self
        found = step._forward(step.preprocess(query), **options)
        return step.postprocess(found)


def install_package(folder: Path) -> None:
    """The public search package itself, over folders of ours instead of the hub's."""
    import huggingface_hub
    import torch
    import transformers
    import transformers.pipelines

    from mmrag.encoders import image_encoders

    encoder: Any = image_encoders.create("builtin:precision=full")

    class Clip:
        @classmethod
        def from_pretrained(cls, _name: str) -> Any:
            return cls()

        def to(self, _device: Any) -> Any:
            return self

        def get_image_features(self, pixel_values: Any) -> Any:
            with torch.inference_mode():
                return encoder._model.encode_image(pixel_values).float()

    class Processor:
        @classmethod
        def from_pretrained(cls, _name: str) -> Any:
            return cls()

        def __call__(self, images: Any, **_: Any) -> dict[str, Any]:
            return {"pixel_values": encoder._preprocess(images)[None]}

    vars(transformers).update(Pipeline=Pipeline, CLIPModel=Clip, CLIPProcessor=Processor)
    registry = SimpleNamespace(register_pipeline=lambda *_, **__: None)
    vars(transformers.pipelines)["PIPELINE_REGISTRY"] = registry
    huggingface_hub.snapshot_download = lambda repo_id, **_: repo_id  # folders stand for names
    sys.path.insert(0, str(folder))


def _module(name: str, **held: Any) -> None:
    """A module and the packages above it, as far as they are not there."""
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        path = ".".join(parts[:i])
        if path not in sys.modules and (path != "google"):
            made = ModuleType(path)
            made.__path__ = []
            sys.modules[path] = made
            if i > 1 and (above := sys.modules.get(".".join(parts[: i - 1]))):
                vars(above)[parts[i - 1]] = made
    vars(sys.modules[name]).update(held)
