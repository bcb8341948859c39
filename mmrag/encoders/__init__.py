"""Encoders: pictures or texts to unit vectors. Names make them; nothing heavy is imported here.

>>> {"builtin", "open-clip"} <= set(image_encoders.names())
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmrag.registry import Registry

if TYPE_CHECKING:
    from mmrag.encoders.image import ImageEncoder
    from mmrag.encoders.text import TextEncoder

image_encoders: Registry[ImageEncoder] = Registry(
    "image encoder",
    group="mmrag.image_encoders",
    builtin={
        "builtin": "mmrag.encoders.image:builtin_encoder",
        "open-clip": "mmrag.encoders.image:open_clip_encoder",
    },
)
"""`builtin` needs no download; published: `open-clip:model=ViT-L-14-336,weights=openai`."""

text_encoders: Registry[TextEncoder] = Registry(
    "text encoder",
    group="mmrag.text_encoders",
    builtin={
        "minilm": "mmrag.encoders.text:minilm_encoder",
        "text2vec": "mmrag.encoders.text:text2vec_encoder",
        "transformers": "mmrag.encoders.text:transformers_encoder",
    },
)
"""`minilm` needs no download; published: `transformers:model=BAAI/bge-large-en-v1.5`."""
