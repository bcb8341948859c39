from __future__ import annotations

import numpy as np
import pytest

from mmrag.records import Box
from simulator.optics.files.samples import sample


@pytest.fixture(scope="session")
def scene() -> tuple[np.ndarray, Box]:
    """A picture with much to see on its main thing, and that thing's box."""
    return sample(3, (320, 240))
