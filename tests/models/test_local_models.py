"""Local vision-language models: tiny random ones of three families, saved to disk, on the CPU."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from mmrag.errors import ServiceError, SpecError, Unavailable
from mmrag.files.images import LazyImage
from mmrag.models.local import LoadedModel, LocalModel
from mmrag.protocols import GenerateOptions, Message
from mmrag.tools import CallRequest, Tool
from mmrag.torchvision_fix import ensure_torchvision


def _tokenizer(*special):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {c: i for i, c in enumerate(["<pad>", "<eos>", *special, *alphabet])}
    core = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="<eos>")
    made.add_special_tokens({"additional_special_tokens": list(special)})
    return made


TEXT = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 4096, "vocab_size": 320,
        "pad_token_id": 0, "eos_token_id": 319, "bos_token_id": 1}  # fmt: skip


def _qwen():
    from transformers import (
        Qwen2VLConfig,
        Qwen2VLForConditionalGeneration,
        Qwen2VLImageProcessor,
        Qwen2VLProcessor,
        Qwen2VLVideoProcessor,
    )  # fmt: skip

    marks = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
    tokens = _tokenizer(*marks)
    ids = [tokens.convert_tokens_to_ids(m) for m in marks]
    tokens.image_token, tokens.video_token = marks[2], marks[3]
    config = Qwen2VLConfig(
        text_config={**TEXT, "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 10000.0}},
        vision_config={"depth": 2, "embed_dim": 32, "hidden_size": 64, "num_heads": 2, "mlp_ratio": 2},
        vision_start_token_id=ids[0], vision_end_token_id=ids[1], image_token_id=ids[2], video_token_id=ids[3],
    )  # fmt: skip
    pictures = Qwen2VLImageProcessor(min_pixels=56 * 56, max_pixels=84 * 84)
    template = f"{{% for m in messages %}}{{{{ m.role }}}}: {{% for c in m.content %}}{{% if c.type == 'image' %}}{marks[0]}{marks[2]}{marks[1]}{{% else %}}{{{{ c.text }}}}{{% endif %}}{{% endfor %}}{{% endfor %}}"
    processor = Qwen2VLProcessor(pictures, tokens, Qwen2VLVideoProcessor(), chat_template=template)
    return Qwen2VLForConditionalGeneration(config), processor


def _llava():
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )  # fmt: skip

    tokens = _tokenizer("<image>")
    vision = CLIPVisionConfig(hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                              num_attention_heads=2, image_size=28, patch_size=14)  # fmt: skip
    config = LlavaConfig(vision_config=vision, text_config=LlamaConfig(**TEXT),
                         image_token_index=tokens.convert_tokens_to_ids("<image>"))  # fmt: skip
    pictures = CLIPImageProcessor(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28})
    processor = LlavaProcessor(pictures, tokens, patch_size=14, image_token="<image>",
                               vision_feature_select_strategy="default",
                               num_additional_image_tokens=1)  # fmt: skip
    return LlavaForConditionalGeneration(config), processor


def _mllama():
    from transformers import (
        MllamaConfig,
        MllamaForConditionalGeneration,
        MllamaImageProcessor,
        MllamaProcessor,
    )  # fmt: skip
    from transformers.models.mllama.configuration_mllama import MllamaTextConfig, MllamaVisionConfig

    tokens = _tokenizer("<|image|>", "<|python_tag|>", "<bos>")
    tokens.bos_token = "<bos>"
    text = {k: v for k, v in TEXT.items() if k != "bos_token_id"}
    vision = MllamaVisionConfig(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_global_layers=1,
                                attention_heads=2, image_size=28, patch_size=14, vision_output_dim=64,
                                intermediate_layers_indices=[0], max_num_tiles=1,
                                supported_aspect_ratios=[[1, 1]])  # fmt: skip
    config = MllamaConfig(
        vision_config=vision,
        text_config=MllamaTextConfig(**text, cross_attention_layers=[1]),
        image_token_index=tokens.convert_tokens_to_ids("<|image|>"),
    )
    pictures = MllamaImageProcessor(size={"height": 28, "width": 28}, max_image_tiles=1)
    return MllamaForConditionalGeneration(config), MllamaProcessor(pictures, tokens)


FAMILIES = {"qwen": _qwen, "llava": _llava, "mllama": _mllama}


def make_tiny(family, place):
    """Random weights of a fixed seed; large ones, so that answers differ by what is asked."""
    ensure_torchvision()
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(5)
        model, processor = FAMILIES[family]()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() > 1:
                    parameter.normal_(0, 0.15)
    model.save_pretrained(place)
    processor.save_pretrained(place)


@pytest.fixture(scope="module", params=sorted(FAMILIES))
def folder(request, tmp_path_factory):
    place = tmp_path_factory.mktemp(request.param)
    make_tiny(request.param, place)
    return place


def asked(i):
    pixels = np.random.Generator(np.random.Philox(i)).integers(0, 256, (56, 40 + 8 * (i % 3), 3))
    picture = Image.fromarray(pixels.astype(np.uint8))
    text = "what is this " + "and that " * (i % 4)
    return [Message(role="user", text=text, images=(LazyImage.from_pil(picture),))]


def test_a_batch_answers_as_one_by_one(folder):
    options = GenerateOptions(max_tokens=8, logprobs=True)

    async def together(model):
        return await asyncio.gather(*(model.generate(asked(i), options) for i in range(6)))

    async def alone(model):
        return [await model.generate(asked(i), options) for i in range(6)]

    model = LocalModel(name=str(folder), batch=16)
    batched, single = asyncio.run(together(model)), asyncio.run(alone(model))
    assert [c.text for c in batched] == [c.text for c in single]
    assert [[t for t, _ in c.logprobs] for c in batched] == [
        [t for t, _ in c.logprobs] for c in single
    ]
    assert all(c.usage.output_tokens == 8 and c.usage.input_tokens > 10 for c in batched)
    assert len({c.text for c in single}) > 1  # the answers depend on what was asked


def test_a_model_that_is_offered_tools_answers_all_the_same(folder):
    tool = Tool(name="price", description="A price.", parameters={"type": "object"},
                call=lambda arguments, at: 1)  # fmt: skip
    call = CallRequest(id="1", name="price", arguments="{}")
    talk = [
        Message(role="user", text="How much?"),
        Message(role="assistant", text="", calls=(call,)),
        Message(role="tool", text="14.2", call_id="1"),
    ]
    done = asyncio.run(
        LocalModel(name=str(folder)).generate(
            talk, GenerateOptions(max_tokens=4, tools=(tool.schema(),))
        )
    )
    assert done.calls == (), "a model of random weights asks for nothing"
    assert done.usage.input_tokens > 100, "the tools stand in the prompt"


class _Speaks:
    """A tokenizer in whose words every 7 is a blank."""

    tokenizer = None

    def decode(self, tokens, skip_special_tokens=False):
        return "".join(" " if token == 7 else chr(64 + token) for token in tokens)


@pytest.mark.parametrize(
    ("tokens", "said"),
    [([7, 7, 7, 7], "was cut"), ([7, 9, 0, 0], ""), ([1, 7, 1, 7], "A A"), ([7, 0, 0, 0], "")],
    ids=["cut", "ended", "cut after it spoke", "stopped by a text"],
)
def test_what_is_cut_before_it_says_anything_is_a_failure(monkeypatch, tokens, said):
    """4 tokens at most; 9 ends a text, 0 pads it."""
    import torch

    def run(model, group):
        model._loaded = LoadedModel(model=None, processor=None, pad=0, ends=frozenset({9}))
        processor = _Speaks()
        processor.tokenizer = processor
        inputs = {"input_ids": torch.zeros(1, 2), "attention_mask": torch.ones(1, 2)}
        out = SimpleNamespace(sequences=torch.tensor([[5, 5, *tokens]]))
        return model._completions(group, inputs, out, processor)

    monkeypatch.setattr(LocalModel, "_run", run)
    asking = LocalModel(name="m", max_tokens="4").generate(asked(0))
    if said == "was cut":
        with pytest.raises(ServiceError, match=r"local model 'm': was cut .* before it said"):
            asyncio.run(asking)
    else:
        assert asyncio.run(asking).text == said


def test_a_model_that_is_not_there_says_how_to_get_it(tmp_path):
    with pytest.raises(Unavailable, match="hf download"):
        asyncio.run(LocalModel(name=str(tmp_path / "none")).generate(asked(0)))
    with pytest.raises(SpecError):
        LocalModel(name="")


def test_batches_hold_several_conversations(folder, monkeypatch):
    sizes = []
    run = LocalModel._run
    monkeypatch.setattr(
        LocalModel, "_run", lambda self, group: sizes.append(len(group)) or run(self, group)
    )

    async def together():
        model = LocalModel(name=str(folder), batch=4)
        options = GenerateOptions(max_tokens=8)
        await asyncio.gather(*(model.generate(asked(i), options) for i in range(8)))

    asyncio.run(together())
    assert max(sizes) == 4
    assert sum(sizes) == 8
