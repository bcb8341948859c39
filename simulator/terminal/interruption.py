"""What ends work before its end and is no fault of it: one line says how to go on.

Ctrl-C (exit code 130), and a server that refuses the key or the account (exit code 1).
"""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Generator

from mmrag.errors import Denied


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with a sentence that says what is kept and how to go on."""


@contextlib.contextmanager
def interruptible(kept: str, again: str | None = None) -> Generator[None]:
    """Around work that can be resumed; `again` is how, else the same command.

    >>> with interruptible("what was built in ix"):
    ...     pass
    """
    # --fresh would throw away what is kept
    same = ["mmrag", *(word for word in sys.argv[1:] if word != "--fresh")]
    go_on = again or shlex.join(same)
    try:
        yield
    except Denied as error:
        words = str(error).rstrip(".")
        raise Denied(f"{words}. Mend that, then continue with: {go_on}") from error
    except Interrupted:
        raise
    except KeyboardInterrupt as error:
        raise Interrupted(f"interrupted; {kept} is kept. Continue with: {go_on}") from error
