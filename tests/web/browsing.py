"""What tests in a real browser share: Chromium, and what a person does with the page."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NEEDS_BROWSER = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium (apt-get install chromium)"),
    pytest.mark.skipif(os.name == "nt", reason="the server is ended by a signal"),
]
LONG = 240_000  # milliseconds: a first fit compiles
EQUATIONS = "#result .equations .katex"
REFUSED = "status of 400"  # what Chromium says of each upload that gets an error message
T = np.linspace(0.0, 4.0, 40)
DECAY = "t,x,y\n" + "\n".join(f"{t:.4f},{3 * np.exp(-t):.8f},{2 * np.exp(-2 * t):.8f}" for t in T)


@contextmanager
def opened(browser: Any, address: str, **looks: Any) -> Iterator[Any]:
    """The page; at the end nothing may have gone wrong: no error, no request to another host, no dialog."""
    context = browser.new_context(accept_downloads=True, **looks)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page, problems = context.new_page(), list[str]()

    def heard(message: Any) -> None:
        if REFUSED not in message.text:
            problems.append(f"console: {message.text}")

    def asked(request: Any) -> None:
        if not request.url.startswith((address, "blob:", "data:")):
            problems.append(f"request: {request.url}")

    page.on("console", heard)
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", asked)
    page.set_default_timeout(60_000)
    page.goto(address)
    page.wait_for_selector("#options input", state="attached")
    yield page
    context.close()
    assert problems == []


def drop(page: Any, *texts_and_names: str) -> None:
    make = """(given) => {
        const data = new DataTransfer();
        for (let k = 0; k < given.length; k += 2) data.items.add(new File([given[k]], given[k + 1]));
        return data;
    }"""
    page.dispatch_event("#drop", "drop", {"dataTransfer": page.evaluate_handle(make, list(texts_and_names))})


def fit(page: Any, seconds: str = "3") -> None:
    page.fill("[name=time_budget]", seconds)
    page.click("#options summary")
    page.uncheck("[name=network]")
    page.click("#start")


def saved(page: Any, words: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.click(f"text={words}")
    target = folder / download.value.suggested_filename
    download.value.save_as(target)
    return target


def section(page: Any) -> list[float]:
    """The times that the charts of the result show: the same in all of them."""
    own = 'document.querySelector("#result").contains(plot.root)'
    shown = page.evaluate(
        f"""uPlot.sync("odefinder").plots.filter((plot) => {own})
            .map((plot) => [plot.scales.x.min, plot.scales.x.max])"""
    )
    assert all(one == pytest.approx(shown[0]) for one in shown)
    return list(shown[0])
