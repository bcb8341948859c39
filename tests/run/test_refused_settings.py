"""What no run can be, by which words it is refused, whoever asks for it."""

from __future__ import annotations

import pytest

from mmrag.errors import SpecError
from simulator.run.config import make_config

NAN = float("nan")


@pytest.mark.parametrize(("settings", "words"), [
    ({"spoken": "rain@3"}, "rain"),
    ({"spoken": "clean", "degrade": "mix"}, "spoken"),
    ({"crossed": True}, "spoken"),
    ({"spoken": "clean", "wearer": "person"}, "person"),
    ({"spoken": "clean", "degrade": "low-light@3"}, "crossed"),
    ({"stages": "named,luck"}, "no stage is called 'luck'"),
    ({"stages": "named:crop"}, "only pointed has ways"),
    ({"stages": "pointed,pointed:drawn"}, "point in one way"),
    ({"stages": ","}, "names no stage"),
    ({"stages": "all", "wearer": "live"}, "leave --stages and --task"),
    ({"stages": "all", "degrade": "mix"}, "leave --stages and --task"),
    ({"wearer": "angry"}, "scripted or live"),
    ({"wearer": "live", "after_stop": "generate"}, "leaves for good"),
    ({"wearer": "live", "reference_history": True}, "really said"),
    ({"patience": 3}, "patience"),
    ({"wearer": "live", "patience": -1}, "patience"),
    ({"wearer": "live", "patience": NAN}, "patience"),
    ({"gaze": "yes"}, "gaze is on or off, not 'yes'"),
    ({"link": "carrier-pigeon"}, "--link"),
    ({"link": "radio:telepathy"}, "--link"),
    ({"link": ","}, "--link"),
    ({"link": "nowhere.yaml"}, "--link"),
    ({"faults": "web-emty"}, "no fault is called 'web-emty'.*web-empty"),
    ({"faults": "web-empty@6"}, "1 .*to 5"),
    ({"faults": "web@0"}, "1 .*to 5"),
    ({"faults": "low-light@3"}, "no fault is called 'low-light'"),
    ({"faults": ","}, "names no fault"),
], ids=str)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        make_config(settings)
