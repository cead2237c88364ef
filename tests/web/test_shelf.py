"""Things that are kept for an hour."""

from odefinder.web.shelf import Shelf


def test_things_go_an_hour_after_their_last_use() -> None:
    clock, gone = [0.0], list[str]()
    shelf = Shelf(gone.append, now=lambda: clock[0])
    first, second = shelf.put("first"), shelf.put("second")
    clock[0] = 3000.0
    assert shelf.get(first) == "first"
    clock[0] = 5000.0
    assert shelf.get(second) is None
    assert shelf.get(first) == "first"
    assert gone == ["second"]
    assert list(shelf) == ["first"]


def test_ids_cannot_be_guessed() -> None:
    shelf: Shelf[int] = Shelf()
    names = [shelf.put(k) for k in range(100)]
    assert len(set(names)) == 100
    assert min(map(len, names)) >= 16
    assert shelf.get("0") is None
