"""The page in a real browser: from a sample to the report, and how fast sliders are.

    pip install playwright; python benchmarks/app.py [--picture docs/images/app.png]

It needs Chromium (`apt-get install chromium`).  It prints what went wrong (messages in the console, requests
to other hosts), the round trip of a simulation, and the frames per second while a slider moves.
"""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

ROUND_TRIP = """async () => {
  const { simulate } = await import("./static/js/api.js");
  const id = document.querySelector("a[download='model.json']").href.match(/models\\/([^/]+)/)[1];
  const times = [];
  for (let k = 0; k < 50; k += 1) {
    const begin = performance.now();
    await simulate(id, { row: 0 });
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b)[25];
}"""
FRAMES = """async () => {
  const slider = document.querySelector(".sliders input");
  const [low, high] = [Number(slider.min), Number(slider.max)];
  let frames = 0;
  const watcher = new MutationObserver(() => { frames += 1; });
  watcher.observe(document.querySelector(".equations"), { childList: true });
  const begin = performance.now();
  while (performance.now() - begin < 3000) {
    slider.value = String(low + (high - low) * (0.6 + 0.3 * Math.sin(performance.now() / 300)));
    slider.dispatchEvent(new Event("input"));
    await new Promise((next) => requestAnimationFrame(next));
  }
  watcher.disconnect();
  return frames / 3;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, help="Write a picture of the result here.")
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "odefinder", "app", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox"]
                )
                page = browser.new_page(viewport={"width": 1280, "height": 1150})
                problems = watch(page, found[0])
                walk(page, found[0], arguments.picture)
                print("problems:", problems or "none")
                browser.close()
        finally:
            server.send_signal(signal.SIGINT)


def watch(page: Page, address: str) -> list[str]:
    """What should not happen."""
    problems: list[str] = []

    def foreign(request: Any) -> None:
        if not request.url.startswith((address, "blob:", "data:")):
            problems.append(f"request to {request.url}")

    page.on("console", lambda message: problems.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("request", foreign)
    return problems


def walk(page: Page, address: str, picture: Path | None) -> None:
    """From a sample to the report."""
    page.goto(address)
    page.click("text=Sample: hare and lynx")
    page.wait_for_selector("#preview table")
    page.click("#start")
    page.wait_for_selector(".equations .katex", timeout=300_000)
    page.wait_for_timeout(1500)  # until it has scrolled to the result
    if picture is not None:
        page.screenshot(path=picture)
    print(f"round trip of a simulation: {page.evaluate(ROUND_TRIP):.1f} ms")
    print(f"frames per second: {page.evaluate(FRAMES):.0f}")
    page.click(".candidates tbody tr >> nth=1")
    page.wait_for_selector(".candidates tbody tr:nth-child(2).chosen")
    with tempfile.TemporaryDirectory() as folder:
        for words in ("Model (JSON)", "Report (HTML)", "Portrait (SVG)"):
            with page.expect_download() as download:
                page.click(f"text={words}")
            target = Path(folder) / download.value.suggested_filename
            download.value.save_as(target)
            print(f"{target.name}: {target.stat().st_size} bytes")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 800})
    print("width of the page at 360 px:", page.evaluate("document.documentElement.scrollWidth"))


if __name__ == "__main__":
    main()
