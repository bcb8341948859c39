"""Tools in a local model's chat template, and calls in what such models say."""

from __future__ import annotations

from typing import Any

import pytest

from mmrag.models.chat_template import calls_in, chat_text
from mmrag.protocols import Message
from mmrag.tools import CallRequest, Tool

SCHEMA = Tool(
    name="price",
    description="The price of a thing.",
    parameters={"type": "object", "properties": {"name": {"type": "string"}}},
    call=lambda arguments, at: 1,
).schema()
TALK = [
    Message(role="system", text="Be brief."),
    Message(role="user", text="How much?"),
    Message(
        role="assistant",
        text="",
        calls=(CallRequest(id="1", name="price", arguments='{"name": "Alder"}'),),
    ),
    Message(role="tool", text='{"price":14.2}', call_id="1"),
]


class Processor:
    """Renders a Jinja template as `transformers` does."""

    def __init__(self, template: str) -> None:
        self.chat_template = template

    def apply_chat_template(self, chat: list[Any], *, add_generation_prompt: bool,
                            tokenize: bool, **more: Any) -> str:  # fmt: skip
        from jinja2 import Environment

        made = Environment().from_string(self.chat_template)
        return made.render(messages=chat, add_generation_prompt=True, **more)


KNOWS = (
    "{% for t in tools or [] %}[{{ t.function.name }}]{% endfor %}"
    "{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}"
    "{% else %}{{ m.content[0].text }}{% endif %}"
    "{% for c in m.tool_calls or [] %}{{ c.function.name }}={{ c.function.arguments.name }}"
    "{% endfor %}{% endfor %}<assistant>"
)
KNOWS_NOT = (
    "{% for m in messages %}{{ '<' + m.role + '>' + m.content[0].text }}{% endfor %}<assistant>"
)


def test_a_template_that_knows_tools_is_given_them() -> None:
    assert chat_text(Processor(KNOWS), TALK, (SCHEMA,)) == (
        "[price]<system>Be brief.<user>How much?<assistant>price=Alder"
        '<tool>{"price":14.2}<assistant>'
    )


def test_for_any_other_the_tools_and_results_stand_in_words() -> None:
    text = chat_text(Processor(KNOWS_NOT), TALK, (SCHEMA,))
    before, _, after = text.partition("<user>How much?")
    assert before.startswith("<system>Be brief.")
    assert '"name":"price"' in before
    assert "<tool_call>" in before
    assert after == (
        '<assistant><tool_call>{"name": "price", "arguments": {"name": "Alder"}}</tool_call>'
        '<user>Result of the call: {"price":14.2}<assistant>'
    )


def test_without_tools_nothing_changes() -> None:
    assert (
        chat_text(Processor(KNOWS_NOT), TALK[:2]) == "<system>Be brief.<user>How much?<assistant>"
    )
    assert chat_text(object(), TALK[:2]) == "system: Be brief.\nuser: How much?\nassistant:"


CALL = '{"name": "price", "arguments": {"name": "Alder"}}'


@pytest.mark.parametrize(
    ("text", "said", "names"),
    [
        (f"<tool_call>\n{CALL}\n</tool_call>", "", ["price"]),
        (f"Let me see. <tool_call>{CALL}</tool_call><tool_call>{CALL}</tool_call>", "Let me see.",
         ["price", "price"]),
        (f"<tool_call>{CALL}", "", ["price"]),
        ('{"name": "price", "parameters": {"name": "Alder"}}', "", ["price"]),
        (f"[TOOL_CALLS][{CALL}]", "", ["price"]),
        ("It costs $14.20.", "It costs $14.20.", []),
        ('{"price": 14.2}', '{"price": 14.2}', []),
        ('{"name": "Alder Kettle"}', '{"name": "Alder Kettle"}', []),
        ("<tool_call>{not json</tool_call>", "<tool_call>{not json</tool_call>", []),
        ("[1, 2]", "[1, 2]", []),
    ],
    ids=range(10),
)  # fmt: skip
def test_calls_are_found_in_what_is_said(text: str, said: str, names: list[str]) -> None:
    found, calls = calls_in(text)
    assert (found, [call.name for call in calls]) == (said, names)
    assert all(call.arguments == '{"name":"Alder"}' for call in calls)
