"""`python -m simulator.world.language.voices.check NAME`: what is wrong with a voice (or one of its
files), by line."""

from __future__ import annotations

import sys
from pathlib import Path

from simulator.world.language.voices.voice_reader import VOICES, voice_folder
from simulator.world.language.voices.voice_validation import check_voice, read_file


def main() -> int:
    """Exit status 0 when nothing is wrong, 2 when nothing was asked for."""
    if not sys.argv[1:]:
        sys.stderr.write(
            f"give the name of a voice, a folder in {VOICES}, or your own, with a /.\n"
        )
        return 2
    wrong: list[str] = []
    for name in sys.argv[1:]:
        path = voice_folder(name)
        found = read_file(path).wrong if path.is_file() else check_voice(path)
        wrong += [f"{path.parent if path.is_file() else Path(name)}/{fault}" for fault in found]
    for fault in wrong:
        sys.stdout.write(f"{fault}\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
