"""`odefinder app`: the page in the browser."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from odefinder.cli.exits import INTERRUPTED, plain_errors
from odefinder.errors import MissingExtraError, SettingsError

SHORTEST = 8  # characters of a password


def page(
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Whether to open the browser.")] = True,
    host: Annotated[
        str | None,
        typer.Option(help="Listen to other machines, too, at this address; a password will be asked for."),
    ] = None,
) -> None:
    """Open a page in the browser: look at data, fit, compare, play. Nothing leaves this machine."""
    with plain_errors():
        try:
            from odefinder.web.opening import serve
        except ImportError:
            raise MissingExtraError("the page in the browser", "web") from None
        try:
            if host is None:
                serve(port, browser, typer.echo)
            else:
                serve(port, browser, typer.echo, host, _password())
        except OSError as error:
            raise SettingsError(f"port {port} cannot be used: {error.strerror}; give another one") from None
        except KeyboardInterrupt:
            # Everything is tidied up; Python would wait for threads that still compute something.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(INTERRUPTED)


def _password() -> str:
    """For those who open the page from elsewhere."""
    found = str(typer.prompt("Password for the page", hide_input=True, confirmation_prompt=True))
    if len(found) < SHORTEST:
        raise SettingsError(f"the password has fewer than {SHORTEST} characters; take a longer one")
    return found
