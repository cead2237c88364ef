"""A server and a browser for all tests that look at the page."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.web.browsing import CHROMIUM, opened


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    command = [sys.executable, "-m", "odefinder", "app", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None
            yield found[0]
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=60)


@pytest.fixture(scope="module")  # no longer: its event loop would be in the way of others
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright drives the browser")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The page on a desk."""
    with opened(browser, address, viewport={"width": 1280, "height": 900}) as page:
        yield page


@pytest.fixture
def phone(browser: Any, address: str) -> Iterator[Any]:
    """The page on a phone, which has no mouse."""
    with opened(
        browser, address, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    ) as page:
        yield page
