"""One cluster for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from cluster_parts import MEMORY


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 2, "object_store_memory": MEMORY, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    yield cluster
    cluster.shutdown()
