"""Data files that lie about their size, point beyond their arrays, or are of another kind than their name says."""

from __future__ import annotations

import os
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from conftest import SIMULATING

from simsuite.errors import ScenarioError
from simsuite.scenario import load
from simsuite.solvers.arrays import read_npy
from simsuite.solvers.linear.matrices.matrices import read_matrix

pytestmark = pytest.mark.skipif(SIMULATING, reason="no kernel is involved")
MTX = "%%MatrixMarket matrix {} real {}\n{}\n"


def sparse(path: Path, **changes: Any) -> None:
    """A file of scipy.sparse.save_npz with other arrays."""
    matrix = scipy.sparse.csr_matrix(np.eye(4))
    pieces = {"format": b"csr", "shape": (4, 4), "data": matrix.data, "indices": matrix.indices}
    np.savez(path, **(pieces | {"indptr": matrix.indptr} | changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"indices": np.array([0, 1, 2, 1 << 30], np.int32)}, "indices"),
        ({"indices": np.array([0, -1, 2, 3], np.int32)}, "indices"),
        ({"indptr": np.array([0, 1, 2, 3, 1 << 20], np.int32)}, "index pointer"),
        ({"format": b"coo", "row": np.array([0, 9]), "col": np.array([0, 1]), "data": np.ones(2)}, "axis 0 index 9"),
        ({"other": np.zeros(3)}, "has an array 'other'"),
        ({"shape": (1 << 40, 1 << 40), "indptr": np.array([0], np.int32)}, "index pointer"),
    ],
)
def test_a_sparse_matrix_stays_within_its_arrays(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    path = tmp_path / "a.npz"
    sparse(path, **changes)
    with pytest.raises(ValueError, match=said):
        read_matrix(path)


def test_what_scipy_writes_is_read(tmp_path: Path) -> None:
    wanted = np.array([[1.0, 0.0], [2.5, -3.0]])
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.coo_array, scipy.sparse.csc_array, scipy.sparse.dia_array):
        scipy.sparse.save_npz(tmp_path / "a.npz", kind(wanted))
        assert (read_matrix(tmp_path / "a.npz") == wanted).all()


