"""`odefinder app`: the page in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from odefinder.cli.exits import plain_errors
from odefinder.errors import MissingExtraError, SettingsError


def page(
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Whether to open the browser.")] = True,
) -> None:
    """Open a page in the browser: look at data, fit, compare, play. Nothing leaves this machine."""
    with plain_errors():
        try:
            from odefinder.web.opening import serve
        except ImportError:
            raise MissingExtraError("the page in the browser", "web") from None
        try:
            serve(port, browser, typer.echo)
        except OSError as error:
            raise SettingsError(f"port {port} cannot be used: {error.strerror}; give another one") from None
