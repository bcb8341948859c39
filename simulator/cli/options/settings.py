"""Flags made from the settings of a run, so that each setting is written down once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, cast, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from mmrag.errors import UsageError
from simulator.run.run_config import RunConfig

PANELS = {
    "ask": "What to ask",
    "answer": "What answers",
    "break": "What to break",
    "run": "How to run it",
    "keep": "Where to keep it",
}
"""Panel of a setting → its heading in the help, in this order."""

_NAMES = {"sample_ids": "sample_id"}
"""Settings whose flag is given once for each value."""


class PanelledCommand(TyperCommand):
    """A command whose options stand under the headings of their panels, without rich's cost."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, one section for each panel."""
        rows: dict[str, list[tuple[str, str]]] = {heading: [] for heading in PANELS.values()}
        for parameter in self.get_params(ctx):
            if (row := parameter.get_help_record(ctx)) is not None:
                panel = getattr(parameter, "rich_help_panel", None) or PANELS["keep"]
                rows.setdefault(panel, []).append(row)
        for heading, section in rows.items():
            if section:
                with formatter.section(heading):
                    formatter.write_dl(section)


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command a flag for each setting; those that were given arrive as `settings`."""
    fields = get_type_hints(RunConfig, include_extras=True)
    own = {name: hint for name, hint in get_type_hints(command, include_extras=True).items()
           if name not in ("settings", "return")}  # fmt: skip
    defaults = inspect.signature(command).parameters

    def called(**values: Any) -> None:
        flags = {name: values.pop(_NAMES.get(name, name)) for name in fields}
        given = {name: value for name, value in flags.items() if value not in (None, [])}
        if "severities" in given:
            given["severities"] = numbers("severities", given["severities"], "1,3,5")
        command(settings=given, **values)

    parameters = [_flag(name, hint) for name, hint in fields.items()]
    parameters += [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name].default, annotation=hint
        )
        for name, hint in own.items()
    ]
    called.__name__, called.__doc__ = command.__name__, command.__doc__
    cast("Any", called).__signature__ = inspect.Signature(parameters)
    return called


def _flag(name: str, hint: Any) -> inspect.Parameter:
    kind, meta = get_args(hint)
    taken: Any = {"severities": str, "sample_ids": list[str]}.get(name, kind)
    option = typer.Option(help=meta.description, rich_help_panel=PANELS[meta.extra["panel"]])
    return inspect.Parameter(
        _NAMES.get(name, name), inspect.Parameter.KEYWORD_ONLY, default=None,
        annotation=Annotated[taken | None, option],
    )  # fmt: skip


def numbers(option: str, text: str, example: str, least: int = 0) -> list[int]:
    """Read the numbers, with commas, that an option was given."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and least <= int(part[:9]) <= 4096 for part in parts):
        raise UsageError(f"--{option} {text[:40]!r}: write whole numbers, as in {example}.")
    return [int(part) for part in parts]
