"""The page in a real browser: no request, no error, nothing wider than the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from planted_runs import plant
from test_accessibility import serious

from simulator.reports.comparison.paired_runs import ComparedRun, compare_runs
from simulator.reports.draw.write import make_report, write_comparison
from simulator.reports.figures.report import ReportOptions


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_quiet_and_fits(
    browser: Any, sweep_report: Path, width: int, scheme: str
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    noise: list[str] = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith("data:") else noise.append(request.url),
    )
    url = (sweep_report / "report.html").as_uri()
    page.goto(url)
    assert noise == [url]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("svg[role=img]").count() >= 8
    assert page.locator("img:not([alt])").count() == 0
    broken = "[...document.images].filter(i => !i.naturalWidth).length"
    assert page.evaluate(broken) == 0
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_reports(
    browser: Any, few: Path, sweep_report: Path, scheme: str, width: int
) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 844})
    for file in (few / "compare.html", sweep_report / "report.html"):
        page.goto(file.as_uri())
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert not serious(page), file
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Any, sweep_report: Path, scheme: str) -> None:
    """WCAG AA: 4.5 to 1 for the text roles on the grounds they stand on."""
    page = browser.new_page(color_scheme=scheme)
    page.goto((sweep_report / "report.html").as_uri())
    ratios = page.evaluate(
        """() => {
        const root = getComputedStyle(document.documentElement);
        const light = name => {
            const hex = root.getPropertyValue(name).trim().slice(1);
            const full = hex.length === 3 ? [...hex].map(c => c + c).join('') : hex;
            const [r, g, b] = [0, 2, 4].map(i => parseInt(full.slice(i, i + 2), 16) / 255)
                .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const found = {};
        for (const text of ['--ink', '--muted', '--accent'])
            for (const ground of ['--card', '--bg', '--head']) {
                const [a, b] = [light(text), light(ground)].sort((x, y) => y - x);
                found[text + ground] = (a + 0.05) / (b + 0.05);
            }
        return found; }"""
    )
    assert len(ratios) == 9
    assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}
    page.close()


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The widest tables, +100.0 % [+100.0, +100.0] nearly throughout, and the deepest tints."""
    folder = tmp_path_factory.mktemp("few")
    options = ReportOptions(resamples=50, failures=0)
    for name, base in (("wrong", -9.0), ("right", 9.0)):
        plant(folder / name, sessions=3, conditions=("clean", "low-light@1", "truncated@5"),
              base=base, failures=0.0, shared_picture=True)  # fmt: skip
    make_report([folder / "right"], folder / "out", options)
    sides = [ComparedRun(folder=str(folder / name)) for name in ("wrong", "right")]
    write_comparison(compare_runs(sides, options), folder / "out")
    return folder / "out"


def test_on_a_phone_the_first_figures_of_slices_show(browser: Any, sweep_report: Path) -> None:
    page = browser.new_page(viewport={"width": 320, "height": 640})
    page.goto((sweep_report / "report.html").as_uri())
    ends = page.evaluate(
        """[...document.querySelectorAll('#slices0 td:nth-child(2)')].map(cell =>
        [cell, cell.closest('.scroll')].map(one => one.getBoundingClientRect().right))"""
    )
    assert ends
    assert all(cell < box for cell, box in ends)  # what is further right is scrolled to
    page.close()


def test_all_columns_show_on_a_desktop(browser: Any, few: Path, sweep_report: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    for folder in (few, sweep_report):
        page.goto((folder / "report.html").as_uri())
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        cut = page.evaluate(
            """[...document.querySelectorAll('.scroll')]
            .filter(box => box.scrollWidth > box.clientWidth).map(box => box.textContent)"""
        )
        assert cut == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_tinted_cells(
    browser: Any, few: Path, sweep_report: Path, scheme: str
) -> None:
    """WCAG AA on what is really drawn: a cell's tint lies over the card."""
    page = browser.new_page(color_scheme=scheme)
    for file in (few / "report.html", few / "compare.html", sweep_report / "report.html"):
        page.goto(file.as_uri())
        worst = page.evaluate(
            """() => {
            const drawn = document.createElement('canvas').getContext('2d');
            const light = colours => {
                for (const colour of colours) {
                    drawn.fillStyle = colour;
                    drawn.fillRect(0, 0, 1, 1);
                }
                const [r, g, b] = [...drawn.getImageData(0, 0, 1, 1).data].map(v => v / 255)
                    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const card = getComputedStyle(document.querySelector('section')).backgroundColor;
            const ratios = [...document.querySelectorAll('td[style*=background]')].flatMap(cell => {
                const ground = [card, getComputedStyle(cell).backgroundColor];
                return [cell, ...cell.querySelectorAll('*')].map(text => {
                    const pair = [light(ground), light([...ground, getComputedStyle(text).color])];
                    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
                });
            });
            return Math.min(...ratios); }"""
        )
        assert 4.5 <= worst < 22
    page.close()
