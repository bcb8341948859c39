"""Words for what is printed on goods, papers and plaques that nobody asks about.

Brands are the world's own invented words, from a seed that no world of the shipped sizes counts up
to: none is the name of a thing that is asked about.
"""

from __future__ import annotations

from functools import cache

from simulator.world.facts.names import words_of
from simulator.world.pictures.traits import Draws

GOODS = (
    "Rolled oats", "Strong tea", "Wholegrain rice", "Tomato soup", "Plum jam", "Sea salt",
    "Ginger biscuits", "Washing powder", "Olive oil soap", "Chopped tomatoes", "Cocoa powder",
    "Corn flakes", "Brown sugar", "Red lentils", "Paper towels", "Ground coffee", "Apple rings",
    "Egg noodles", "Dog biscuits", "Cane sugar", "Bread flour", "Peach halves", "Chickpeas",
    "Candles", "Mustard", "Salted crackers", "Muesli", "Dish cloths", "Fruit tea", "Wheat bran",
)  # fmt: skip
"""What is sold, in plain words."""

CLAIMS = (
    "Original", "Classic", "Everyday", "Simply good", "Well made", "Small batch", "Good things",
    "From the kitchen", "Pure & plain", "As it should be", "Family size", "Since forever",
)  # fmt: skip
"""Words of packs that say nothing."""

TITLES = (
    "Collected Stories", "A Novel", "Selected Essays", "The Complete Guide", "Poems", "A Memoir",
    "Letters", "A Short History", "Notes from Home", "The Illustrated Edition",
)  # fmt: skip
"""Words of covers that name no book."""

_LINES = (
    "Store in a cool, dry place and close well after opening.",
    "Ingredients: wheat flour, sugar, vegetable oil, salt, barley malt, raising agent.",
    "Best before the date printed on the base of this pack.",
    "May contain traces of nuts, milk and sesame.",
    "Keep out of reach of children. Do not expose to direct sunlight.",
    "We choose every harvest by hand and never hurry what takes its time.",
    "Questions? Write to us, we read every letter.",
    "Please recycle this carton with paper and card.",
    "Minutes of the last meeting were read and agreed without changes.",
    "The committee thanks all who gave their time over the winter.",
    "Deliveries are taken at the side door between eight and eleven.",
    "Gift of the artist's family; shown here for the first time since it was restored.",
    "Oil on canvas, unsigned, found under a later coat of paint.",
    "Serving suggestion: warm gently and stir from time to time.",
    "Every part can be replaced; see the list on the last page.",
    "The second half follows after the break, weather permitting.",
)


@cache
def _brands() -> tuple[str, ...]:
    return words_of("place")[::37][:240]


def brand(draw: Draws, name: str) -> str:
    """An invented word; names of the world have others beside it."""
    return draw.pick(name, _brands())


def small_print(draw: Draws, name: str = "small-print") -> tuple[str, ...]:
    """Sentences as running words, more than any label has room for."""
    first = draw.count(name, 0, len(_LINES) - 1)
    step = draw.pick(f"{name}-step", (1, 3, 5, 7))
    lines = (_LINES[(first + step * k) % len(_LINES)] for k in range(len(_LINES)))
    return tuple(" ".join(lines).split()) * 3
