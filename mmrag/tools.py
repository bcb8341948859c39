"""Tools: functions that an agent may call by name, each with a description and a JSON schema.

A tool is asked with arguments and the time of the question, and answers with JSON-ready data as of
then. What a model writes is checked before it gets there (`problem_with`): models invent names of
tools and of arguments, and have to be told in words that they can act on.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from mmrag.records import Json, Record

ToolCall = Callable[[dict[str, Any], "str | None"], Any]
"""(arguments, ISO time of the question or None) → what JSON can hold. Refuses by `UsageError`."""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One function, as a model is told of it and as it is called."""

    name: str
    description: str
    parameters: Json
    """JSON schema of the arguments: an object."""
    call: ToolCall
    source: str = "kg"
    """What its answers are called as evidence."""

    def schema(self) -> Json:
        """The description in the form that chat-completion endpoints and chat templates take."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.parameters,
            },
        }


class CallRequest(Record, frozen=True, kw_only=True):
    """A call that a model asks for."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it."""


def arguments_of(request: CallRequest, tools: Mapping[str, Tool]) -> dict[str, Any] | str:
    """The arguments of a request, or what the model has to be told about it.

    >>> arguments_of(CallRequest(id="1", name="sing", arguments="{}"), {})
    "no tool is called 'sing'. There are no tools."
    """
    tool = tools.get(request.name)
    if tool is None:
        return f"no tool is called {request.name[:80]!r}. {_near(request.name, tools)}"
    try:
        given = msgspec.json.decode(request.arguments or "{}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return f"the arguments are no JSON ({error})."
    return problem_with(given, tool.parameters) or cast("dict[str, Any]", given)


def problem_with(given: object, schema: Json, name: str = "the arguments") -> str | None:
    """What is wrong with a value by the part of JSON Schema that tools are described in.

    >>> problem_with({"years": 3}, {"type": "object", "properties": {"year": {"type": "integer"}}})
    "the arguments have no 'year' called 'years'; known: year."
    >>> problem_with({"year": "1990"}, {"properties": {"year": {"type": "integer"}}})
    "'year' has to be of type integer, not '1990'."
    """
    kind = schema.get("type", "object" if "properties" in schema else None)
    if kind in _KINDS and (
        not isinstance(given, _KINDS[kind]) or (isinstance(given, bool) and kind != "boolean")
    ):
        return f"{name} has to be of type {kind}, not {_short(given)}."
    if "enum" in schema and given not in schema["enum"]:
        known = ", ".join(map(str, schema["enum"][:40]))
        return f"{name} cannot be {_short(given)}; known: {known}."
    if isinstance(given, int | float) and not isinstance(given, bool):
        if given < schema.get("minimum", given):
            return f"{name} has to be at least {schema['minimum']}, not {given}."
        if given > schema.get("maximum", given):
            return f"{name} can be {schema['maximum']} at most, not {given}."
    if isinstance(given, list):
        items = cast("list[object]", given)
        found = (problem_with(one, schema.get("items", {}), f"each of {name}") for one in items)
        return next((problem for problem in found if problem), None)
    if isinstance(given, dict):
        return _object_problem(cast("dict[str, object]", given), schema, name)
    return None


def _object_problem(given: dict[str, object], schema: Json, name: str) -> str | None:
    known: Json = schema.get("properties", {})
    for missing in (key for key in schema.get("required", ()) if key not in given):
        return f"{name} lack {missing!r}."
    for key, value in given.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            meant = f"{near[0]!r} called {key[:80]!r}" if near else f"{key[:80]!r}"
            return f"{name} have no {meant}; known: {', '.join(known) or 'none'}."
        if problem := problem_with(value, known[key], repr(key)):
            return problem
    return None


def _near(name: str, tools: Mapping[str, Tool]) -> str:
    if not tools:
        return "There are no tools."
    near = difflib.get_close_matches(name, tools, n=3, cutoff=0.5) or list(tools)[:60]
    return f"There is {', '.join(near)}."


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


_KINDS: dict[str, type | tuple[type, ...]] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
    "boolean": bool,
}  # fmt: skip
