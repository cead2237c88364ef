"""A page for other machines: it asks for a password."""

import base64
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from odefinder.web import guard
from odefinder.web.server import App


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    app = App("secret", password="correct horse", processes=1)
    with TestClient(app.asgi, base_url="http://lab.example:8000/secret/") as client:
        yield client


def header(password: str, kind: str = "Basic") -> dict[str, str]:
    return {"authorization": f"{kind} {base64.b64encode(f'me:{password}'.encode()).decode()}"}


def test_with_the_password(client: TestClient) -> None:
    answer = client.get("api/about", headers=header("correct horse"))
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "headers", [{}, header("wrong"), header("correct horse", "Bearer"), {"authorization": "Basic ???"}]
)
def test_without_it(client: TestClient, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "WRONG", 0.0)
    answer = client.get("api/about", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Basic")


def test_token_and_origin_still_count(client: TestClient) -> None:
    good = header("correct horse")
    assert client.get("http://lab.example:8000/other/api/about", headers=good).status_code == 403
    assert client.get("api/about", headers={**good, "origin": "http://evil.example"}).status_code == 403
