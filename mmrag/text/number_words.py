"""English words for small numbers, for whoever reads a number out of a sentence."""

from __future__ import annotations

_UNITS_AND_TEENS = """zero one two three four five six seven eight nine ten eleven twelve thirteen
fourteen fifteen sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"

NUMBER_WORDS = {word: n for n, word in enumerate(_UNITS_AND_TEENS.split())} | {
    word: 10 * n for n, word in enumerate(_TENS.split(), 2)
}
"""Single words only: `seven` → 7, `ninety` → 90; whoever reads them puts them together."""
