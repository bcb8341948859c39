from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmrag.errors import ConflictError, SpecError
from mmrag.registry import Registry, Spec
from simulator.run.capture_optics import parse_degrade
from simulator.run.run_config import RunConfig

NAMES = st.from_regex(r"[a-z0-9][a-z0-9_.-]{0,8}", fullmatch=True)
VALUES = st.text(
    st.characters(exclude_characters="(),", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp"))
)
NESTED = st.recursive(
    VALUES,
    lambda inner: st.builds(
        lambda name, options: str(Spec(name=name, options=options)),
        NAMES,
        st.dictionaries(NAMES, inner, max_size=3),
    ),
    max_leaves=6,
)


@given(NAMES, st.dictionaries(NAMES, NESTED, max_size=4))
def test_specs_parse_back(name: str, options: dict[str, str]) -> None:
    spec = Spec(name=name, options=dict(sorted(options.items())))
    assert Spec.parse(str(spec)) == spec


def test_an_option_may_be_a_spec_with_options() -> None:
    text = "task3:model=(openai:base_url=http://h:1/v1,name=m),reader=(x:y=(z:a=1,b=2),w=:())"
    spec = Spec.parse(text)
    assert spec.options["model"] == "openai:base_url=http://h:1/v1,name=m"
    assert spec.options["reader"] == "x:y=(z:a=1,b=2),w=:()"
    assert Spec.parse(str(spec)) == spec
    assert Spec.parse("a:b= ( c:d=1 , e=2 ) , f=3").options == {"b": "c:d=1 , e=2", "f": "3"}
    assert Spec.parse("scripted:text=:(").options == {"text": ":("}


@pytest.mark.parametrize("text", ["a:b=(c", "a:b=(c))", "a:b=(c)d", "a:b=(c,d=1"])
def test_brackets_that_do_not_match_are_refused(text: str) -> None:
    with pytest.raises(SpecError, match="brackets"):
        Spec.parse(text)


def test_what_could_not_be_written_down_is_no_spec() -> None:
    with pytest.raises(SpecError, match="brackets"):
        Spec(name="a", options={"b": "x,)("})


@pytest.mark.parametrize("text", ["", "Name", "a:b", "a:=c", "a:b=1,b=2", "a b", "../x"])
def test_nonsense_is_no_spec(text: str) -> None:
    with pytest.raises(SpecError):
        Spec.parse(text)


def registry() -> Registry[dict]:
    return Registry("thing", group="mmrag.tests", builtin={"dict": "builtins:dict"})


def test_options_reach_the_factory() -> None:
    assert registry().create("dict:a=1,b=x") == {"a": "1", "b": "x"}


def test_duplicates_and_unknown_names_are_refused() -> None:
    things = registry()
    things.register("other", dict)
    with pytest.raises(ConflictError, match="registered already"):
        things.register("dict", dict)
    with pytest.raises(SpecError, match=r"Did you mean dict"):
        things.create("dikt")
    assert things.names() == ["dict", "other"]


@pytest.mark.parametrize(
    ("option", "text", "meant", "others"),
    [
        ("link", "radoi:text", "radio", ("stream", "photo", "phone", "FILE.yaml")),
        ("link", "radio:txt", "text", ("whole", "downscaled", "thing", "burst")),
        ("spoken", "clean,streat@3", "street", ("clean", "babble", "bystander")),
        ("stages", "pionted", "pointed", ("all", "whole", "named", "told")),
        ("degrade", "lowlight", "low-light", ("clean", "blurred", "flare", "jpeg")),
        ("degrade", "Blurred@3", "blurred", ("clean", "low-light")),
        ("faults", "web-emty@3", "web-empty", ("all", "input", "web", "network", "delay-9")),
        ("task", "identfy", "identify", ("grounding", "knowledge")),
    ],
)
def test_a_misspelt_condition_is_told_what_was_meant_and_all_there_is(
    option: str, text: str, meant: str, others: tuple[str, ...]
) -> None:
    with pytest.raises(SpecError) as caught:
        parse_degrade(text) if option == "degrade" else RunConfig(**{option: text})
    said = str(caught.value)
    assert f"Did you mean {meant}" in said
    known = said.partition("Known: ")[2].rstrip(".").split(", ")
    assert {meant, *others} <= set(known)


def test_a_wrong_option_is_a_spec_error() -> None:
    things = registry()

    def strict(*, size: str) -> dict:
        return {"size": size}

    things.register("strict", strict)
    with pytest.raises(SpecError, match="colour"):
        things.create("strict:size=1,colour=red")
    with pytest.raises(SpecError, match="size"):
        things.create("strict")


def test_a_bug_in_a_factory_is_not_taken_for_a_wrong_option() -> None:
    things = registry()

    def buggy() -> dict:
        return {1: 2} + 1  # type: ignore[operator]

    things.register("buggy", buggy)
    with pytest.raises(TypeError, match="unsupported operand"):
        things.create("buggy")


def test_a_model_where_an_agent_belongs_is_told_of_the_agent_that_asks_it() -> None:
    from mmrag.agents import agents

    for model, meant in (
        ("openai:name=m,base_url=http://h/v1", "openai:name=m,base_url=http://h/v1"),
        ("openai:gpt-4o", "openai:name=gpt-4o"),
        ("openai", "openai:name=MODEL"),
    ):
        with pytest.raises(SpecError) as refused:
            agents.create(model)
        assert f"llm-only:model=({meant})" in str(refused.value)
    with pytest.raises(SpecError) as refused:
        agents.create("grouded")
    assert "model=" not in str(refused.value)
