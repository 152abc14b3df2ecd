"""Compiles CUDA C++ with the compiler that torch brings, NVRTC, and starts it by the driver.

Compiled code is kept in the user's cache, behind its SHA-256 hash, so that a machine compiles each
case once.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from counterbc.data.user_cache import cache_folder
from counterbc.errors import FormatError
from counterbc.files import aside
from counterbc.kernels.compiling import announce_compiling, only_here

_DYNAMIC_SHARED, _CARVEOUT = 8, 9  # attributes of a function, by their numbers in cuda.h
_DIGEST = 32  # bytes of a hash
_LAYOUT = "SHA-256 and code"  # of an entry; versions with other layouts may share the cache
_MOST_SHARED = 100  # per cent of the memory that the first cache and shared memory divide


@cache
def find_compiler() -> Any:
    """Return NVRTC as a library, or None where there is none of torch's version of CUDA."""
    if torch.version.cuda is None:
        return None
    name = f"libnvrtc.so.{torch.version.cuda.split('.')[0]}"
    packages = Path(torch.__file__).parent.parent / "nvidia"
    own = map(str, sorted(packages.glob(f"*/lib/{name}")))
    for path in (*own, name):  # a toolkit on the library path may be older than the GPU
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _check(result: int) -> None:
    if result:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(f"CUDA: {(text.value or b'unknown error').decode()}")


class CudaFunction:
    """A compiled function on one device."""

    def __init__(self, binary: bytes, name: str, threads: int, shared_size: int) -> None:
        """`shared_size` is its shared memory in bytes."""
        self.threads, self.shared_size = threads, shared_size
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        driver = _driver()
        _check(driver.cuModuleLoadData(ctypes.byref(self._module), binary))
        _check(
            driver.cuModuleGetFunction(ctypes.byref(self._function), self._module, name.encode())
        )
        for attribute, value in ((_DYNAMIC_SHARED, shared_size), (_CARVEOUT, _MOST_SHARED)):
            _check(driver.cuFuncSetAttribute(self._function, attribute, value))

    def __call__(self, blocks: int, arguments: Sequence[Tensor | int]) -> None:
        """Start the function with tensors and whole numbers on torch's present stream."""
        values = [
            ctypes.c_void_p(x.data_ptr()) if isinstance(x, Tensor) else ctypes.c_int(x)
            for x in arguments
        ]
        pointers = (ctypes.c_void_p * len(values))(
            *(ctypes.cast(ctypes.pointer(x), ctypes.c_void_p) for x in values)
        )
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        sizes = (blocks, 1, 1, self.threads, 1, 1, self.shared_size)
        _check(_driver().cuLaunchKernel(self._function, *sizes, stream, pointers, None))


@cache
def compiler_misfit(device: int) -> str | None:
    """Return why a device cannot run what is compiled here, or None if a first program loads."""
    if find_compiler() is None:
        return "the compiler NVRTC, which CUDA builds of torch bring, was not found"
    try:
        load_function('extern "C" __global__ void nothing() {}', "nothing", 32, 0, device)
    except (RuntimeError, OSError) as error:  # such as a compiler that does not know this GPU
        return f"its compiler does not work here ({error})"
    return None


@cache
def cuda_function(
    sources: tuple[str, ...], name: str, macros: tuple[tuple[str, str], ...], threads: int,
    shared_size: int, device: int,
) -> CudaFunction:  # fmt: skip
    """Return a function of these files of this folder, compiled with these macros."""
    return load_function(program(sources, macros), name, threads, shared_size, device)


def load_function(
    text: str, name: str, threads: int, shared_size: int, device: int
) -> CudaFunction:
    """Return a function of a program on a device."""
    with torch.cuda.device(device):
        major, minor = torch.cuda.get_device_capability(device)
        code = machine_code(text, [f"--gpu-architecture=sm_{major}{minor}"])
        return CudaFunction(code, name, threads, shared_size)


def program(sources: Sequence[str], macros: Sequence[tuple[str, str]]) -> str:
    """Return the text of these files of this folder, after the definitions of the macros."""
    lines = [f"#define {name} {value}\n" for name, value in macros]
    return "".join((*lines, *((Path(__file__).parent / x).read_text() for x in sources)))


def machine_code(text: str, options: Sequence[str]) -> bytes:
    """Return the machine code of a program, from the cache if it is there.

    Of several processes that need it at the same time, one compiles it.
    """
    path = _entry(text, options)
    if path is None:
        announce_compiling()
        return _compile(find_compiler(), text, options)
    if (code := _read_code(path)) is not None:
        return code
    announce_compiling()
    with only_here(path.parent, path.name):
        if (code := _read_code(path)) is not None:  # by another process meanwhile
            return code
        code = _compile(find_compiler(), text, options)
        _write_code(path, code)
    return code


def _read_code(path: Path) -> bytes | None:
    """Return the machine code of a file; None if it is missing or damaged.

    The driver does not know how long a program is, and could read beyond the end of a truncated
    program.
    """
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, code = data[:_DIGEST], data[_DIGEST:]
    return code if hashlib.sha256(code).digest() == digest else None


def _write_code(path: Path, code: bytes) -> None:
    """Write machine code behind its hash if possible; otherwise it is compiled again next time."""
    with suppress(OSError, FormatError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with aside(path, replace=True) as part:
            part.write_bytes(hashlib.sha256(code).digest() + code)


def _entry(text: str, options: Sequence[str]) -> Path | None:
    """Return the file of a program's machine code; None if nothing is kept."""
    folder = cache_folder("cuda")
    if folder is None:
        return None
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check_compiler(find_compiler().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    key = "\n".join((text, *options, f"{major.value}.{minor.value}", _LAYOUT))
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()}.cubin"


def _check_compiler(result: int) -> None:
    if result:
        raise RuntimeError(f"NVRTC: error {result}")


def _compile(nvrtc: Any, text: str, options: Sequence[str]) -> bytes:
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    name = b"step.cu"
    _check_compiler(
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name, 0, None, None)
    )
    try:
        flags = (ctypes.c_char_p * len(options))(*(x.encode() for x in options))
        if nvrtc.nvrtcCompileProgram(program, len(options), flags):
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            raise RuntimeError(f"the CUDA step does not compile:\n{log.value.decode()}")
        _check_compiler(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)))
        binary = ctypes.create_string_buffer(size.value)
        _check_compiler(nvrtc.nvrtcGetCUBIN(program, binary))
        return binary.raw
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
