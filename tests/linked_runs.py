"""A run over two links in which the smaller picture loses every answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

from formula_pictures import sample
from PIL import Image
from small_runs import Equality, make_session

from mmrag.files.images import LazyImage
from mmrag.records import Capture, Query, Reply, Session
from simulator.link.device_profiles import over_links, read_links
from simulator.run.capture_optics import CaptureOptics
from simulator.run.run_config import RunConfig
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_store import RunStore

BOX = (100.0, 60.0, 220.0, 180.0)
LINKS = read_links("radio:whole,stream:thing")


class SeesLargePictures:
    """Right where the picture has a certain size; every seventh wearer gets a wrong answer."""

    async def answer(self, query: Query) -> Reply:
        number = int(query.session_id[1:])
        right = query.image.pil().width >= 300 and number % 7
        return Reply(text=f"answer {number}-{query.turn_index}" if right else "something else")


def write_linked_run(folder: Path, turns: int = 2) -> Path:
    picture = LazyImage.from_pil(Image.fromarray(sample(2, (320, 240))[0]))
    capture = Capture(image=picture, focus=BOX)
    sessions = [
        Session(id=f"s{n:03d}", capture=capture, turns=make_session(n, turns=turns).turns)
        for n in range(20)
    ]
    plan = Plan(degradations=over_links(("clean",), LINKS), links=LINKS)
    with RunStore(folder) as store:
        store.set_meta("judge", Equality.id)
        store.set_meta("config", RunConfig(link="radio:whole,stream:thing"))
        asyncio.run(
            run_sessions(
                iter(list(enumerate(sessions))), SeesLargePictures(), Equality(), store, plan,
                optics=CaptureOptics(links=LINKS),
            )
        )  # fmt: skip
    return folder
