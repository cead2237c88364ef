"""Pages that are written elsewhere: README, changelog and contributing at the root, the command line in code.

The README is the start page.  Its links, which work on the front page of a repository, are turned into links
of the site; MkDocs then checks them like all others.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "LICENSE": "licence.md",
    "CITATION.cff": "citation.md",
}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages."""
    for source, target in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if source == "LICENSE":
            text = f"# Licence\n\n{text}"
        elif source == "CITATION.cff":
            text = f"# Citation\n\n```yaml\n{text}```\n"
        files.append(File.generated(config, target, content=with_links_of_the_site(text)))
    files.append(File.generated(config, "reference/commands.md", content=commands_page()))
    return files


def with_links_of_the_site(text: str) -> str:
    """Links relative to the root of the repository -> links relative to docs/."""
    text = re.sub(r"\]\(docs/", "](", text)
    text = re.sub(r"\]\(examples/(\w+)\.py\)", r"](tutorials/\1.md)", text)
    for source, target in PAGES.items():
        text = text.replace(f"]({source}", f"]({target}")
    return text


# ---------------------------------------------------------------------------------------- the command line


def commands_page() -> str:
    """Every command with its arguments and options, as the program itself knows them."""
    import typer

    from odefinder.cli.app import app

    root = typer.main.get_command(app)
    parts = [
        "# Command line",
        "Generated from the program. `odefinder COMMAND --help` prints the same in a terminal.",
        "Commands return 0 if all went well, 1 with a message that says what is wrong and what to do, "
        "2 for an option that does not exist, and 130 after Ctrl-C.",
    ]
    for name, command in root.commands.items():
        parts += command_section(f"odefinder {name}", command, level=2)
    return "\n\n".join(parts) + "\n"


def command_section(name: str, command: Any, level: int) -> list[str]:
    """One command, then the commands inside it."""
    parts = [f"{'#' * level} `{name}`", *paragraphs(command.help)]
    rows = []
    for parameter in command.params:
        if parameter.name == "help":
            continue
        if parameter.param_type_name == "argument":
            written = f"`{parameter.name.upper()}`"
        else:
            names = (*parameter.opts, *parameter.secondary_opts)
            written = " / ".join(f"`{one}`" for one in names)
        rows.append((written, getattr(parameter, "help", None) or "", default_of(parameter)))
    if rows:
        lines = ["| option | what it does | default |", "|---|---|---|"]
        lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
        parts.append("\n".join(lines))
    for inner, sub in getattr(command, "commands", {}).items():
        parts += command_section(f"{name} {inner}", sub, level + 1)
    return parts


def default_of(parameter: Any) -> str:
    if parameter.required:
        return "required"
    if parameter.default is None:
        return ""
    if isinstance(parameter.default, bool):
        if not parameter.secondary_opts:
            return ""
        return f"`{(parameter.opts if parameter.default else parameter.secondary_opts)[0]}`"
    return f"`{parameter.default}`"


def paragraphs(text: str | None) -> list[str]:
    return [" ".join(part.split()) for part in (text or "").split("\n\n") if part.strip()]
