"""What waits while a slider moves (pace.js), run by Node with a clock of its own."""

import json
import shutil
import subprocess

import pytest

from odefinder.web.server import STATIC

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no Node to run JavaScript with")


def drawn(gap: float, count: int) -> list[float]:
    """Which of `count` frames, `gap` milliseconds apart, were drawn, also after the last one."""
    script = f"""
        let [now, timer] = [1000, null];
        performance.now = () => now;
        globalThis.setTimeout = (work, wait) => {{ timer = {{ work, at: now + wait }}; }};
        globalThis.clearTimeout = () => {{ timer = null; }};
        const {{ Pace }} = await import("{(STATIC / "js" / "pace.js").as_uri()}");
        const [pace, drawn] = [new Pace(), []];
        for (let k = 0; k < {count}; k += 1) {{
            pace.draw(() => drawn.push(k));
            now += {gap};
            if (timer && timer.at <= now) timer.work();
        }}
        timer?.work();
        console.log(JSON.stringify(drawn));
    """
    assert NODE is not None
    command = [NODE, "--input-type=module", "-e", script]
    return json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout)


def test_where_there_is_time_every_frame_is_drawn() -> None:
    assert drawn(16.0, 10) == list(range(10))


def test_slow_frames_are_drawn_a_few_times_a_second_and_the_last_one_always() -> None:
    assert drawn(40.0, 10) == [0, 3, 6, 9]
    assert drawn(40.0, 9) == [0, 3, 6, 8]


def test_single_steps_of_a_slider_are_drawn_at_once() -> None:
    assert drawn(500.0, 3) == [0, 1, 2]
