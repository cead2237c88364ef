"""Who may talk to the server: only the page that it opened itself.

The address of the page has a random token.  Requests with another Host are refused (a foreign name that was
pointed at this machine), and so are those that another page sends (Origin).  A server that listens to other
machines has names that it does not know; it asks for a password instead of looking at Host.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import secrets
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

WRONG = 1.0  # seconds that a wrong password costs
LOCAL = ("127.0.0.1", "localhost")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Lets requests through whose path begins with the token, and takes it off."""

    def __init__(self, app: ASGIApp, token: str, password: str | None = None) -> None:
        self.app, self.token, self.password = app, token, password

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SAFE_HEADERS)
            await send(message)

        inner = self._inner_path(scope)
        if inner is None:
            text = "This address is not complete. Use the one that odefinder app printed."
            await PlainTextResponse(text, 403)(scope, receive, send_safely)
            return
        if self.password is not None and not self._knows_password(scope, self.password):
            await asyncio.sleep(WRONG)
            ask = {"WWW-Authenticate": 'Basic realm="odefinder", charset="UTF-8"'}
            await PlainTextResponse("The password is wrong.", 401, ask)(scope, receive, send_safely)
            return
        await self.app({**scope, "path": inner, "raw_path": inner.encode()}, receive, send_safely)

    def _inner_path(self, scope: Scope) -> str | None:
        """The path behind the token, or None if the request comes from somewhere else."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if self.password is None and urlsplit(f"//{host}").hostname not in LOCAL:
            return None
        if origin is not None and origin != f"http://{host}":
            return None
        _, token, *rest = [*scope["path"].split("/", 2), ""][:3]
        if not rest or not secrets.compare_digest(token.encode(), self.token.encode()):
            return None
        return f"/{rest[0]}"

    @staticmethod
    def _knows_password(scope: Scope, password: str) -> bool:
        """Whether the browser sent it; the name of the user may be anything."""
        kind, _, sent = Headers(scope=scope).get("authorization", "").partition(" ")
        try:
            _, _, found = base64.b64decode(sent, validate=True).partition(b":")
        except (binascii.Error, ValueError):
            return False
        return kind.lower() == "basic" and secrets.compare_digest(found, password.encode())
