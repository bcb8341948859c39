"""Voices as data: every author's file is whole, and what is wrong is named by file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from plain_voice import plain, write_plain_voice

from mmrag.errors import DataError, SpecError
from simulator.world.build.request import make_request
from simulator.world.facts.catalogue import raw_domains
from simulator.world.facts.generate import generate_facts
from simulator.world.language.conversations import make_sessions
from simulator.world.language.voices import check
from simulator.world.language.voices.reading import (
    HELD,
    OPEN,
    VOICES,
    Voice,
    content_of,
    named,
    voice,
    whose,
)
from simulator.world.language.voices.rules import check_voice, needs

SHIPPED = sorted(path.parent.name for path in VOICES.glob("*/operations.yaml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_voice_can_be_used(name: str) -> None:
    assert name in (*OPEN, *HELD)
    assert check_voice(VOICES / name) == []


def test_a_check_of_no_voice_has_not_passed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["check"])
    assert check.main() == 2
    assert "give the name of a voice" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["check", SHIPPED[0]])
    assert check.main() == 0


def test_the_check_reads_ones_own_folders_and_says_whose_line_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for at in "ab":
        write_plain_voice(tmp_path / at / "mine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["check", "./a/mine", "b/mine/", SHIPPED[0]])
    assert check.main() == 0
    assert capsys.readouterr().out == ""
    (tmp_path / "b" / "mine" / "food.yaml").unlink()
    assert check.main() == 1
    assert capsys.readouterr().out.startswith("b/mine/food.yaml:0: is missing")


def test_a_plain_voice_can_be_used(tmp_path: Path) -> None:
    folder = write_plain_voice(tmp_path / "plain")
    assert check_voice(folder) == []
    made = Voice(folder)
    assert made.wording("food", "price").budget
    assert made.wording("hub", "mayor").who == "the mayor of {x}"
    assert len(made.pages["shop"]["chatter"]) == 10
    assert voice(str(folder)).name == "plain"
    assert named(str(folder)) == (str(folder),)


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda a: a["price"].pop("past"), "attributes.price.past: give exactly 2"),
        (lambda a: a["price"]["ask"].pop(), "attributes.price.ask: give exactly 3"),
        (lambda a: a["price"].update(noun=" "), "attributes.price.noun: a text is missing"),
        (lambda a: a["price"]["ask"].__setitem__(1, "how dear is it"), "needs {x} or {xs}, once"),
        (lambda a: a["price"]["ask"].__setitem__(1, "{x} and {y}"), "{y} is no slot here"),
        (lambda a: a["price"]["page"].__setitem__(0, "{x} costs {v}"), "needs {d} once"),
        (lambda a: a["price"]["than"].pop("less"), "give more and less"),
        (lambda a: a["maker"].update(over="x {bound}"), "not needed here"),
        (lambda a: a.pop("sugar"), "sugar: is missing"),
        (lambda a: a.update(colour={}), "colour: no attribute of food"),
        (lambda a: a["salt"].update(ask=[*a["sugar"]["ask"]]), "stands for two attributes"),
        (lambda a: a["price"].update(budget="for {amount"), "a brace is not closed"),
        (
            lambda a: a["price"]["ask"].__setitem__(0, {"how dear": "{x}"}),
            "ask.0: a text is missing",
        ),
        (lambda a: a["price"]["ask"].__setitem__(0, ["{x}"]), "ask.0: a text is missing"),
        (lambda a: a["price"].update(ask=5), "attributes.price.ask: give exactly 3"),
        (lambda a: a["maker"].update(claim={"a": "b"}), "maker.claim: a text is missing"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, change: Change, says: str) -> None:
    folder = write_plain_voice(tmp_path / "v")
    said = yaml.safe_load((folder / "food.yaml").read_text())
    change(said["attributes"])
    (folder / "food.yaml").write_text(yaml.safe_dump(said))
    wrong = check_voice(folder)
    assert any(says in str(fault) for fault in wrong), wrong
    assert all(fault.file == "food.yaml" and fault.line > 0 for fault in wrong)
    with pytest.raises(DataError, match=r"food\.yaml:\d+"):
        Voice(folder)


def test_a_file_that_is_no_yaml_or_is_missing(tmp_path: Path) -> None:
    folder = write_plain_voice(tmp_path / "v")
    (folder / "book.yaml").write_text("attributes: [\n  {")
    (folder / "text.yaml").unlink()
    (folder / "math.yaml").write_text("- a\n")
    said = [str(fault) for fault in check_voice(folder)]
    assert any(s.startswith("book.yaml:") and "is no YAML" in s for s in said)
    assert any(s.startswith("text.yaml:0: is missing") for s in said)
    assert any(s == "math.yaml:1: is no mapping." for s in said)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ask: [2031-02-31, b, c]", "'2031-02-31' is no value"),
        ("2031-02-31: b", "'2031-02-31' is no value"),
        ("ask: !!bool maybe", "'maybe' is no value"),
        ("ask: &a [*a, b, c]", "an alias"),
        (
            "ask: [&a0 x, " + "".join(f"&a{n + 1} [{f'*a{n}, ' * 9}], " for n in range(9)) + "]",
            "an alias",
        ),
        ("ask: " + "[" * 900 + "]" * 900, "nested too deeply"),
        ('ask: "é\N{BEL}"', "is no YAML: unacceptable character"),
        ("noun: another", "attributes.price.noun: stands on line 3 too"),
    ],
)
def test_what_yaml_stumbles_over_or_drops_is_named_with_its_line(
    tmp_path: Path, line: str, says: str
) -> None:
    folder = write_plain_voice(tmp_path / "v")
    (folder / "food.yaml").write_text(f"attributes:\n  price:\n    noun: é\n    {line}\n")
    (fault,) = check_voice(folder)
    assert str(fault).startswith("food.yaml:4: ")
    assert says in fault.words


def test_an_attribute_worded_twice_is_named(tmp_path: Path) -> None:
    """YAML would drop the first without a word."""
    path = write_plain_voice(tmp_path / "v") / "food.yaml"
    whole = path.read_text()
    again = yaml.safe_dump({"attributes": {"maker": yaml.safe_load(whole)["attributes"]["maker"]}})
    path.write_text(whole + again.partition("\n")[2])
    lines = [i for i, text in enumerate(path.read_text().split("\n"), 1) if text == "  maker:"]
    assert [(f.file, f.line) for f in check_voice(path.parent)] == [("food.yaml", lines[1])]
    assert f"attributes.maker: stands on line {lines[0]} too" in str(check_voice(path.parent)[0])


def test_a_key_that_takes_over_from_a_shared_block_is_no_double(tmp_path: Path) -> None:
    path = write_plain_voice(tmp_path / "v") / "food.yaml"
    path.write_text(path.read_text().replace("  maker:\n", "  maker:\n    <<: {noun: firm}\n"))
    assert check_voice(path.parent) == []


def test_one_question_for_two_attributes_is_named_at_both(tmp_path: Path) -> None:
    path = write_plain_voice(tmp_path / "v") / "food.yaml"
    said = yaml.safe_load(path.read_text())
    said["attributes"]["salt"]["ask"][1] = said["attributes"]["sugar"]["ask"][1]
    path.write_text(yaml.safe_dump(said))
    wrong = check_voice(path.parent)
    text = path.read_text().split("\n")
    starts = [text.index(f"  {key}:") + 1 for key in ("salt", "sugar")]
    assert [text[fault.line - 1].strip() for fault in wrong] == ["ask:", "ask:"]
    assert sorted(f.line for f in wrong) == [text.index("    ask:", at) + 1 for at in starts]
    assert all("stands for two attributes: " in fault.words for fault in wrong)


def test_a_folder_where_a_file_should_be_is_named(tmp_path: Path) -> None:
    folder = write_plain_voice(tmp_path / "v")
    (folder / "food.yaml").unlink()
    (folder / "food.yaml").mkdir()
    (fault,) = check_voice(folder)
    assert str(fault) == "food.yaml:0: cannot be read: Is a directory."
    with pytest.raises(DataError, match=r"food\.yaml:0: cannot be read"):
        content_of(str(folder))


def test_operations_are_checked_too(tmp_path: Path) -> None:
    folder = write_plain_voice(tmp_path / "v")
    said = yaml.safe_load((folder / "operations.yaml").read_text())
    said["total"] = ["add them up"] * 3
    said["dance"] = []
    said["pages"]["shop"]["titles"].pop()
    (folder / "operations.yaml").write_text(yaml.safe_dump(said))
    found = "\n".join(map(str, check_voice(folder)))
    assert "total.0: needs {n} once" in found
    assert "dance: no operation" in found
    assert "pages.shop.titles: give exactly 4" in found


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    folder = write_plain_voice(tmp_path / "v")
    (folder / "food.yaml").write_bytes(b"attributes:\n  price: caf\xe9\n")
    assert [str(fault) for fault in check_voice(folder)] == ["food.yaml:2: is not UTF-8."]


def test_an_unknown_voice_is_refused() -> None:
    with pytest.raises(SpecError, match="there is no voice 'nobody'"):
        voice("nobody")
    with pytest.raises(SpecError, match="there is no voice 'nobody'"):
        make_request(1, 4, voices="alder,nobody")


@pytest.mark.parametrize(
    ("spec", "says"), [(",", "names none"), ("", "names none"), ("elm,elm", "names a voice twice")]
)
def test_voices_that_name_nobody_or_one_twice_are_refused(spec: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        named(spec)


def test_a_folder_may_not_pass_for_a_shipped_voice(tmp_path: Path) -> None:
    folder = write_plain_voice(tmp_path / HELD[0])
    with pytest.raises(SpecError, match="a voice of that name is shipped"):
        named(str(folder))


def test_two_authors_who_ask_for_two_things_in_the_same_words(tmp_path: Path) -> None:
    """Nobody could tell what is asked: both places are named by file and line."""
    one, two = (write_plain_voice(tmp_path / name) for name in ("one", "two"))
    said = yaml.safe_load((two / "food.yaml").read_text())
    said["attributes"]["sugar"]["ask"][2] = "how much is in {x}"
    (two / "food.yaml").write_text(yaml.safe_dump(said))
    assert len(named(f"{one},{two}")) == 2
    said = yaml.safe_load((one / "food.yaml").read_text())
    said["attributes"]["salt"]["ask"][0] = "How much is in {x}"
    (one / "food.yaml").write_text(yaml.safe_dump(said))
    with pytest.raises(
        DataError, match=r"two/food\.yaml:\d+ \(sugar\) and one/food\.yaml:\d+ \(salt"
    ):
        named(f"{one},{two}")


@pytest.mark.parametrize(
    "theirs", ["Who makes {x} ", "who  makes {x}", "who - makes {x}", "who\tmakes\n{x}?"]
)
def test_blanks_do_not_tell_two_questions_apart(tmp_path: Path, theirs: str) -> None:
    one, two = (write_plain_voice(tmp_path / name) for name in ("one", "two"))
    for folder, key, text in ((one, "sugar", "who makes {x}"), (two, "salt", theirs)):
        said = yaml.safe_load((folder / "food.yaml").read_text())
        said["attributes"][key]["ask"][0] = text
        (folder / "food.yaml").write_text(yaml.safe_dump(said))
    with pytest.raises(DataError, match=r"two/food\.yaml:\d+ \(salt\) and one/food\.yaml:\d+ \(s"):
        named(f"{one},{two}")


def test_the_shipped_voices_can_stand_in_one_world() -> None:
    assert named("open") == OPEN
    assert named("held") == HELD
    assert set(named(",".join((*OPEN, *HELD)))) == {*OPEN, *HELD}


def test_who_may_have_read_them_is_said() -> None:
    assert whose(HELD) == "held-out voices juniper, larch and maple"
    assert whose(["plain", "elm"]) == (
        "open voice elm, own voice plain (mixed: the slices by voice tell them apart)"
    )


def test_a_voice_of_ones_own_is_known_by_its_words_not_its_place(tmp_path: Path) -> None:
    one, two = (write_plain_voice(tmp_path / at / "mine") for at in "ab")
    assert content_of(str(one)) == content_of(str(two))
    assert content_of(str(one)).startswith("mine@")
    (two / "food.yaml").write_text((two / "food.yaml").read_text() + "# another\n")
    assert content_of(str(one)) != content_of(str(two))
    assert content_of("elm") == "elm"


def test_words_are_those_that_the_content_names_after_an_edit(tmp_path: Path) -> None:
    path = write_plain_voice(tmp_path / "mine") / "food.yaml"
    mine, before = str(path.parent), content_of(str(path.parent))
    assert voice(mine) is voice(mine)
    said = yaml.safe_load(path.read_text())
    said["attributes"]["price"]["noun"] = "cost"
    path.write_text(yaml.safe_dump(said))
    assert content_of(mine) != before
    assert voice(mine).wording("food", "price").noun == "cost"


def test_a_session_has_one_voice_and_a_world_all_of_its_own() -> None:
    facts = generate_facts(4, 400)
    sessions = list(make_sessions(facts, ("elm", plain()), conversations=30, singles=30))
    assert {s.voice for s in sessions} == {"elm", "plain"}
    again = make_sessions(facts, ("elm", plain()), conversations=30, singles=30)
    assert [s.voice for s in again] == [s.voice for s in sessions]
    alone = list(make_sessions(facts, ("elm",), conversations=30, singles=30))
    assert {s.voice for s in alone} == {"elm"}
    for both, one in zip(sessions, alone, strict=True):  # the voice changes words, nothing else
        assert [q.program for q in both.questions] == [q.program for q in one.questions]
        same = [q.text for q in both.questions] == [q.text for q in one.questions]
        assert same == (both.voice == "elm")


def test_every_attribute_says_what_it_is() -> None:
    for domain in raw_domains().values():
        for key, attribute in domain["attributes"].items():
            assert attribute["noun"], key
            assert "ask" in needs(attribute)
            assert set(attribute.get("kinds", ())) <= set(domain["kinds"]), (domain["name"], key)
            ranges = attribute.get("number")
            if isinstance(ranges, dict):
                kinds = attribute.get("kinds") or domain["kinds"]
                assert set(ranges) == set(kinds), (domain["name"], key)
            for low, high in ranges.values() if isinstance(ranges, dict) else [ranges or (0, 1)]:
                assert low < high, (domain["name"], key)
