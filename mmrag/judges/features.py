"""What the calibrated judge looks at: one row of numbers per (question, references, prediction).

The row describes the best-matching reference in detail and the others in sums. `NAMES` gives the
columns; a parameter file made for other columns is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mmrag.judges.lexicon import AUXILIARIES, CONTRASTS, HEDGES, MEASURED, NEGATIONS, STOPWORDS
from mmrag.judges.matching import (
    Wording,
    acronym,
    closest,
    densest,
    order,
    parts,
    trigrams,
    windows,
    wordings,
)
from mmrag.judges.numbers import Date, is_number, same_date, same_quantity
from mmrag.judges.reading import Reading, read_short, stem
from mmrag.judges.vectors import Rows, Vectors, unit

MAX_REFERENCES = 64
"""Distinct references that are looked at."""

QUESTION_TYPES = (
    "who",
    "when",
    "where",
    "how many",
    "how",
    "why",
    "which",
    "what",
    "name",
    "yes/no",
)


def question_type(question: Reading) -> str:
    """What kind of answer a question asks for, from its first question word."""
    words = question.words
    for index, word in enumerate(words):
        if word in ("who", "whom", "whose"):
            return "who"
        if word in ("when", "where", "why", "which", "what", "name"):
            after = words[index + 1 : index + 3]
            if word in ("what", "which") and {"year", "date", "day", "month"} & set(after):
                return "when"
            if word in ("what", "which") and {"city", "country", "state"} & set(after):
                return "where"
            return word
        if word == "how":
            many = words[index + 1 : index + 2]
            return "how many" if many and many[0] in MEASURED else "how"
    return "yes/no" if words and words[0] in AUXILIARIES else "what"


class Extractor:
    """Computes rows. Holds the word vectors."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors
        self._means: dict[str, Rows] = {}

    def row(self, question: str, references: Sequence[str], said: Reading) -> list[float]:
        """One row in the order of `NAMES`."""
        asked = read_short(question)
        known = [w for r in dict.fromkeys(references[:MAX_REFERENCES]) for w in wordings(r)]
        if not known or not said.words:
            return [0.0] * len(NAMES)
        asked_words = asked.vocabulary
        scored = [(self._overlap(w, said, asked_words), w) for w in known]
        scored.sort(key=lambda pair: (-pair[0][0], pair[0][1]))
        row: list[float] = []
        row += self._best(scored[0][1], said, asked)
        row += self._several(scored, references, said, asked)
        row += self._numbers(known, said, asked)
        row += self._shape(said, asked)
        row += self._meaning(scored[0][1], [w for _, w in scored[:4]], said, asked)
        return row

    def _overlap(self, wording: Wording, said: Reading, asked: frozenset[str]) -> tuple[float, int]:
        """How well a wording is matched (for choosing the best), and its length against ties."""
        weight = self.vectors.weight
        total = hit = 0.0
        for word, root in zip(wording.content, wording.stems, strict=True):
            value = weight(word) * (0.35 if word in asked else 1.0)
            total += value
            if word in said.vocabulary:
                hit += value
            elif root in said.stems:
                hit += 0.9 * value
        contained = wording.compact in said.compact
        return (hit / total if total else 0.0) + contained, len(wording.compact)

    def _best(self, best: Wording, said: Reading, asked: Reading) -> list[float]:
        weight, n = self.vectors.weight, len(said.words)
        asked_words, asked_stems = asked.vocabulary, asked.stems
        spans = list(said.occurrences(best.compact))
        loose = best.compact in said.compact
        exact = best.compact == said.compact
        total = fresh_total = hit = fresh_hit = stem_hit = fuzzy_hit = 0.0
        matched: list[int] = []
        missed: list[str] = []
        for word, root in zip(best.content, best.stems, strict=True):
            value = weight(word)
            fresh = word not in asked_words and root not in asked_stems
            total += value
            fresh_total += value * fresh
            if word in said.vocabulary:
                hit += value
                stem_hit += value
                fuzzy_hit += value
                fresh_hit += value * fresh
                matched.append(said.words.index(word))
            elif root in said.stems:
                stem_hit += value
                fuzzy_hit += value
                fresh_hit += value * fresh
                matched.append(said.stems[root])
            else:
                close, where = closest(word, said)
                fuzzy_hit += value * close
                fresh_hit += value * close * fresh
                if close:
                    matched.append(where)
                else:
                    missed.append(word)
        start, end = spans[0] if spans else (min(matched), max(matched) + 1) if matched else (n, n)
        tight = (end - start) / max(1, len(best.words)) if matched or spans else 9.0
        if not spans and len(matched) > 1:
            start, end, tight = densest(matched, best, said)
        sentence = said.sentence[start] if start < n else -1
        said_fresh = [
            w for w in said.content if w not in asked_words and stem(w) not in asked_stems
        ]
        reference_words, reference_stems = set(best.content), set(best.stems)
        explained = sum(
            weight(w) for w in said_fresh if w in reference_words or stem(w) in reference_stems
        )
        unexplained = sum(weight(w) for w in said_fresh) - explained
        before = [
            i
            for i in range(min(start, n))
            if said.capital[i]
            and said.words[i] not in STOPWORDS
            and said.words[i] not in asked_words
        ]
        ahead = sum(
            w not in STOPWORDS and w not in asked_words for w in said.words[: min(start, n)]
        )
        negated = any(word in NEGATIONS for word in said.words[max(0, start - 6) : start])
        in_sentence = sentence >= 0 and any(
            word in NEGATIONS and number == sentence
            for word, number in zip(said.words, said.sentence, strict=True)
        )
        last, first = best.content[-1], best.content[0]
        contrast = any(said.words[i] in CONTRASTS for i in range(min(start, n)))
        trigram = trigrams(best.compact)
        covered = len(trigram & trigrams(said.compact[:1500])) / max(1, len(trigram))
        return [
            float(bool(spans)), float(loose), float(exact), len(spans),
            hit / (total or 1.0), stem_hit / (total or 1.0), fuzzy_hit / (total or 1.0),
            fresh_hit / fresh_total if fresh_total else -1.0, fresh_total / (total or 1.0), total,
            fresh_total - fresh_hit, fresh_hit,
            max((weight(w) for w in missed), default=0.0), float(len(missed)),
            start / max(1, n), float(min(start, 99)), float(sentence), tight,
            float(len(before)), float(ahead), float(negated), float(in_sentence), float(contrast),
            float(last in said.vocabulary), float(first in said.vocabulary),
            float(best.content[-1] in asked_words),
            explained / (explained + unexplained) if said_fresh else 0.0, unexplained, explained,
            covered, float(acronym(best, said)), float(said.compact in best.compact),
            float(len(best.words)), float(len(best.compact)),
            float(any(best.reading.capital)), float(all(map(is_number, best.words))),
            order(best, said),
        ]  # fmt: skip

    def _several(
        self,
        scored: list[tuple[tuple[float, int], Wording]],
        references: Sequence[str],
        said: Reading,
        asked: Reading,
    ) -> list[float]:
        scores = [min(score, 2.0) for (score, _), _ in scored]
        whole = sum(score > 1.99 for score in scores)
        members = [m for r in references[:8] for m in parts(r)]
        found = 0.0
        if members:
            hits = [m.compact in said.compact for m in members]
            found = sum(hits) / len(members)
            best_list = max(
                sum(m.compact in said.compact for m in parts(r)) / len(parts(r))
                for r in references[:8]
                if parts(r)
            )
        else:
            best_list = -1.0
        union = {w for _, wording in scored for w in wording.stems}
        content = said.content
        known = sum(stem(w) in union for w in content) / len(content)
        words, n = said.words, len(said.words)
        fresh = [
            i for i in range(n) if words[i] not in STOPWORDS and words[i] not in asked.vocabulary
        ]
        covered = [i for i in fresh if stem(words[i]) in union]
        named = [i for i in fresh if said.capital[i]]
        span: list[int] = []
        for i in named:
            if span and i != span[-1] + 1:
                break
            span.append(i)
        best = scored[0][1]
        roots = set(best.stems)
        per_sentence = [0.0] * (said.sentence[-1] + 1)
        seen: set[tuple[int, str]] = set()
        for word, number in zip(words, said.sentence, strict=True):
            root = stem(word)
            if root in roots and (number, root) not in seen:
                seen.add((number, root))
                per_sentence[number] += 1.0 / len(roots)
        said_trigrams = trigrams(said.compact[:1500])
        spelled = max(
            len(t & said_trigrams) / max(1, len(t))
            for t in (trigrams(w.compact) for _, w in scored)
        )
        inside = any(said.compact in w.compact for _, w in scored) if n <= 8 else False
        return [
            float(len(scored)), float(whole), whole / len(scores), sum(scores) / len(scores),
            scores[1] if len(scores) > 1 else -1.0, found, best_list, float(len(members)), known,
            len(covered) / len(fresh) if fresh else -1.0,
            sum(i in covered for i in named[:8]) / len(named[:8]) if named else -1.0,
            sum(stem(words[i]) in union for i in span) / len(span) if span else -1.0,
            float(len(span)), per_sentence[0], max(per_sentence),
            float(per_sentence.index(max(per_sentence))), spelled, float(inside),
            float(stem(words[-1]) in union), float(stem(words[0]) in union),
        ]  # fmt: skip

    def _numbers(self, known: list[Wording], said: Reading, asked: Reading) -> list[float]:
        wanted = [q for w in known for q in w.reading.quantities]
        times = [d for w in known for d in w.reading.dates]
        asked_values = {q.raw for q in asked.quantities}
        told = said.quantities
        fresh = [q for q in told if q.raw not in asked_values]
        match = where = -1.0
        conflicts = before = 0.0
        if wanted:
            good = [any(same_quantity(q, w) for w in wanted) for q in told]
            match = float(any(good))
            position = good.index(True) if match else len(told)
            conflicts = float(
                sum(not ok and q.raw not in asked_values for q, ok in zip(told, good, strict=True))
            )
            before = float(sum(q.raw not in asked_values for q in told[:position]))
            where = told[position].start / max(1, len(said.tokens)) if match else 1.0
        date_match = year = month = day = date_before = first_date = -1.0
        if times:
            verdicts = [_best_date(d, times) for d in said.dates]
            date_match = max(verdicts, default=-1.0)
            year = _agree([d.year for d in times], [d.year for d in said.dates])
            month = _agree([d.month for d in times], [d.month for d in said.dates])
            day = _agree([d.day for d in times], [d.day for d in said.dates])
            date_before = float(verdicts.index(date_match)) if verdicts else -1.0
            first_date = verdicts[0] if verdicts else -1.0
        gap = -1.0
        if wanted and fresh:
            gap = min(
                abs(q.raw - w.raw) / max(abs(q.raw), abs(w.raw), 1e-9)
                for q in fresh
                for w in wanted
            )
        return [
            float(len(wanted)), match, conflicts, before, where, float(len(fresh)), gap,
            float(len(times)), date_match, year, month, day, date_before, first_date,
            float(len(said.dates)),
        ]  # fmt: skip

    def _shape(self, said: Reading, asked: Reading) -> list[float]:
        kind = question_type(asked)
        n = len(said.words)
        fresh_capitals = sum(
            capital and word not in STOPWORDS and word not in asked.vocabulary
            for capital, word in zip(said.capital, said.words, strict=True)
        )
        lowered = said.text[:1500].lower()
        overlap = sum(w in said.vocabulary for w in asked.content) / len(asked.content or [1])
        first = said.words[0]
        return [
            float(QUESTION_TYPES.index(kind)), float(n), float(said.sentence[-1] + 1),
            float(fresh_capitals),
            float(lowered.count(",")), float(lowered.count("\n")),
            float(sum(cue in lowered for cue in HEDGES)), float("however" in lowered),
            float("ai language" in lowered), overlap, float(len(asked.words)),
            float(any(w in NEGATIONS for w in said.words)),
            float(first == "yes") - float(first == "no"),
            float(":" in said.text[:80]),
            float(sum(w == "or" for w in said.words)),
        ]  # fmt: skip

    def _meaning(
        self, best: Wording, near: list[Wording], said: Reading, asked: Reading
    ) -> list[float]:
        vectors, asked_words = self.vectors, asked.vocabulary
        content = said.content[:160]
        fresh = [w for w in content if w not in asked_words] or content
        matrix, weights = vectors.take(fresh)
        # The first two sentences hold the answer; the rest is usually background.
        front = sum(
            s <= 1 and w not in STOPWORDS and w not in asked_words
            for w, s in zip(said.words, said.sentence, strict=True)
        )
        front = min(front, 60, len(fresh)) or len(fresh)
        new = [w for w in best.content if w not in asked_words] or best.content
        wanted, needs = vectors.take(new)
        cosine = wanted @ matrix.T
        peak, back = cosine.max(axis=1), cosine.max(axis=0)
        needs = np.maximum(needs, np.float32(1e-3))
        aim, reference = unit(np.asarray(needs @ wanted, np.float32)), self._wording(best)
        question, whole = self._question(asked), unit(weights @ matrix)
        head = unit(weights[:front] @ matrix[:front])
        others = max(float(self._wording(w) @ head) for w in near)
        window = windows(matrix, len(new)) @ aim
        return [
            float(peak @ needs / needs.sum()), float(peak.min()), float(peak.sum()) / len(peak),
            float(reference @ whole), float(reference @ head), others, float(window.max()),
            float(int(window.argmax()) / len(fresh)), float(window[0]),
            float(reference @ question), float(whole @ question), float(back.sum()) / len(back),
            float(back[:3].max()),
        ]  # fmt: skip

    def _wording(self, wording: Wording) -> Rows:
        return self._mean(wording.compact, wording.content)

    def _question(self, asked: Reading) -> Rows:
        return self._mean("?" + asked.text, asked.content or ["?"])

    def _mean(self, key: str, words: list[str]) -> Rows:
        mean = self._means.get(key)
        if mean is None:
            if len(self._means) > _MAX_MEANS:
                self._means.clear()
            mean = self._means[key] = self.vectors.mean(words)
        return mean