def test_an_archive_does_not_unpack_to_more_than_it_can_hold(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("data.npy", b"\0" * 1000)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 0xF0000000)
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"would take 4\.03 GB"):
        read_matrix(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MTX.format("array", "general", "100000 100000"), "declares 10000000000 entries"),
        (MTX.format("coordinate", "general", "9 9 500000000"), "declares 500000000 entries"),
        (MTX.format("coordinate", "general", "4000000000 4000000000 1\n1 1 1.0"), "at most 67108864"),
        (MTX.format("coordinate", "general", "60000 60000 1\n1 1 1.0"), "takes 28.8 GB"),
        (MTX.format("coordinate", "general", "2 2 1\n1 1 1.\0"), "byte 58 is 0"),
        (MTX.format("array", "general", "0 4\n1\n2"), "declares a matrix of 0 x 4"),
    ],
)
def test_a_text_of_some_bytes_declares_no_large_matrix(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.mtx"
    path.write_text(text)
    with pytest.raises(ValueError, match=said):
        read_matrix(path)


@pytest.mark.parametrize("name", ["a.npy", "a.csv", "a.mtx", "a.npz"])
def test_named_pipes_and_directories_are_refused_at_once(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    (tmp_path / "folder" / name).mkdir(parents=True)
    for path in (tmp_path / name, tmp_path / "folder" / name):
        with pytest.raises(ValueError, match="no plain file"):
            read_matrix(path)


@pytest.mark.parametrize("header", ["{'descr': '<f8', 'fortran_order': False, 'shape': (8,", "{" * 60, "\0" * 60])
def test_a_broken_header_is_told(tmp_path: Path, header: str) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    with pytest.raises(ValueError, match="cannot be read"):
        read_npy(path)


def png(width: int, height: int) -> bytes:
    """A picture of 1 bit a pixel, all black."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = zlib.compress(b"\0" * (((width + 7) // 8 + 1) * height))
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "cannot identify"),
        ("a.png", png(9000, 9000), "9000 x 9000 pixels"),
        ("a.npy", b"\x93NUMPY\x01\x00\x08\x00{'shape'", "cannot be read"),
    ],
)
def test_a_mask_is_what_its_name_says(
    heat: Callable[..., Any], tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    """Pillow would have Ghostscript run a program that is named like a picture."""
    (tmp_path / name).write_bytes(content)
    region = {"shape": "mask", "file": name, "temperature": 1.0}
    with pytest.raises(ScenarioError, match=said):
        heat(region=[region])


def test_a_picture_as_it_should_be_is_read(heat: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(8, 8))
    assert not heat(region=[{"shape": "mask", "file": "a.png", "temperature": 1.0}]).made.any_held  # all is black


def test_a_named_pipe_in_a_scenario_is_called_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.npy")
    text = 'solver = "heat"\n[grid]\nnx = 4\nny = 4\n[material]\ndiffusivity = 1.0\n[initial]\n'
    (tmp_path / "a.toml").write_text(text + 'temperature = {file = "a.npy"}\n[time]\nend = 1.0\n')
    with pytest.raises(ScenarioError, match=r"named pipe or a device, not a plain file: 'a\.npy'"):
        load(tmp_path / "a.toml")


@pytest.mark.parametrize("text", ["1," * 25_000_000 + "1\n", "1" * 50_000_000, "0\n" + "x" * 50_000_000])
def test_a_line_of_text_has_a_limit(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    tracemalloc.start()
    with pytest.raises(ValueError, match=rf"line {1 + text.count(chr(10), 0, 9)} has more than 16777216 characters"):
        read_matrix(path)
    assert tracemalloc.get_traced_memory()[1] < 2e8
    tracemalloc.stop()


def test_lines_end_in_any_way(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for end in ("\n", "\r\n", "\r"):
        path.write_bytes(end.join(["\ufeff# a comment", "", "1,2 # two", "3,4.5"]).encode())
        assert read_matrix(path).tolist() == [[1.0, 2.0], [3.0, 4.5]]
        path.write_bytes(end.join(["1,2", "3,x", "4,5"]).encode())
        with pytest.raises(ValueError, match='line 2: "x" is not a number'):
            read_matrix(path)


@pytest.mark.parametrize("shape", ["(2147483648, 4)", "(5, 2)", "(3,)"])
def test_an_array_is_not_larger_than_its_file(tmp_path: Path, shape: str) -> None:
    """It is told before there is memory for it, also where there would be enough."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + b"\0" * 20)
    with pytest.raises(ValueError, match=r"declares an array of shape .* lacks"):
        read_npy(path)


@pytest.mark.parametrize("text", ["2 1\n1\nx", "2 1\n1", "2 1\n1\n2\n3"])
def test_the_last_line_needs_no_end(tmp_path: Path, text: str) -> None:
    """SciPy would crash in one that is at fault."""
    path = tmp_path / "a.mtx"
    head = "%%MatrixMarket matrix array real general\n"
    path.write_text(head + text)
    with pytest.raises(ValueError, match="cannot be read"):
        read_matrix(path)
    for last in ("2.5", "2.5E-", "2.5 2.5"):
        path.write_text(f"{head}2 1\n1\n{last}")
        assert read_matrix(path).tolist() == [[1.0], [2.5]]


def test_letters_beyond_ascii_are_for_comments(tmp_path: Path) -> None:
    """SciPy would crash where it has to say which letter is no digit."""
    path = tmp_path / "a.mtx"
    head = b"%%MatrixMarket matrix array real general\n"
    path.write_bytes(head + "% größer\n".encode() + b"2 1\n1\n2\n")
    assert read_matrix(path).tolist() == [[1.0], [2.0]]
    for text in (b"2 1\n1\n2 \xe4", b"2 1\n1\n\xe4\n", b"2 1\n1\n2 %\xe4"):
        path.write_bytes(head + text)
        with pytest.raises(ValueError, match=r"is no text: byte \d+ is 228"):
            read_matrix(path)


def test_an_archive_with_a_password_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    sparse(path)
    data = bytearray(path.read_bytes())
    data[6] |= 1  # in the first header, and in the entry of the directory
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"is damaged .*encrypted"):
        read_matrix(path)


def test_options_that_are_no_tables_are_mistakes(tmp_path: Path) -> None:
    text = 'solver = "gbm"\nasset = [{spot = 1.0, volatility = 0.2}]\noption = ["call", {style = "european"}]\n'
    (tmp_path / "a.toml").write_text(text + "market = {rate = 0.05}\ntime = {end = 1.0, steps = 0}\n")
    with pytest.raises(ScenarioError, match="option"):
        load(tmp_path / "a.toml")
