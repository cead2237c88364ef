"""The page without eyes or mouse: names of all controls, what is read aloud, and the keyboard alone."""

from typing import Any

import pytest

from tests.web.browsing import DECAY, EQUATIONS, LONG, NEEDS_BROWSER, drop, fit

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright drives the browser")
pytestmark = NEEDS_BROWSER

NAMELESS = """() => {
  const label = (one) => one.getAttribute("aria-label") || one.labels?.length;
  const named = (one) => label(one) || one.textContent.trim() || one.title;
  const controls = document.querySelectorAll("button, a, input, select, textarea, [tabindex='0']");
  return [...controls].filter((one) => !named(one)).map((one) => one.outerHTML.slice(0, 120));
}"""
CONTRAST = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const shares = [r, g, b].map((one) => one / 255);
    const [x, y, z] = shares.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const tags = "p, li, th, td, button, a.button, label, h2, h3, summary, span";
  const texts = [...document.querySelectorAll(tags)]
    .filter((one) => one.offsetParent && one.textContent.trim() && !one.closest(".katex"));
  const ratios = texts.map((one) => {
    const [a, b] = [light(rgb(getComputedStyle(one).color)), light(behind(one))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
  return Math.min(...ratios);
}"""


def tab_to(page: Any, selector: str, most: int = 60) -> None:
    """Press Tab until the element has the focus, which must be seen."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            style = (
                "getComputedStyle(document.activeElement.closest('label.button') ?? document.activeElement)"
            )
            assert page.evaluate(f"{style}.outlineStyle") != "none"
            return
    raise AssertionError(f"Tab does not lead to {selector}")


def test_the_whole_way_with_the_keyboard_alone(page: Any) -> None:
    tab_to(page, "#file")
    tab_to(page, "#paste")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "pasted"
    page.keyboard.insert_text(DECAY)
    tab_to(page, "#use-pasted")
    page.keyboard.press("Enter")
    page.wait_for_selector("#preview table")
    tab_to(page, "select[aria-label='Role of y']")
    tab_to(page, "[name=time_budget]")
    page.keyboard.insert_text("3")
    tab_to(page, "#options summary")
    page.keyboard.press("Enter")
    tab_to(page, "[name=network]")
    page.keyboard.press("Space")
    tab_to(page, "#start")
    page.keyboard.press("Enter")
    page.wait_for_selector("#stop:focus, #result-title:focus", timeout=LONG)  # the focus is never lost
    page.wait_for_selector("#result-title:focus", timeout=LONG)
    assert page.inner_text("#progress").startswith("done in")
    page.wait_for_selector(EQUATIONS)
    tab_to(page, "[name=candidate]")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(".candidates tbody tr:nth-child(2).chosen")
    sync_api.expect(page.locator("#result .facts[role=status]").first).to_contain_text("Candidate 2")
    tab_to(page, ".sliders input")
    before = page.evaluate("document.activeElement.getAttribute('aria-valuetext')")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-valuetext')") != before
    tab_to(page, "a[download='report.html']")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "report.html"


def test_everything_has_a_name_and_contrast(page: Any) -> None:
    drop(page, DECAY, "decay.csv")
    page.wait_for_selector("#preview table")
    assert page.evaluate(CONTRAST) >= 4.5
    fit(page)
    page.wait_for_selector(EQUATIONS, timeout=LONG)
    page.wait_for_selector("[aria-label='Constants'] table")
    assert page.evaluate(NAMELESS) == []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CONTRAST) >= 4.5  # AA
    chart = page.get_by_role("img", name="x over time").first.get_attribute("aria-label")
    assert "values from 0.05" in chart
    assert "to 3" in chart
    page.get_by_role("heading", name="Result")
    page.get_by_role("navigation", name="Parts of the result").get_by_role(
        "button", name="Take it home"
    ).click()
    assert page.evaluate("document.activeElement.textContent") == "Take it home"
