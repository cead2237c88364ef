"""The gallery: a page for each set of measured data, made by a fit.

    python benchmarks/gallery.py [NAME ...] [--folder FOLDER] [--out docs/gallery] [--budget SECONDS]

Without names, all pages whose data are there are made: those of data that come with odefinder, and those of
FOLDER, which holds copies of public files that may not be shipped.  The words of a page are in
gallery/NAME.md, where <!-- fit -->, <!-- test --> and the like are places for results; gallery_entries.py
says how each is fitted and tested.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

from gallery_entries import ENTRIES, Entry, Row, found, table
from PIL import Image

from odefinder import ODEFormer
from odefinder.data import Dataset
from odefinder.output.plot import save

HERE = Path(__file__).parent
OUT = HERE.parent / "docs" / "gallery"
DOTS, SHADES = 100, 64  # of figures: pages should load quickly
SHOWN = 4  # candidates on a page
PLACE = re.compile(r"<!-- (\w+) -->")


def make(entry: Entry, dataset: Dataset, folder: Path, out: Path, budget: float | None = None) -> None:
    """Fit, draw and write one page."""
    begin = time.process_time()
    more_time = {} if budget is None else {"time_budget": budget}
    model = ODEFormer(**entry.how.parameters | more_time).fit(dataset)
    seconds = time.process_time() - begin
    parts = {
        "figure": figure(model, out / f"{entry.name}.png", entry.bands),
        "fit": f"```\n$ {entry.command}\n{found(model, SHOWN)}\n```\n\nIt took {seconds:.0f} s of one core.",
        "constants": f"```\n{model.summary()}\n```",
    }
    words = (HERE / "gallery" / f"{entry.name}.md").read_text(encoding="utf-8")
    for name in PLACE.findall(words):
        if name not in parts:
            parts[name] = entry.tests[name](model, folder)
    page = PLACE.sub(lambda place: parts[place[1]], words)
    (out / f"{entry.name}.md").write_text(page, encoding="utf-8")


def figure(model: ODEFormer, path: Path, bands: bool) -> str:
    """Draws the fit, in few colours; the link to it."""
    save(model.plot(bands=bands), path, DOTS)
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(SHADES)
    few.save(path, optimize=True)
    return f"![Data, fitted trajectories, phase portrait and candidates]({path.name})"


def index(out: Path) -> None:
    """The first page: what there is, and what came out."""
    rows: list[Row] = [["data", "what is special", "what is found", "data shipped"]]
    for name, entry in ENTRIES.items():
        page = out / f"{name}.md"
        if page.exists():
            title = page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
            rows.append([f"[{title}]({name}.md)", entry.special, entry.found, "no" if entry.file else "yes"])
    words = (HERE / "gallery" / "index.md").read_text(encoding="utf-8")
    (out / "index.md").write_text(PLACE.sub(lambda _: table(rows), words), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(ENTRIES)}")
    parser.add_argument("--folder", type=Path, default=Path(), help="copies of public files")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--budget", type=float, default=None, help="seconds per fit, for a busy machine")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names or ENTRIES:
        dataset = ENTRIES[name].read(options.folder)
        if dataset is None:
            print(f"{name}: {ENTRIES[name].file} is not in {options.folder}")
            continue
        begin = time.perf_counter()
        make(ENTRIES[name], dataset, options.folder, options.out, options.budget)
        print(f"{name}: {time.perf_counter() - begin:.0f} s", flush=True)
    index(options.out)


if __name__ == "__main__":
    main()
