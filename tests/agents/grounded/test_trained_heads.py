"""What the trained heads compute, on numbers made by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mmrag.agents.grounded.contextual_vectors import WordVectorCache
from mmrag.agents.grounded.trained_heads import (
    MIDDLING,
    PIECES,
    AskedAttribute,
    EncodedLine,
    Weights,
    encode_line,
    find_values,
    project_pieces,
    read_weights,
    score_lines,
)
from mmrag.encoders.text import ContextualPieces
from simulator.world.language.voices.voice_reader import HELD, OPEN, Voice

VOICES = Path(__file__).parents[3] / "scripts" / "reader" / "voices"

BLIND = Weights({"line.w": np.zeros((2, 1), "f4"), "kind.w": np.zeros((1, 1), "f4")}, ())
"""Heads that see nothing in a line as a whole."""

RIGHT, UP = (1.0, 0.0), (0.0, 1.0)


def line(*words, whole=(0.0, 0.0)):
    return EncodedLine(np.array(whole, "f4"), np.array(words, "f2"))


def asked(words, counts, whole=(0.0, 0.0, 0.0)):
    return AskedAttribute(*(np.array(x, "f4") for x in (whole, words, counts)))


def test_each_word_of_a_question_counts_by_the_likest_of_a_line():
    question = asked([RIGHT, UP], [3.0, 1.0])
    lines = [line(RIGHT), line(UP, UP), line(UP, RIGHT, (0.6, 0.8)), line((0.6, 0.8))]
    fits = [3 - 0, 0 + 1, 3 + 1, 3 * 0.6 + 0.8]
    want = [fit - MIDDLING * 4 for fit in fits]
    assert score_lines(question, lines, [0] * 4, BLIND) == pytest.approx(want, abs=2e-3)


def test_a_line_s_fit_does_not_depend_on_the_lines_beside_it():
    r = np.random.default_rng(2)
    heads = Weights({"line.w": r.normal(size=(384, 8)), "kind.w": r.normal(size=(1, 8))}, ())
    question = AskedAttribute(r.normal(size=392), r.normal(size=(7, 96)), r.random(7))
    same = EncodedLine(r.normal(size=384).astype("f4"), r.normal(size=(9, 96)).astype("f2"))
    other = EncodedLine(r.normal(size=384).astype("f4"), r.normal(size=(2, 96)).astype("f2"))
    fits = score_lines(question, [same, other, same, same], [0] * 4, heads)
    assert fits[0] == fits[2] == fits[3]
    assert fits[:2] == [score_lines(question, [one], [0], heads)[0] for one in (same, other)]


def test_words_are_told_by_the_lower_layer_alone_and_a_long_line_s_end_is_left_out():
    rows = np.random.default_rng(1).normal(size=(PIECES + 5, 4)).astype("f4")

    def made(rows):
        seen = ContextualPieces(rows, np.arange(len(rows)), np.zeros(2, "f4"))
        return project_pieces(seen, np.eye(2, dtype="f4"))

    assert made(rows) == pytest.approx(
        rows[:PIECES, :2] / np.linalg.norm(rows[:PIECES, :2], axis=1)[:, None], abs=1e-6
    )
    other = rows.copy()
    other[:, 2:] += 1
    other[PIECES:] += 1
    assert (made(other) == made(rows)).all()


def test_nothing_else_of_its_batch_stays_with_a_line():
    batch = np.ones((3, 2), "f4")
    seen = ContextualPieces(np.ones((1, 4), "f4"), np.zeros(1, "i8"), batch[0])
    kept = encode_line(seen, Weights({"word.to": np.eye(2, dtype="f4")}, ()))
    assert kept.whole.base is None
    assert kept.pieces.base is None


def test_a_word_without_length_is_like_nothing():
    seen = ContextualPieces(np.zeros((1, 4), "f4"), np.zeros(1, "i8"), np.zeros(2, "f4"))
    kept = encode_line(seen, Weights({"word.to": np.eye(2, dtype="f4")}, ()))
    assert kept.pieces.tolist() == [[0.0, 0.0]]
    assert score_lines(asked([RIGHT], [2.0]), [kept], [0], BLIND) == [-2 * MIDDLING]


@pytest.mark.parametrize("text", ["\u0301", "\ufe0f", "\ufffd"])
def test_a_line_of_which_the_tokenizer_leaves_nothing_can_be_read(meaning, text):
    [seen] = WordVectorCache(meaning).of([text])
    assert find_values(text, seen, read_weights()) == [(0, 1)]
    assert len(encode_line(seen, read_weights()).pieces) == 1


def test_no_world_speaks_in_the_voices_that_only_the_reader_learns_from():
    voices = [Voice(folder) for folder in sorted(VOICES.iterdir())]  # a faulty one is refused
    assert len(voices) == 5
    assert not {voice.name for voice in voices} & {*OPEN, *HELD}
