"""Typesetting on sheets, and where a text lies on the mesh that carries its sheet."""

from __future__ import annotations

import numpy as np
import pytest

from mmrag.errors import SpecError
from simulator.studio.solid.meshes import lathe, sheet, shifted
from simulator.studio.solid.prints import FACES, Sheet, point_on, prints_on
from simulator.world.pictures.traits import Draws

INK = (20.0, 20.0, 20.0)
PAPER = (240.0, 240.0, 240.0)


@pytest.mark.parametrize("face", FACES)
def test_a_text_stays_in_its_box_and_fills_one_side_of_it(face) -> None:
    page = Sheet(0.4, 0.2, PAPER, side=400)
    page.text("The Roads of Kelpisk Dorrum", (0.1, 0.2, 0.9, 0.8), INK, face, lines=3)
    ys, xs = np.nonzero(page.rgb.min(2) < 120)
    assert xs.min() >= 40
    assert ys.min() >= 40
    assert xs.max() < 360
    assert ys.max() < 160
    assert np.ptp(xs) > 0.85 * 320 or np.ptp(ys) > 0.75 * 120


def test_a_text_is_noted_where_its_ink_is_even_on_a_part_of_a_sheet() -> None:
    page = Sheet(0.3, 0.2, PAPER, side=600)
    half = page.part((0.5, 0.0, 1.0, 1.0))
    half.text("  Hox   Hill ", (0.1, 0.1, 0.9, 0.9), INK, lines=2)
    (text,) = page.texts
    ys, xs = np.nonzero(page.rgb.min(2) < 120)
    assert text.text == "Hox Hill"
    ink = (xs.min(), ys.min(), xs.max() + 1, ys.max() + 1)
    assert np.allclose(text.box, ink, atol=1.5)
    assert xs.min() > 300


def test_the_height_of_a_capital_is_that_of_an_h() -> None:
    page = Sheet(0.2, 0.2, PAPER, side=500)
    page.text("HHH", (0.1, 0.1, 0.9, 0.9), INK, lines=2)
    ys, _ = np.nonzero(page.rgb.min(2) < 120)
    assert page.texts[0].cap == pytest.approx(np.ptp(ys) + 1, abs=2)


def test_prints_on_a_flat_sheet_lie_where_they_were_drawn() -> None:
    page = Sheet(0.4, 0.2, PAPER, side=800)
    page.text("HHHH", (0.5, 0.0, 1.0, 0.5), INK, lines=2)
    (found,) = prints_on(sheet(0.4, 0.2), page)
    x0, y0, x1, y1 = np.array(page.texts[0].box) / 2000
    assert found.corners == pytest.approx(
        np.array(
            [
                (x0 - 0.2, 0, 0.2 - y1), (x1 - 0.2, 0, 0.2 - y1), (x1 - 0.2, 0, 0.2 - y0),
                (x0 - 0.2, 0, 0.2 - y0)
            ]
        ),
        abs=1e-5
    )  # fmt: skip
    assert found.cap == pytest.approx(page.texts[0].cap / 2000, rel=1e-3)


def test_prints_on_a_round_label_lie_on_its_surface_and_face_the_viewer() -> None:
    page = Sheet(0.25, 0.05, PAPER, side=900)
    page.text("Torvick", (0.4, 0.2, 0.6, 0.8), INK, lines=2)
    (found,) = prints_on(shifted(lathe([(0.04, 0.0), (0.04, 0.05)]), z=0.1), page)
    assert np.hypot(found.corners[:, 0], found.corners[:, 1]) == pytest.approx(0.04, abs=1e-4)
    assert (found.corners[:, 1] < 0).all()
    assert found.corners[0, 0] < 0 < found.corners[1, 0]
    assert found.corners[0, 2] < found.corners[3, 2]


def test_a_point_of_no_triangle_is_the_nearest_corner() -> None:
    mesh = sheet(0.4, 0.2)
    assert point_on(mesh, 2.0, 2.0) == pytest.approx((0.2, 0, 0.2))


def test_letters_that_a_font_lacks_are_set_in_another() -> None:
    page = Sheet(0.4, 0.2, PAPER)
    page.text("Café", (0, 0, 1, 1), INK, FACES[11], lines=2)
    assert page.texts[0].text == "Café"


@pytest.mark.parametrize("face", FACES)
def test_a_text_that_no_face_can_set_is_an_error_and_no_empty_label(face) -> None:
    page = Sheet(0.4, 0.2, PAPER)
    with pytest.raises(SpecError, match="Latin letters"):
        page.text("Oat 燕麦", (0, 0, 1, 1), INK, face, lines=2)
    page.text("Žluťoučký Ærøskøbing ½", (0, 0, 1, 1), INK, face, lines=2)
    assert (page.rgb.min(2) < 120).any()


def test_small_print_and_codes_are_not_texts_and_come_out_the_same_again() -> None:
    def drawn() -> Sheet:
        page = Sheet(0.2, 0.2, PAPER, side=300)
        page.small_print((0.1, 0.1, 0.9, 0.5), 6, INK, Draws("a"))
        page.barcode((0.1, 0.6, 0.6, 0.9), Draws("b"))
        page.grain(0.02)
        return page

    one, two = drawn(), drawn()
    assert not one.texts
    assert np.array_equal(one.rgb, two.rgb)
    assert (one.rgb < 80).any()


def test_an_edge_outlines_letters_and_leaves_them_readable() -> None:
    page = Sheet(0.4, 0.2, PAPER, side=400)
    page.text("HOX", (0.1, 0.2, 0.9, 0.8), (250.0, 250.0, 250.0), edge=INK, lines=2)
    plain = Sheet(0.4, 0.2, PAPER, side=400)
    plain.text("HOX", (0.1 + 5 / 400, 0.2 + 5 / 200, 0.9 - 5 / 400, 0.8 - 5 / 200), INK, lines=2)
    dark, letters = page.rgb.min(2) < 60, plain.rgb.min(2) < 60
    assert dark.any()
    assert not (dark & letters).any()
    assert page.texts == plain.texts
