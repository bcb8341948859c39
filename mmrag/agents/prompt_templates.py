"""Prompts as template files. An undefined variable is an error; nothing else is a prompt."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from mmrag.errors import SpecError
from mmrag.protocols import Completion, GenerateOptions, Message, Model

if TYPE_CHECKING:
    from mmrag.files.images import LazyImage


async def ask_model(
    model: Model, name: str, options: GenerateOptions, images: tuple[LazyImage, ...] = (),
    **values: Any,
) -> Completion:  # fmt: skip
    """Put one prompt, filled in, to a model, alone."""
    prompt = render_prompt(name, **values)
    return await model.generate([Message(role="user", text=prompt, images=images)], options)


def render_prompt(name: str, **values: Any) -> str:
    """The text of `prompts/{name}.j2` with its variables filled in."""
    from jinja2 import TemplateError

    try:
        return _environment().get_template(f"{name}.j2").render(**values).strip()
    except TemplateError as error:
        raise SpecError(f"prompt {name!r}: {error}.") from error


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("mmrag.agents", "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - prompts are plain text, never shown as HTML
    )
