"""Search by name as the public API has it: the names that share the most, and rarest, words."""

from __future__ import annotations

from collections.abc import Iterable

MOST = 10


class NameIndex:
    """Names, indexed by their words.

    >>> NameIndex(["Alder Works", "Alder Group"]).search("the alder group")
    ['Alder Group', 'Alder Works']
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._owners: dict[str, list[str]] = {}
        for name in dict.fromkeys(names):
            for word in set(words_of(name)):
                self._owners.setdefault(word, []).append(name)

    def search(self, query: str) -> list[str]:
        """The best names first; those that share no word with the query are left out."""
        scores: dict[str, float] = {}
        for word in set(words_of(query[:500])):
            owners = self._owners.get(word, [])
            for owner in owners:
                scores[owner] = scores.get(owner, 0.0) + 1.0 / len(owners)
        return sorted(scores, key=lambda n: (-scores[n], len(n), n))[:MOST]


def words_of(text: str) -> list[str]:
    """Words without case and punctuation."""
    return "".join(c if c.isalnum() else " " for c in text.casefold()).split()
