"""From a document to full HTML, with everything that surrounds an article on a real site."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from simulator.world.build.randomness import Draw
from simulator.world.pages.page_document import Document
from simulator.world.pages.page_writer import say_time
from simulator.world.pages.sites import SITES, Site

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup


def to_html(document: Document, seed: int) -> str:
    """Render a document. Everything that comes from a world is escaped by the template engine."""
    draw = Draw(seed, "markup", document.url)
    return _template(document.style).render(
        doc=document,
        site=_site(document),
        when=say_time(document.date, with_hour=True),
        mark=f"{draw.bits():016x}"[:10],
        cookie=draw.pick(_COOKIES),
        advert=draw.pick(_ADVERTS),
        aside_title=draw.pick(_ASIDES),
        small_print=draw.pick(_SMALL_PRINT),
        author=draw.pick(_AUTHORS),
        kicker=draw.pick(_KICKERS),
        numbers=[draw.between(11, 980) for _ in range(3)],
        comment=_comment,
    )


def _site(document: Document) -> Site:
    host = document.url.split("/")[2]
    return next(site for site in SITES[document.style] if site.host == host)


@cache
def _template(style: str) -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("simulator.world.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # one build, one text
    )
    return environment.get_template(f"{style}.html.j2")


def _comment(text: str) -> Markup:
    from markupsafe import Markup

    # Entities mean nothing inside a comment; what could end it is replaced instead.
    return Markup(f"<!-- {text.replace('--', '––').replace('>', '›')} -->")  # noqa: S704


_COOKIES = (
    "We value your privacy. We and 214 partners store information on your device.",
    "This site uses cookies to remember your choices.",
    "Cookies help us to deliver our services. Learn more in our policy.",
)
_ADVERTS = (
    "Mattresses at half price until Sunday. Sleep now, pay later.",
    "Learn a language in your lunch break. First week free.",
    "Compare electricity in your area and switch in five minutes.",
    "The only shoe polish you will ever need.",
    "Holiday flats from nine a night. Limited dates.",
)
_ASIDES = ("You may also like", "Related pages", "Others are reading", "See also")
_SMALL_PRINT = (
    "All rights reserved.",
    "Text may be reused with a link to this page.",
    "We may earn a commission when you buy through links.",
)
_AUTHORS = (
    "M. Editor", "the desk", "our correspondent", "A guest writer", "Staff", "The weekend team",
)  # fmt: skip
_KICKERS = ("Local", "Consumer", "Background", "In depth", "People and things")
