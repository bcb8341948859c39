"""A network of SmolLM2's kind with 60,000 random numbers, written as its file is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np

LAYERS, WIDTH, HEADS, SHARED, INNER = 2, 64, 4, 2, 96
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PAIRS = ["t h", "th e", "Ġ the", "i n", "Ġ a", "o n", "e r", "Ġ K", "e l", "l s", "el ls", "Ċ Ċ"]
TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    "<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def write_tiny(path: Path, *, architecture: str = "llama", scale: float = 0.25) -> Path:
    """Linear layers in Q4_1 and words in Q8_0, as in the real file."""
    import gguf
    from tokenizers import pre_tokenizers

    kinds = gguf.GGMLQuantizationType
    words = [*MARKS, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    words += [pair.replace(" ", "") for pair in PAIRS]
    out = gguf.GGUFWriter(str(path), architecture)
    out.add_block_count(LAYERS)
    out.add_context_length(512)
    out.add_embedding_length(WIDTH)
    out.add_feed_forward_length(INNER)
    out.add_head_count(HEADS)
    out.add_head_count_kv(SHARED)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_freq_base(10_000.0)
    out.add_rope_dimension_count(WIDTH // HEADS)
    out.add_vocab_size(len(words))
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("smollm")
    out.add_token_list(words)
    out.add_token_types([3] * len(MARKS) + [1] * (len(words) - len(MARKS)))
    out.add_token_merges(PAIRS)
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    out.add_unk_token_id(0)
    out.add_pad_token_id(2)
    out.add_chat_template(TEMPLATE)
    random = np.random.Generator(np.random.Philox(5))

    def add(name: str, *shape: int, kind: gguf.GGMLQuantizationType) -> None:
        numbers = random.normal(0, scale, shape).astype(np.float32)
        out.add_tensor(name, gguf.quantize(numbers, kind), raw_dtype=kind)

    def norm(name: str) -> None:
        out.add_tensor(name, (1 + random.normal(0, 0.1, WIDTH)).astype(np.float32))

    add("token_embd.weight", len(words), WIDTH, kind=kinds.Q8_0)
    for number in range(LAYERS):
        shared = WIDTH // HEADS * SHARED
        for part, rows, columns in (
            ("attn_q", WIDTH, WIDTH), ("attn_k", shared, WIDTH), ("attn_v", shared, WIDTH),
            ("attn_output", WIDTH, WIDTH), ("ffn_gate", INNER, WIDTH), ("ffn_up", INNER, WIDTH),
            ("ffn_down", WIDTH, INNER),
        ):  # fmt: skip
            add(f"blk.{number}.{part}.weight", rows, columns, kind=kinds.Q4_1)
        norm(f"blk.{number}.attn_norm.weight")
        norm(f"blk.{number}.ffn_norm.weight")
    norm("output_norm.weight")
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path