_COLUMNS = """
contained loose exact occurrences recall stem_recall fuzzy_recall fresh_recall fresh_share
weight fresh_missing fresh_found heaviest_missed missed start position sentence tightness
capitals_before content_before negated_near negated_sentence contrast last_word first_word
last_asked explained unexplained explained_weight trigrams acronym inside_reference words
letters reference_capital reference_number order wordings whole whole_share mean_score
second_score parts_found best_list parts known_share fresh_known named_known span_known span
first_sentence_recall sentence_recall which_sentence spelled inside last_known first_known
numbers number_match number_conflicts numbers_before number_place fresh_numbers number_gap dates
date_match year month day dates_before first_date said_dates question_type said_words
said_sentences fresh_capitals commas lines hedges however ai_preamble question_overlap
question_words negation yes_no heading ors soft_recall soft_least soft_mean cos_whole cos_head
cos_near window window_place window_first cos_question cos_said_question said_soft first_soft
"""
NAMES = tuple(_COLUMNS.split())
"""The columns of a row, in order."""

_MAX_MEANS = 100_000


def _best_date(date: Date, wanted: list[Date]) -> float:
    verdicts = [same_date(date, other) for other in wanted]
    if True in verdicts:
        return 1.0
    return 0.0 if False in verdicts else -0.5


def _agree(wanted: list[int | None], told: list[int | None]) -> float:
    """1 when a part of the date agrees, 0 when only others are told, −1 when nothing is."""
    a, b = {x for x in wanted if x is not None}, {x for x in told if x is not None}
    if not a or not b:
        return -1.0
    return float(bool(a & b))
