"""Compiling CUDA code: the text of a program, and the cache of what was compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from counterbc.kernels import cuda_compiler
from counterbc.kernels.compiling import MESSAGE, hear_compiling
from tests.full_disk import largest_file


class FakeCompiler:
    """Stands for NVRTC: its machine code is the program in capitals."""

    def __init__(self, fails: bool = False) -> None:
        self.fails, self.programs = fails, []  # type: ignore[var-annotated]  # of bytes

    def nvrtcVersion(self, major: Any, minor: Any) -> int:  # noqa: N802 - NVRTC's name
        return 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self, f"_{name.removeprefix('nvrtc')}")

    def _CreateProgram(self, program: Any, text: bytes, *rest: Any) -> int:  # noqa: N802
        self.programs.append(text)
        return 0

    def _CompileProgram(self, program: Any, count: int, options: Any) -> int:  # noqa: N802
        return 6 if self.fails else 0

    def _output(self) -> bytes:
        return b"line 3: no" if self.fails else self.programs[-1].upper()

    def _GetCUBINSize(self, program: Any, size: Any) -> int:  # noqa: N802
        size._obj.value = len(self._output())
        return 0

    def _GetCUBIN(self, program: Any, out: Any) -> int:  # noqa: N802
        ctypes.memmove(out, self._output(), len(self._output()))
        return 0

    _GetProgramLogSize, _GetProgramLog = _GetCUBINSize, _GetCUBIN

    def _DestroyProgram(self, program: Any) -> None:  # noqa: N802
        pass


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCompiler:
    fake = FakeCompiler()
    monkeypatch.setattr(cuda_compiler, "find_compiler", lambda: fake)
    monkeypatch.setenv("COUNTERBC_CACHE", str(tmp_path))
    return fake


def test_code_is_compiled_once_and_announced(compiler: FakeCompiler) -> None:
    messages: list[str] = []
    with hear_compiling(messages.append):
        for _ in range(2):
            assert cuda_compiler.machine_code("int x;", ["-a"]) == b"INT X;"
    assert compiler.programs == [b"int x;"]
    assert messages == [MESSAGE]


@pytest.mark.parametrize(("text", "options"), [("int y;", ["-a"]), ("int x;", ["-b"])])
def test_other_code_or_options_are_compiled_again(
    text: str, options: list[str], compiler: FakeCompiler
) -> None:
    cuda_compiler.machine_code("int x;", ["-a"])
    cuda_compiler.machine_code(text, options)
    assert len(compiler.programs) == 2


def test_with_an_empty_folder_nothing_is_kept(
    compiler: FakeCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERBC_CACHE", "")
    for _ in range(2):
        assert cuda_compiler.machine_code("int x;", []) == b"INT X;"
    assert len(compiler.programs) == 2


def test_a_folder_that_cannot_be_written_costs_only_the_cache(
    compiler: FakeCompiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COUNTERBC_CACHE", str(tmp_path / "file" / "folder"))
    assert cuda_compiler.machine_code("int x;", []) == b"INT X;"


def test_code_that_does_not_compile_fails_with_the_compilers_words(compiler: FakeCompiler) -> None:
    compiler.fails = True
    with pytest.raises(RuntimeError, match="does not compile:\nline 3: no"):
        cuda_compiler.machine_code("int x", [])


def test_versions_with_another_layout_of_entries_share_a_cache(
    compiler: FakeCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    for layout in ("code alone", "hash and code") * 2:
        monkeypatch.setattr(cuda_compiler, "_LAYOUT", layout)
        assert cuda_compiler.machine_code("int x;", []) == b"INT X;"
    assert len(compiler.programs) == 2


def change_byte(entry: bytes, position: int) -> bytes:
    """Return an entry of the same length with one other byte."""
    return entry[:position] + bytes([entry[position] ^ 1]) + entry[position + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda entry: b"",
    "part of a hash": lambda entry: entry[:20],
    "part of the code": lambda entry: entry[:-2],
    "another hash": lambda entry: change_byte(entry, 0),
    "other code": lambda entry: change_byte(entry, len(entry) - 1),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_code_in_the_cache_is_compiled_again(
    damage: Callable[[bytes], bytes], compiler: FakeCompiler, tmp_path: Path
) -> None:
    cuda_compiler.machine_code("int x;", [])
    (entry,) = (tmp_path / "cuda").glob("*.cubin")
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    assert cuda_compiler.machine_code("int x;", []) == b"INT X;"
    assert entry.read_bytes() == whole
    assert len(compiler.programs) == 2


def test_a_full_disk_costs_only_the_cache_and_leaves_nothing_behind(
    compiler: FakeCompiler, tmp_path: Path
) -> None:
    with largest_file(10):
        assert cuda_compiler.machine_code("int x;", []) == b"INT X;"
    assert [path.suffix for path in (tmp_path / "cuda").iterdir()] == [".lock"]
    assert cuda_compiler.machine_code("int x;", []) == b"INT X;"
    assert len(list((tmp_path / "cuda").glob("*.cubin"))) == 1


def _device_that_loads(monkeypatch: pytest.MonkeyPatch, good: bytes) -> None:
    """Let a GPU load this machine code alone."""

    class OneFunction:
        def __init__(self, binary: bytes, *_: Any) -> None:
            if binary != good:
                raise RuntimeError("CUDA: device kernel image is invalid")

    monkeypatch.setattr(cuda_compiler, "CudaFunction", OneFunction)
    monkeypatch.setattr("torch.cuda.device", lambda device: nullcontext())
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda device: (9, 0))
    cuda_compiler.compiler_misfit.cache_clear()


def test_a_compiler_whose_code_the_gpu_refuses_is_a_reason_to_train_otherwise(
    compiler: FakeCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERBC_CACHE", "")
    _device_that_loads(monkeypatch, b"something else")
    assert "kernel image is invalid" in str(cuda_compiler.compiler_misfit(0))
    compiler.fails = True
    cuda_compiler.compiler_misfit.cache_clear()
    assert "does not compile" in str(cuda_compiler.compiler_misfit(0))
    cuda_compiler.compiler_misfit.cache_clear()


def test_a_program_has_its_macros_first_and_then_its_files() -> None:
    text = cuda_compiler.program(("cuda_parts.cu", "cuda_head.cu"), (("S", "4"), ("A", "2")))
    assert text.startswith("#define S 4\n#define A 2\n// ")
    assert text.index("struct Place") < text.index("struct Head ")


def test_a_build_of_torch_without_cuda_has_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.version.cuda", None)
    cuda_compiler.find_compiler.cache_clear()
    assert cuda_compiler.find_compiler() is None
    cuda_compiler.find_compiler.cache_clear()
