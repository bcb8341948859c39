"""Gradio is an extra: where it is missing, the command and the doctor say which one, and how."""

from __future__ import annotations

import sys

import pytest
from called_command import mmrag

from simulator.cli import doctor_checks as doctoring


def test_the_app_says_which_extra_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gradio", None)
    assert "pip install 'mmrag[app]'" in mmrag("ui", code=1).stderr


def test_the_doctor_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctoring, "EXTRAS", {"no-such-package": ("app", "the app")})
    findings = doctoring.examine()
    assert findings["optional"]["no-such-package"] is None
    (hint,) = [h for h in findings["hints"] if "no-such-package" in h]
    assert hint == "no-such-package is missing, needed for the app: pip install 'mmrag[app]'"
