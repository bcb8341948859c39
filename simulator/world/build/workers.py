"""Work in several processes that end with the one that began them."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from mmrag.errors import StoreError, UsageError

Task = TypeVar("Task")


def check_workers(workers: int) -> None:
    """Refuse to build with nobody."""
    if workers < 1:
        raise UsageError(f"{workers} workers build nothing; give --workers 1 or more.")


def in_processes(
    work: Callable[[Task], object],
    tasks: Sequence[Task],
    workers: int,
    prepare: Callable[..., None],
    given: tuple[Any, ...],
) -> Generator[Task, None, None]:
    """Do the tasks, in this process or in several, and name each when it is done. `prepare` is
    called with what is `given` once in every process, before its first task."""
    if workers == 1 or len(tasks) < 2:
        prepare(*given)
        for task in tasks:
            work(task)
            yield task
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(prepare, given),
    )
    try:
        futures = {pool.submit(work, task): task for task in tasks}
        for future in as_completed(futures):
            future.result()
            yield futures[future]
    except BrokenProcessPool as error:
        raise StoreError(
            "a worker died, most likely for want of memory. Run the same command again, with "
            "fewer --workers: it continues where it stopped."
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(prepare: Callable[..., None], given: tuple[Any, ...]) -> None:
    """Workers wait for tasks for ever; without a watch they would outlive a killed parent."""
    import multiprocessing
    import threading

    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    prepare(*given)
