"""Helpers of compiled functions: typed and translated once, optimised only inside the entries that call them.

Numba optimises every function twice over: alone, with all that it calls, and again inside each caller.  Where
fifty functions build upon each other, as in the canonical form, the same code is optimised dozens of times.
Here a function that is called from compiled code is kept as raw LLVM code; the entry (the function that
Python calls) links all of them together and optimises the whole once, as a C compiler does with a file.
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import parse_assembly  # type: ignore[import-untyped]
from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class HelperLibrary(JITCodeLibrary):
    """Raw code of one function, to be linked into entries; it cannot run on its own."""

    def finalize(self) -> None:
        self._finalized = True

    def own_code(self) -> Any:
        """The function alone, as a module of LLVM."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """With all that it calls: for functions that are compiled by numba alone, which ask no further."""
        whole = self.own_code().clone()
        for library in _with_helpers(self._linking_libraries):
            whole.link_in(_code(library), preserve=True)
        return whole


def _with_helpers(libraries: list[Any]) -> list[Any]:
    """The libraries and all that their helpers call, each once."""
    todo, found = list(libraries), dict[Any, None]()
    while todo:
        library = todo.pop()
        if library not in found:
            found[library] = None
            if isinstance(library, HelperLibrary):
                todo.extend(library._linking_libraries)
    return list(found)


def _code(library: Any) -> Any:
    return library.own_code() if isinstance(library, HelperLibrary) else library._get_module_for_linking()


class EntryLibrary(JITCodeLibrary):
    """A function that Python calls, with all its helpers."""

    def finalize(self) -> None:
        for library in _with_helpers(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # from numba 0.62 on
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(_code(library), preserve=True)
        self._linking_libraries = []  # they are in it now
        super().finalize()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """As numba does, but with only the names of the functions where it keeps their code, too.

        Nothing links an entry, and the code would have to be read in every process.
        """
        self._ensure_finalized()
        names = [function.name for function in self.get_defined_functions()]
        stubs = "\n".join(f'define void @"{name}"() {{ unreachable }}' for name in names)
        return self.name, "object", (self._get_compiled_object(), parse_assembly(stubs).as_bitcode())


@register_pass(mutates_CFG=True, analysis_only=False)
class HelperLowering(NativeLowering):
    """Writes a function to a library of raw code."""

    _name = "odefinder_helper_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = HelperLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        changed = super().run_pass(state)
        fndesc, env = state.cr.fndesc, state.cr.env
        # Nobody calls this function: it is the name under which callers find the library.
        key = make_function(
            fndesc.lookup_module(), fndesc.qualname.split(".")[-1], "", 0, env, (state.library,)
        )
        state.targetctx.insert_user_function(key, fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=key)
        return bool(changed)


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(NativeLowering):
    """Writes a function to a library that collects its helpers."""

    _name = "odefinder_entry_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class HelperCompiler(CompilerBase):
    """Numba's passes, with the lowering of a helper."""

    def define_pipelines(self) -> list[Any]:
        return [_pipeline(self.state, HelperLowering)]


class EntryCompiler(CompilerBase):
    """Numba's passes, with the lowering of an entry."""

    def define_pipelines(self) -> list[Any]:
        return [_pipeline(self.state, EntryLowering)]


def _pipeline(state: Any, lowering: type) -> Any:
    manager = DefaultPassBuilder.define_nopython_pipeline(state)
    manager.passes = [(lowering if one is NativeLowering else one, text) for one, text in manager.passes]
    manager.finalize()
    return manager
