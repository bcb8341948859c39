from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmrag.errors import SpecError
from simulator.optics import VARIANTS, DegradationSpec, QualityMix, Step


def steps() -> st.SearchStrategy[Step]:
    def of(kind: str) -> st.SearchStrategy[Step]:
        return st.builds(
            Step,
            kind=st.just(kind),
            variant=st.sampled_from((None, *VARIANTS[kind])),
            severity=st.integers(0, 5),
        )

    jpeg = st.builds(Step, kind=st.just("jpeg"), severity=st.integers(1, 100))
    return st.sampled_from(sorted(VARIANTS)).flatmap(of) | jpeg


@given(st.lists(steps(), max_size=6, unique_by=lambda step: step.kind), st.randoms())
def test_any_chain_parses_back_however_it_is_written(chain: list[Step], random) -> None:
    text = "+".join(map(str, chain)) or "clean"
    spec = DegradationSpec.parse(text)
    assert DegradationSpec.parse(str(spec)) == spec
    random.shuffle(chain)
    assert DegradationSpec.parse(" + ".join(map(str, chain)) or "clean") == spec
    assert sorted(map(str, spec.steps)) == sorted(map(str, chain))


def test_the_examples_of_the_docs() -> None:
    assert str(DegradationSpec.parse("low-light@3")) == "low-light@3"
    assert str(DegradationSpec.parse("blurred:motion@2+rotated@1")) == "blurred:motion@2+rotated@1"
    assert DegradationSpec.parse("clean") == DegradationSpec()
    assert DegradationSpec.parse("low-light@0").is_identity
    assert not DegradationSpec.parse("low-light@0+jpeg@50").is_identity
    both = DegradationSpec.parse("occluded:finger@1+occluded:fence@2")
    assert len(both.steps) == 2


@pytest.mark.parametrize(
    "text",
    ["", "low-light", "low-light@6", "dark@1", "blurred:finger@1", "low-light:motion@1", "a+b",
     "low-light@1+low-light@2", "blurred@1+blurred:motion@1", "jpeg@0", "jpeg@101", "rotated@-1",
     "clean+rotated@1", "rotated@1.5", "+".join(["rotated@1"] * 99)],
)  # fmt: skip
def test_what_is_no_spec_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(SpecError, match=r"write|[Kk]nown|stands twice|severity|at most"):
        DegradationSpec.parse(text)


def test_mix_meets_the_published_shares() -> None:
    mix = QualityMix.crag_mm()
    names = [f"s{i}" for i in range(6248)]
    drawn = mix.assign(names, seed=1)
    counts = {"normal": 0, **dict.fromkeys(VARIANTS, 0)}
    for spec in drawn.values():
        counts[spec.steps[0].kind if spec.steps else "normal"] += 1
    # Stratified: each count is met to within one.
    assert all(abs(counts[kind] - mix.egocentric.get(kind, 0)) <= 1 for kind in counts)
    levels = [spec.steps[0].severity for spec in drawn.values() if spec.steps]
    assert all(abs(levels.count(level) / len(levels) - 0.2) < 0.03 for level in range(1, 6))
    # Neither the order of the names nor repeating matters; another seed does.
    assert mix.assign(names[::-1], seed=1) == drawn
    assert mix.assign(names, seed=2) != drawn


def test_single_draws_have_the_shares_on_average_and_depend_on_the_item_alone() -> None:
    mix = QualityMix.crag_mm()
    specs = [mix.draw(f"s{i}", seed=3) for i in range(4000)]
    normal = sum(not spec.steps for spec in specs) / len(specs)
    assert abs(normal - 5143 / 6248) < 0.025
    assert mix.draw("s7", seed=3) == specs[7]
    public = [mix.draw(f"s{i}", seed=3, is_ego=False) for i in range(4000)]
    assert abs(sum(not spec.steps for spec in public) / 4000 - 1593 / 1695) < 0.015
