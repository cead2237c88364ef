"""Every example runs, and says what it should; that of the README, too."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def run(name: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], cwd=folder, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


def test_first_steps(tmp_path: Path):
    output = run("first_steps.py", tmp_path)
    assert "rabbits' = 1.1*rabbits - 0.4*rabbits*foxes" in output
    assert "\\dot{" in output
    assert "Compiling once" in output
    assert output.count("Family ") == 3
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_no_example_is_forgotten():
    assert [path.name for path in sorted(EXAMPLES.glob("*.py"))] == ["first_steps.py"]


def test_the_readme_prints_what_it_says(capsys: pytest.CaptureFixture[str]):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    ((code, output),) = re.findall(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", text, re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out == output
