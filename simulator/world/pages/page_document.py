"""What a page says, before any markup: sections of blocks of lines, each with what it states.

A page is composed as a document first and only then rendered, so that the grounding labels come
from the very statements that the reader sees, and can be made without rendering a page.
"""

from __future__ import annotations

from mmrag.records import Record
from simulator.world.facts.domain_schema import Attribute, FactValue

STYLES = ("encyclopaedia", "shop", "review", "forum", "news")


class Statement(Record, frozen=True, kw_only=True):
    """A line says that an attribute of an entity had a value at a time."""

    entity_id: str
    attribute: str
    value: FactValue
    as_of: str
    """The time of which the page speaks (its own date, or the date of a stale copy)."""
    is_true: bool = True
    """False where a contradiction was planted: the value never held."""


class StatedFact(Record, frozen=True, kw_only=True):
    """An attribute with the statement that a page makes of it."""

    attribute: Attribute
    statement: Statement


class PageLine(Record, frozen=True, kw_only=True):
    """One sentence, table row or list item."""

    text: str
    cells: tuple[str, str] | None = None
    """Label and value of a table row."""
    states: tuple[Statement, ...] = ()


class Block(Record, frozen=True, kw_only=True):
    """A paragraph, table, list or post: what a reader takes in at once, and a passage."""

    kind: str
    """text, table, list or post."""
    lines: tuple[PageLine, ...]
    author: str = ""
    date: str = ""
    stars: int = 0

    @property
    def passage(self) -> str:
        """The block as plain text."""
        return " ".join(line.text for line in self.lines)


class Section(Record, frozen=True, kw_only=True):
    """Blocks under a heading."""

    heading: str
    blocks: tuple[Block, ...]


class Attack(Record, frozen=True, kw_only=True):
    """An instruction to the assistant that a hostile page carries."""

    kind: str
    """wrong-answer, refuse, reveal or advertise."""
    text: str
    canary: str
    """Text that stands in a reply if, and only if, the attack worked (or was quoted)."""
    place: str
    """visible, hidden, comment or alt-text."""


class Document(Record, frozen=True, kw_only=True):
    """A whole page before markup."""

    url: str
    title: str
    style: str
    date: str
    """When the page was last written, ISO with minutes."""
    as_of: str
    entity_id: str | None
    label: str
    lead: str
    sections: tuple[Section, ...]
    links: tuple[str, ...] = ()
    """Texts of links to other pages, which stand in its margins."""
    attack: Attack | None = None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks in reading order."""
        return tuple(block for section in self.sections for block in section.blocks)

    @property
    def statements(self) -> tuple[tuple[Statement, Block], ...]:
        """Everything the page states, with the block that states it."""
        return tuple(
            (statement, block)
            for block in self.blocks
            for line in block.lines
            for statement in line.states
        )
