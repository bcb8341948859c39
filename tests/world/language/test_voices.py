"""Voices as data: every author's file is whole, and what is wrong is named by file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from plain_voice import plain, write_plain_voice

from mmrag.errors import DataError, SpecError
from simulator.world.build.world_request import make_request
from simulator.world.facts.domain_schema import SHAPES, attribute_of, raw_domains
from simulator.world.facts.generate import generate_facts
from simulator.world.language.conversations import make_sessions
from simulator.world.language.voices import check
from simulator.world.language.voices.voice_reader import (
    HELD,
    OPEN,
    VOICES,
    Voice,
    describe_voices,
    parse_voices,
    voice,
    voice_identity,
)
from simulator.world.language.voices.voice_validation import WEB, check_voice

SHIPPED = sorted(path.parent.name for path in VOICES.glob("*/web.yaml"))
READERS = sorted(
    path.parent for path in Path(__file__).parents[3].glob("scripts/reader/voices/*/web.yaml")
)


@pytest.mark.parametrize("folder", READERS, ids=lambda folder: folder.name)
def test_a_voice_that_readers_learn_from_can_be_used(folder: Path) -> None:
    """One failed the check unseen, and training with it."""
    assert check_voice(folder) == []


def test_there_are_voices_that_readers_learn_from() -> None:
    assert [folder.name for folder in READERS] == ["fir", "gorse", "holly", "juniper", "larch"]


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
    (tmp_path / "b" / "mine" / "food.yaml").unlink()
    monkeypatch.setattr("sys.argv", ["check", "./a/mine", "b/mine/"])
    assert check.main() == 1
    said = capsys.readouterr().out
    assert said.startswith("b/mine/food.yaml:0: is missing")
    assert "a/mine" not in said


def test_a_plain_voice_can_be_used(tmp_path: Path) -> None:
    folder = write_plain_voice(tmp_path / "plain")
    assert check_voice(folder) == []
    made = Voice(folder)
    price = attribute_of("jar", "price")
    assert "{d}" in made.wording("food", price).page[0]
    assert made.wants("kettle")
    assert not made.wants("town")
    assert len(made.pages["shop"]["chatter"]) == 10
    assert voice(str(folder)).name == "plain"
    assert parse_voices(str(folder)) == (str(folder),)


def test_an_attribute_that_an_author_left_out_is_stated_in_plain_words(tmp_path: Path) -> None:
    made = Voice(write_plain_voice(tmp_path / "plain"))
    price, height = attribute_of("jar", "price"), attribute_of("kettle", "height")
    for domain, attribute in (("hub", price), ("hub", height)):
        words = made.wording(domain, attribute)
        assert (words.noun, len(words.page)) == (attribute.noun, 4)
        for sentence in words.page:
            assert sentence.count("{v}") == 1
            assert sentence.count("{d}") == (attribute is price)


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda v: v["attributes"]["price"].pop("page"), "attributes.price: give noun and page"),
        (lambda v: v["attributes"]["price"].update(ask=[]), "attributes.price: give noun and page"),
        (lambda v: v["attributes"]["price"]["page"].pop(), "price.page: give exactly 4"),
        (lambda v: v["attributes"]["price"].update(noun=" "), "price.noun: a text is missing"),
        (lambda v: v["attributes"]["price"]["page"].__setitem__(0, "{x} costs {v}"),
         "needs {d} once"),
        (lambda v: v["attributes"]["price"]["page"].__setitem__(0, "{v} {d} {y}"), "{y} is no"),
        (lambda v: v["attributes"]["price"]["page"].__setitem__(0, "{v} {d"), "a brace is not"),
        (lambda v: v["attributes"].update(colour={}), "colour: no attribute of food"),
        (lambda v: v.update(asks=[]), "asks: a file holds `errands:` and `attributes:`"),
        (lambda v: v.update({5: 1}), "5: a file holds `errands:` and `attributes:`"),
        (lambda v: v["attributes"].update({5: {}, "foo": {}}), "5: no attribute of food"),
        (lambda v: v.pop("errands"), "errands: give a list of errands"),
        (lambda v: v["errands"][3]["turns"][1].pop("answer"),
         "errands.3.turns.1: answer: is missing"),
        (lambda v: v["errands"][3]["turns"][1].update(answer="it.prize"),
         "errands.3.turns.1.answer: a "),
        (lambda v: v.update(errands=[e for e in v["errands"] if e["kinds"] != ["jar"]]),
         "none about a jar (shop) is of 6 turns"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, change: Change, says: str) -> None:
    folder = write_plain_voice(tmp_path / "v")
    said = yaml.safe_load((folder / "food.yaml").read_text())
    said["attributes"]["price"] = {"noun": "price", "page": ["{v} on {d}"] * 4}
    change(said)
    (folder / "food.yaml").write_text(yaml.safe_dump(said))
    wrong = check_voice(folder)
    assert any(says in str(fault) for fault in wrong), wrong
    assert all(fault.file == "food.yaml" and fault.line > 0 for fault in wrong)
    with pytest.raises(DataError, match=r"food\.yaml:\d+"):
        Voice(folder)


def test_a_fault_stands_at_the_line_of_its_need(tmp_path: Path) -> None:
    path = write_plain_voice(tmp_path / "v") / "food.yaml"
    lines = path.read_text().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("    answer: it.") and i > 99)
    lines[at] = "    answer: it.pepper"
    path.write_text("\n".join(lines))
    (fault,) = [f for f in check_voice(path.parent) if "pepper" in f.words]
    assert fault.line == at + 1


def test_one_file_can_be_checked_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_plain_voice(tmp_path / "mine") / "food.yaml"
    (path.parent / "book.yaml").unlink()
    monkeypatch.setattr("sys.argv", ["check", str(path)])
    assert check.main() == 0
    path.rename(path.with_name("foods.yaml"))
    monkeypatch.setattr("sys.argv", ["check", str(path.with_name("foods.yaml"))])
    assert check.main() == 1
    assert "is no file of a voice" in capsys.readouterr().out


def test_a_file_that_is_no_yaml_or_is_missing(tmp_path: Path) -> None:
    folder = write_plain_voice(tmp_path / "v")
    (folder / "book.yaml").write_text("attributes: [\n  {")
    (folder / "text.yaml").unlink()
    (folder / "math.yaml").write_text("- a\n")
    (folder / "food.yaml").write_bytes(b"attributes:\n  price: caf\xe9\n")
    said = [str(fault) for fault in check_voice(folder)]
    assert "food.yaml:2: is not UTF-8." in said
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


def test_a_folder_where_a_file_should_be_is_named(tmp_path: Path) -> None:
    folder = write_plain_voice(tmp_path / "v")
    (folder / "food.yaml").unlink()
    (folder / "food.yaml").mkdir()
    (fault,) = check_voice(folder)
    assert str(fault) == "food.yaml:0: cannot be read: Is a directory."
    with pytest.raises(DataError, match=r"food\.yaml:0: cannot be read"):
        voice_identity(str(folder))


def test_how_pages_sound_is_checked_too(tmp_path: Path) -> None:
    folder = write_plain_voice(tmp_path / "v")
    said = yaml.safe_load((folder / WEB).read_text())
    said["shop"]["titles"].pop()
    said["news"]["leads"][1] = "something"
    (folder / WEB).write_text(yaml.safe_dump(said))
    found = "\n".join(map(str, check_voice(folder)))
    assert "shop.titles: give exactly 4" in found
    assert "news.leads.1: needs {x} once" in found
    (folder / WEB).write_text("shop: {}\n")
    assert "web.yaml:1: give encyclopaedia" in str(check_voice(folder)[0])


def test_an_unknown_voice_is_refused() -> None:
    with pytest.raises(SpecError, match="no voice is called 'nobody'"):
        voice("nobody")
    with pytest.raises(SpecError, match="no voice is called 'nobody'"):
        make_request(1, 4, voices="alder,nobody")


@pytest.mark.parametrize(
    ("spec", "says"), [(",", "names none"), ("", "names none"), ("elm,elm", "names a voice twice")]
)
def test_voices_that_name_nobody_or_one_twice_are_refused(spec: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        parse_voices(spec)


def test_a_folder_may_not_pass_for_a_shipped_voice(tmp_path: Path) -> None:
    folder = write_plain_voice(tmp_path / HELD[0])
    with pytest.raises(SpecError, match="a voice of that name is shipped"):
        parse_voices(str(folder))


def test_two_authors_who_open_in_the_same_words_and_ask_two_things(tmp_path: Path) -> None:
    """Nobody could tell what is asked, whatever the blanks and signs."""
    one, two = (write_plain_voice(tmp_path / name) for name in ("one", "two"))
    asked = ((one, "how much is it", "it.salt"), (two, "How  much - is it!", "it.sugar"))
    for folder, text, answer in asked:
        said = yaml.safe_load((folder / "food.yaml").read_text())
        turn = {"type": "simple-knowledge", "say": [text], "answer": answer}
        said["errands"].append({"turns": [turn]})
        (folder / "food.yaml").write_text(yaml.safe_dump(said))
    with pytest.raises(DataError, match=r"one/food/\d+\.0 and two/food/\d+\.0 both say"):
        parse_voices(f"{one},{two}")


def test_the_shipped_voices_can_stand_in_one_world() -> None:
    assert parse_voices("open") == OPEN
    assert parse_voices("held") == HELD
    assert set(parse_voices(",".join((*OPEN, *HELD)))) == {*OPEN, *HELD}


def test_who_may_have_read_them_is_said() -> None:
    assert describe_voices(HELD) == "held-out voices hazel, rowan and willow"
    assert describe_voices(["plain", "elm"]) == (
        "open voice elm, own voice plain (mixed: the slices by voice tell them apart)"
    )


def test_a_voice_of_ones_own_is_known_by_its_words_not_its_place(tmp_path: Path) -> None:
    one, two = (write_plain_voice(tmp_path / at / "mine") for at in "ab")
    assert voice_identity(str(one)) == voice_identity(str(two))
    assert voice_identity(str(one)).startswith("mine@")
    (two / "food.yaml").write_text((two / "food.yaml").read_text() + "# another\n")
    assert voice_identity(str(one)) != voice_identity(str(two))
    assert voice_identity("elm") == "elm"


def test_words_are_those_that_the_content_names_after_an_edit(tmp_path: Path) -> None:
    path = write_plain_voice(tmp_path / "mine") / "food.yaml"
    mine, before = str(path.parent), voice_identity(str(path.parent))
    assert voice(mine) is voice(mine)
    said = yaml.safe_load(path.read_text())
    said["attributes"]["price"] = {"noun": "cost", "page": ["{v} on {d}"] * 4}
    path.write_text(yaml.safe_dump(said))
    assert voice_identity(mine) != before
    assert voice(mine).wording("food", attribute_of("jar", "price")).noun == "cost"


def test_a_session_has_one_voice_and_a_world_all_of_its_own(tmp_path: Path) -> None:
    facts = generate_facts(4, 1)
    other = str(write_plain_voice(tmp_path / "other"))
    sessions = list(make_sessions(facts, (other, plain()), conversations=12, singles=12))
    assert {s.voice for s in sessions} == {"other", "plain"}
    for session in sessions:
        assert {q.template.split("/")[2].split(".")[0] for q in session.questions} == {
            session.voice
        }


def test_every_attribute_says_what_it_is() -> None:
    for domain in raw_domains().values():
        for key, attribute in domain["attributes"].items():
            assert attribute["noun"], key
            kinds = set(attribute.get("kinds", domain["kinds"]))
            assert kinds <= set(domain["kinds"]), (domain["name"], key)
            (shape,) = [shape for shape in SHAPES if shape in attribute]
            said = attribute[shape]
            if isinstance(said, dict):
                assert set(said) == kinds, (domain["name"], key)
            if shape == "number":
                for low, high in said.values() if isinstance(said, dict) else [said]:
                    assert low < high, (domain["name"], key)
        assert set(domain.get("called", {})) <= set(domain["kinds"])
