"""Landmarks."""

from __future__ import annotations

from simulator.world.things.kind import Kind

KINDS: dict[str, Kind] = {}
