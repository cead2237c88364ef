"""Start the server on a free port of this machine, and open the page."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from odefinder.web.server import App

HOST = "127.0.0.1"


def serve(port: int = 0, browser: bool = True, say: Callable[[str], None] = print) -> None:
    """Run until Ctrl-C."""
    token = secrets.token_urlsafe(16)
    app = App(token)
    try:
        with socket.create_server((HOST, port)) as listener:
            address = f"http://{HOST}:{listener.getsockname()[1]}/{token}/"
            say(f"odefinder is at {address}\nCtrl-C ends it.")
            if browser:
                threading.Timer(0.5, webbrowser.open, [address]).start()
            config = uvicorn.Config(
                app.asgi,
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=1,
            )
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        app.close()
