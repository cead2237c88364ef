"""The package: few public names, loaded when they are used."""

import ast
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import odefinder

IMPORT = """
import json, sys, time
start = time.perf_counter()
import odefinder
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "modules": sorted(sys.modules)}))
"""


def in_a_new_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_import_loads_nothing_heavy():
    found = json.loads(in_a_new_process(IMPORT))
    heavy = {"numba", "sympy", "scipy", "matplotlib", "torch", "pandas", "numpy", "sklearn"}
    assert not heavy & set(found["modules"])


@pytest.mark.perf
def test_import_is_quick():
    assert json.loads(in_a_new_process(IMPORT))["seconds"] < 0.5


def test_reading_and_printing_equations_compiles_nothing():
    code = (
        "import sys; from odefinder import ODESystem; print(ODESystem.from_text('x\\' = -2*x')); "
        "assert not {'numba', 'sympy', 'scipy', 'matplotlib'} & set(sys.modules)"
    )
    assert in_a_new_process(code) == "x' = -2*x\n"


def test_importing_the_estimator_compiles_and_loads_no_compiled_code():
    code = (
        "import sys; from odefinder import ODEFormer; from numba.core.dispatcher import Dispatcher; "
        "names = [name for name in sys.modules if name.startswith('odefinder')]; "
        "values = [value for name in names for value in vars(sys.modules[name]).values()]; "
        "print([f.py_func.__name__ for f in values if isinstance(f, Dispatcher) and f.signatures]); "
        "assert not {'sympy', 'matplotlib', 'torch', 'onnxruntime'} & set(sys.modules)"
    )
    assert in_a_new_process(code) == "[]\n"


def test_every_public_name_is_there():
    for name in odefinder.__all__:
        assert getattr(odefinder, name) is not None
    assert set(odefinder.__all__) <= set(dir(odefinder))
    assert odefinder.ODESystem.__module__ == "odefinder.system"
    assert odefinder.ODEFormer.__module__ == "odefinder.estimator"
    assert callable(odefinder.corrupt)
    assert callable(odefinder.generate)


def test_star_import():
    names: dict = {}
    exec("from odefinder import *", names)
    assert set(odefinder.__all__) <= set(names)


def test_version():
    assert odefinder.__version__ == version("odefinder")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        odefinder.fitt  # noqa: B018


# Between our own processes, and of the cache of compiled code, which is trusted: see docs/security.md.
PICKLES = {"inference/workers.py", "compiling/kept.py", "bench/warden.py", "bench/isolation.py"}
DANGEROUS = {"pickle", "marshal", "shelve", "dill", "yaml", "http", "requests", "ftplib"}


def test_no_pickle_no_eval_no_network() -> None:
    package = Path(odefinder.__file__).parent
    found = set()
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules = {one.name.split(".")[0] for one in node.names}
            elif isinstance(node, ast.ImportFrom):
                modules = {(node.module or "").split(".")[0]} if node.level == 0 else set()
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                modules = {node.func.id} & {"eval", "exec", "__import__"}
            else:
                continue
            found |= {(name, one) for one in modules & (DANGEROUS | {"eval", "exec", "__import__"})}
    assert found == {(name, "pickle") for name in PICKLES}
