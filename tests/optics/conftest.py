from __future__ import annotations

import numpy as np
import pytest
from formula_pictures import sample

from mmrag.records import Box


@pytest.fixture(scope="session")
def scene() -> tuple[np.ndarray, Box]:
    """A picture with much to see on its main thing, and that thing's box."""
    return sample(3, (320, 240))
