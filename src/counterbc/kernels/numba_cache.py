"""Machine code of numba that is compiled once: kept for later processes, and by one process where
several need it at the same time.

Importing this module needs numba.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Any

from numba import __version__, njit
from numba.core.caching import IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError

from counterbc.errors import OptionError
from counterbc.kernels.compiling import announce_compiling, compile_aside, only_here

_Files: Any = IndexDataCacheFile


def cached_njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator as numba's that stores machine code for other processes if it can.

    Code is compiled at first use and stored beside the function's file, or in NUMBA_CACHE_DIR. In a
    container the package may be read-only and the user without a home, and a disk may be full. The
    function is then compiled in every process.

    numba compiles stored code again when the function's own file has changed. What the function
    calls is compiled into the same code, so a change of those files has to count as well.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            dispatcher = njit(cache=True, **options)(function)
        except RuntimeError:  # there is no folder to store the code in
            return njit(**options)(function)
        cache = dispatcher._cache
        stamp = (cache._cache_file._source_stamp, source_stamp(function))
        cache._cache_file = _CodeFiles(cache.cache_path, cache._impl.filename_base, stamp)
        _compile_once(dispatcher)
        return dispatcher

    return decorate


class _CodeFiles(_Files):  # type: ignore[misc]  # numba has no types
    """numba's files of one function: machine code, and an index that names it by signature.

    Files are numbered, and numbers are used again after a change of the sources. numba writes the
    index first: if the disk is full then, it names code of the sources before. Here the index never
    names code that is not there yet, and damaged files count as missing.
    """

    def save(self, key: Any, data: Any) -> None:
        index = self._load_index()
        if not index:  # the file may be of other sources, whose code is replaced now
            Path(self._index_path).unlink(missing_ok=True)
        names = map(self._data_name, count(1))
        name = index.get(key) or next(x for x in names if x not in index.values())
        self._save_data(name, data)
        self._save_index(index | {key: name})

    def _load_index(self) -> dict[Any, str]:
        try:
            index: dict[Any, str] = super()._load_index()
        except Exception:  # a damaged pickle can raise anything
            return {}
        return index

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except Exception as error:
            raise FileNotFoundError(f"{name} is damaged") from error  # as numba expects


def source_stamp(function: Callable[..., Any]) -> str:
    """Return a hash of the modules beside a function's own that it may call, and of its own.

    Numbers count by their value too, because a module may import them from anywhere.
    """
    folder = _file(sys.modules[function.__module__]).parent
    names, left = set(), [function.__module__]
    while left:
        names.add(name := left.pop())
        used = {
            value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            for value in vars(sys.modules[name]).values()
        }
        modules = ((x, sys.modules.get(x)) for x in used if isinstance(x, str))
        left += [x for x, m in modules if m and x not in names and _file(m).parent == folder]
    stamp = hashlib.sha256()
    for name in sorted(names):
        module = sys.modules[name]
        stamp.update(_file(module).read_bytes())
        stamp.update(repr(sorted(x for x in vars(module).items() if _is_number(x[1]))).encode())
    return stamp.hexdigest()


def _file(module: ModuleType) -> Path:
    return Path(getattr(module, "__file__", None) or "")


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, or a tuple of numbers."""
    return isinstance(value, Real) or (
        isinstance(value, tuple) and all(isinstance(x, Real) for x in value)
    )


def _compile_once(dispatcher: Any) -> None:
    """Let processes that need the same code wait for the first of them, and load what it stores.

    numba's index of stored code is read, changed and written again. Two processes that do so at the
    same time would lose an entry, or store two codes under one name.
    """
    cache, compile_code, claims = dispatcher._cache, dispatcher.compile, ExitStack()
    save, load, folder = cache.save_overload, cache.load_overload, Path(cache.cache_path)
    name = f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}"

    def load_or_claim(signature: Any, context: Any) -> Any:
        code = load(signature, context)
        if code is None:
            announce_compiling()
            claims.enter_context(only_here(folder, f"{name} {signature}"))
            code = load(signature, context)  # another process may have stored it meanwhile
        return code

    def save_if_possible(*arguments: Any) -> None:
        with suppress(OSError), only_here(folder, name):
            save(*arguments)

    def compile_or_load(signature: Any) -> Any:
        with global_compiler_lock, claims:  # one thread at a time has claims
            try:
                return compile_code(signature)
            except (NumbaError, RuntimeError) as error:  # the latter by LLVM
                raise OptionError(
                    f"numba {__version__} cannot compile {name} on this machine: {error}; use the "
                    "kernel torch, which needs no compiler"
                ) from error

    cache.save_overload, cache.load_overload = save_if_possible, load_or_claim
    dispatcher.compile = partial(compile_aside, compile_or_load)
