"""The lab in a real browser: several kinds at once, about a thing that is pointed at."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from ui_parts import Server, hold, picture


def look(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?tab=lab")
    expect(page.locator("#mm-lab .mm-lab h2")).to_have_text("low-light@3")


def slide(page: Page, kind: str, severity: int) -> None:
    page.locator(f"#mm-k-{kind}").fill(str(severity))


def test_what_is_set_while_the_server_works_is_shown(page: Page, server: Server) -> None:
    look(page, server)
    let_go = hold(page, "/queue/join")
    slide(page, "low-light", 0)
    page.wait_for_timeout(400)
    slide(page, "rotated", 4)
    page.wait_for_timeout(400)
    slide(page, "blurred", 2)
    page.wait_for_timeout(400)
    let_go()
    expect(page.locator("#mm-lab h2")).to_have_text("blurred@2+rotated@4")
    page.wait_for_timeout(500)
    expect(page.locator("#mm-lab h2")).to_have_text("blurred@2+rotated@4")


def box(page: Page) -> list[int]:
    page.wait_for_function("document.querySelector('#mm-lab .mm-lab').dataset.focus !== ''")
    return [int(v) for v in page.locator("#mm-lab .mm-lab").get_attribute("data-focus").split(",")]


def shares(page: Page, *points: tuple[float, float]) -> list[tuple[float, float]]:
    area = page.locator("#mm-lab .mm-frame").bounding_box()
    return [(area["x"] + x * area["width"], area["y"] + y * area["height"]) for x, y in points]


def test_several_kinds_at_once_with_a_record(page: Page, server: Server, tmp_path: Path) -> None:
    look(page, server)
    slide(page, "rotated", 2)
    slide(page, "blurred", 1)
    page.locator(".mm-knob[data-kind=blurred] select").select_option("defocus")
    expect(page.locator("#mm-lab h2")).to_have_text("low-light@3+blurred:defocus@1+rotated@2")
    expect(page.locator(".mm-ladder circle")).to_have_count(2)
    expect(page.locator("#mm-lab .mm-done")).not_to_have_attribute(
        "open", ""
    )  # the record is folded
    with page.expect_download() as saved:
        page.click("#mm-download")
    saved.value.save_as(tmp_path / "done.zip")
    with zipfile.ZipFile(tmp_path / "done.zip") as archive:
        (record,) = (n for n in archive.namelist() if n.endswith(".json"))
        kinds = [step["kind"] for step in json.loads(archive.read(record))["steps"]]
    assert sorted(kinds) == ["blurred", "low-light", "rotated"]
    page.click("[data-knob-reset]")
    expect(page.locator("#mm-lab h2")).to_have_text("clean: unchanged")


def test_a_box_is_drawn_with_the_pointer(page: Page, server: Server) -> None:
    look(page, server)
    (start, end) = shares(page, (0.25, 0.2), (0.75, 0.6))
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*shares(page, (0.5, 0.4))[0])
    page.mouse.move(*end)
    expect(page.locator(".mm-drawn")).to_be_visible()
    page.mouse.up()
    # the sample is 240 × 320
    assert box(page) == pytest.approx([60, 64, 180, 192], abs=2)
    expect(page.locator(".mm-in-after .mm-focusbox")).to_be_visible()
    page.click(".mm-exact summary")
    expect(page.locator(".mm-boxtext")).to_have_value(", ".join(map(str, box(page))))
    page.locator(".mm-boxtext").fill("9, 9, 3, 3")
    page.keyboard.press("Enter")
    expect(page.locator("#mm-lab")).to_contain_text("inverted")


def test_a_box_drawn_in_a_turned_picture_is_of_the_picture_before(
    page: Page, server: Server
) -> None:
    look(page, server)
    slide(page, "low-light", 0)
    slide(page, "rotated", 4)
    expect(page.locator("#mm-lab h2")).to_have_text("rotated@4")
    page.locator("#mm-lab .mm-slider").fill("0")  # nothing but the picture after
    # a tiny box in the middle of the thing, where the page shows it
    shown = page.locator(".mm-in-after .mm-focusbox").bounding_box()
    x, y = shown["x"] + shown["width"] / 2, shown["y"] + shown["height"] / 2
    page.mouse.move(x - 4, y - 4)
    page.mouse.down()
    page.mouse.move(x, y)
    page.mouse.move(x + 4, y + 4)
    page.mouse.up()
    left, top, right, bottom = box(page)
    # the thing's own box is 70, 90, 170, 230
    assert (left + right) / 2 == pytest.approx(120, abs=6)
    assert (top + bottom) / 2 == pytest.approx(160, abs=6)


def test_both_pictures_are_seen_and_a_box_is_of_the_one_it_was_drawn_in(
    page: Page, server: Server
) -> None:
    look(page, server)
    slide(page, "low-light", 0)
    slide(page, "rotated", 4)
    expect(page.locator("#mm-lab h2")).to_have_text("rotated@4")
    expect(page.locator("#mm-lab .mm-slider")).to_have_value("50")
    (start, end) = shares(page, (0.2, 0.5), (0.4, 0.7))  # in the half that shows it before
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end)
    page.mouse.up()
    assert box(page) == pytest.approx([48, 160, 96, 224], abs=2)  # and is not turned
    page.locator("#mm-lab .mm-slider").fill("80")
    slide(page, "rotated", 3)
    expect(page.locator("#mm-lab h2")).to_have_text("rotated@3")
    frame = "#mm-lab .mm-frame"
    expect(page.locator(frame)).to_have_attribute("style", re.compile("80%"))  # where it was put


def test_a_thing_is_found_by_a_tap(page: Page, server: Server) -> None:
    look(page, server)
    page.mouse.click(*shares(page, (0.5, 0.5))[0])
    assert box(page) == pytest.approx([70, 90, 170, 230], abs=12)


def test_a_picture_of_ones_own_begins_without_a_box(page: Page, server: Server) -> None:
    look(page, server)
    page.mouse.click(*shares(page, (0.5, 0.5))[0])
    box(page)
    file = {"name": "mine.jpg", "mimeType": "image/jpeg", "buffer": picture(3)}
    page.locator("#mm-upload input[type=file]").set_input_files(file)
    expect(page.locator("#mm-lab figcaption").first).to_contain_text("The whole picture is taken")


def test_the_lab_refuses_what_is_no_picture(page: Page, server: Server) -> None:
    look(page, server)
    file = {"name": "text.jpg", "mimeType": "image/jpeg", "buffer": b"no picture at all"}
    page.locator("#mm-upload input[type=file]").set_input_files(file)
    expect(page.locator("#mm-lab")).to_contain_text("not a picture")
