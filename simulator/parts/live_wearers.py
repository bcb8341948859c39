"""What the live wearers of a run know: the facts of its world, and how to look again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmrag.errors import DataError
from simulator.run.live_conversation import Wearers
from simulator.wearer.talk import TalkBounds
from simulator.wearer.waiting import Waiting

if TYPE_CHECKING:
    from simulator.datasets.session_source import SessionSource


def make_wearers(source: SessionSource, patience: float = 0.0) -> Wearers:
    """Wearers for a data set, who wait so many seconds for a word (0: for ever). Of a world they
    know all; of any other data nothing but their questions."""
    from simulator.parts.agent_resources import cache_folder
    from simulator.wearer.further_pictures import PictureRetaker
    from simulator.world.sessions import World

    folder, bounds = cache_folder() / "looks", TalkBounds(waiting=Waiting.of(patience))
    if not isinstance(source, World):
        return Wearers(bounds=bounds)
    from simulator.world.checks.verify import read_facts

    request = source.manifest.get("request", {})
    try:
        facts = read_facts(source.folder, source.manifest)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{source.folder}: its facts cannot be read ({error}); run `mmrag world verify` on it."
        ) from error
    jpeg = int(request.get("jpeg", 88))
    looks = PictureRetaker(folder, jpeg) if request.get("pictures", True) else None
    return Wearers(facts, looks, bounds)
