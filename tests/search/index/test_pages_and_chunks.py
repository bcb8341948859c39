from __future__ import annotations

import pytest
from compared_times import times_as_long
from hypothesis import given, settings
from hypothesis import strategies as st

from mmrag.errors import UsageError
from mmrag.passages import Chunker
from mmrag.search.index.page_text import MAX_HTML, MAX_TEXT, page_text, strip_tags
from mmrag.search.web.fusion import fuse
from mmrag.search.web.rerank import LexicalReranker
from mmrag.search.web.words import words
from mmrag.text.token_limits import count_tokens

ARTICLE = "<article><h1>Alder Kettle</h1><p>It boils one litre in ninety seconds, every time.</p>"


def test_navigation_and_scripts_are_left_out() -> None:
    text = page_text(
        "<html><body><nav><a href=/>Home</a> <a href=/x>Imprint</a></nav>"
        f"{ARTICLE}<table><tr><th>Weight</th><td>1.2 kg</td></tr></table></article>"
        "<script>steal()</script><footer>All rights reserved</footer></body></html>"
    )
    assert "ninety seconds" in text
    assert "1.2 kg" in text
    assert "Imprint" not in text
    assert "steal" not in text


@pytest.mark.parametrize(
    "html",
    [
        "<p>needle", "<b><i>needle</b></i>", "<table><tr><td>needle", "needle &amp; thread",
        "<!-- open <p>x</p> --> needle", "<p>needle\0</p>", "<" * 500 + "<p>needle</p>",
        b"<p>needle \xff\xfe</p>", "<html><body>" + "<div>" * 10_000 + "needle" + "</div>" * 10_000,
    ],
)  # fmt: skip
def test_broken_markup_still_gives_its_text(html: str | bytes) -> None:
    assert "needle" in page_text(html)


def test_deep_markup_takes_no_longer_than_it_is_long() -> None:
    deep, deeper = ("<div>" * n + "needle" + "</div>" * n for n in (2_500, 10_000))
    assert times_as_long(lambda: page_text(deeper), lambda: page_text(deep)) < 10


def test_a_huge_page_is_bounded() -> None:
    large, huge = (ARTICLE + "<p>word and word</p>" * n for n in (250_000, 2_500_000))
    texts: list[str] = []
    took = times_as_long(lambda: texts.append(page_text(huge)), lambda: page_text(large), calls=1)
    assert "ninety seconds" in texts[0]
    assert len(texts[0]) <= MAX_TEXT
    assert took < 5


@pytest.mark.parametrize(("start", "more"), [("<", "a"), ("<a", " b"), ("", "<a/")])
def test_a_tag_that_never_ends_is_read_once(start: str, more: str) -> None:
    short, long = (ARTICLE + start + more * n for n in (10_000, 40_000))
    assert "ninety seconds" in page_text(long)
    assert times_as_long(lambda: page_text(long), lambda: page_text(short)) < 9


def test_a_page_of_more_tags_than_any_reader_wants_is_stripped() -> None:
    many, more = (ARTICLE + "<br>x" * (MAX_HTML // n) for n in (20, 5))
    assert "ninety seconds" in page_text(more)
    assert times_as_long(lambda: page_text(more), lambda: page_text(many), calls=1) < 10


NAMES = "Müller’s café"


@pytest.mark.parametrize(
    "page",
    [
        f"<p>{NAMES}".encode(),
        f"<p>{NAMES}".encode() + b"\xff",  # one broken character does not make it another encoding
        f"<p>{NAMES}".encode("utf-8-sig"),
        f"<p>{NAMES}".encode("utf-16"),
        b"\xfe\xff" + f"<p>{NAMES}".encode("utf-16-be"),
        f"<p>{NAMES}".encode("cp1252"),
        f"<meta charset='ISO-8859-1'><p>{NAMES}".encode("cp1252"),
        f"<meta charset=utf-8><p>{NAMES}".encode("cp1252"),  # it lies
        f"<meta charset=punycode><p>{NAMES}".encode(),  # no page is written in this
        b'<meta http-equiv=Content-Type content="text/html; charset=gb2312"><p>'
        + f"水 {NAMES}".replace("ü", "u").replace("é", "e").encode("gbk"),
        b'<?xml version="1.0" encoding="windows-1251"?><p>'
        + f"Мюллер {NAMES}".replace("ü", "u").replace("é", "e").encode("cp1251"),
    ],
)
def test_pages_are_read_in_their_own_encoding(page: bytes) -> None:
    text = page_text(page)
    assert NAMES in text or NAMES.replace("ü", "u").replace("é", "e") in text
    assert ("gb2312" in repr(page)) == ("水" in text)
    assert ("1251" in repr(page)) == ("Мюллер" in text)


def test_less_than_is_no_tag() -> None:
    text = "pressure < 3 bar; service 12 months. Call Anna if temp > 90"
    assert strip_tags(text) == text
    assert strip_tags("a<!DOCTYPE x><b c='d'>e</b><?php f ?>g").split() == ["a", "e", "g"]


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert "\0" not in page_text(text)


WORDS = st.sampled_from(["oat", "kettle,", "12.5", "ünder"])


@settings(deadline=None, max_examples=40)
@given(st.integers(4, 40), st.integers(0, 3), st.lists(WORDS, max_size=120))  # fmt: skip
def test_chunks_cover_every_token(size: int, overlap: int, parts: list[str]) -> None:
    text = " ".join(parts)
    chunks = Chunker(tokens=size, overlap=min(overlap, size - 3) if size > 3 else 0).cut(text)
    covered = {i for c in chunks for i in range(c.start, c.end)}
    assert all(i in covered for i, char in enumerate(text) if not char.isspace())
    assert all(count_tokens(text[c.start : c.end]) <= size for c in chunks)
    assert [c.start for c in chunks] == sorted(c.start for c in chunks)


def test_impossible_chunks_are_refused() -> None:
    with pytest.raises(UsageError):
        Chunker(tokens=16, overlap=16)


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=4))
def test_fusion_does_not_depend_on_order(rankings: list[list[str]]) -> None:
    # sums of floats may differ in their last bit with the order of the rankings
    one, two = fuse(rankings), fuse(rankings[::-1])
    assert one.keys() == two.keys()
    assert all(abs(one[key] - two[key]) < 1e-12 for key in one)


def test_fusion_formula() -> None:
    assert fuse([["a", "b"], ["b"]])["b"] == pytest.approx(1 / 62 + 1 / 61)


def test_reranker_prefers_words_together() -> None:
    far = "warranty " + "filler " * 200 + "kettle"
    near = "filler " * 200 + "kettle warranty"
    scores = LexicalReranker().rerank("kettle warranty", [far, near, "nothing here"])
    assert scores[1] > scores[0] > scores[2] == 0.0


def test_words_fold_case_accents_and_endings() -> None:
    assert words("Müller’s Kettles BOTTLED 1,250") == words("muller s kettle bottle 1250")
