"""Loops that kernels on the CPU share out among threads."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from simsuite import parallel_for as parallel_for_module
from simsuite.backends.threads import load_openmp, on_threads
from simsuite.parallel_for import kernel, larger, lesser, parallel_for, procedure

MANY = numba.config.NUMBA_NUM_THREADS
BY_LAYER = """
import numba, numpy as np, sys
sys.path.insert(0, {tests!r})
import test_parallel_for as t
t.load_openmp()
numba.set_num_threads({threads})
seen = np.zeros(1000, np.int64)
t.count(seen, 1, 1000)
assert (seen == 1).all(), seen
assert numba.threading_layer() == {layer!r}
"""


@parallel_for
def _count(begin, end, seen, by):
    for i in range(begin, end):
        seen[i] += by


@kernel
def count(seen, by, n):
    _count(n, (seen, by))


@parallel_for
def _number(begin, end, threads, begins, n):
    for i in range(begin, end):
        threads[i], begins[i] = numba.get_thread_id(), begin


@kernel
def number(threads, begins, n, most):
    _number(n, (threads, begins, n), most)


@parallel_for
def _scale(begin, end, rows, by, out):
    for i in range(begin, end):
        row = rows[i]
        for j in range(row.size):
            out[i, j] = row[j] * by


@kernel
def scale(rows, by, out):
    _scale(len(rows), (rows, by, out))


@procedure
def _add_once(out, i, by, twice):
    out[i] += by
    if twice is not None:
        out[i] += by * twice[i].real  # of an array alone


@procedure
def _add_all(out, by, twice):
    for i in range(out.size):
        _add_once(out, i, by, twice)


@parallel_for
def _add_to_rows(begin, end, rows, by, twice):
    for i in range(begin, end):
        _add_all(rows[i], by, twice)


@kernel
def add_to_rows(rows, by, twice):
    _add_to_rows(len(rows), (rows, by, twice))
    _add_all(rows[0], by, twice)
    _add_once(rows[0], 1, 2.0 * by, twice)


class Sums(NamedTuple):
    """Arrays, an array or None, and a tuple of such."""

    out: Any
    missing: Any
    more: Any


@parallel_for
def _add_groups(begin, end, sums, by):
    for i in range(begin, end):
        sums.out[i] += by
        _add_all(sums.missing, by, None)
        _add_all(sums.more[0][i], by, sums.more[1])


@kernel
def add_groups(sums, by):
    sums = Sums(*sums)
    _add_groups(len(sums.out), (sums, by))


@procedure
def _refuse(n):
    if n > 3:
        raise ValueError("too large")


@kernel
def refuse(n):
    _refuse(n)


@kernel
def refuse_and_add(n, out, by):
    _add_all(out, by, None)
    _refuse(n)


@kernel
def add_and_refuse(n, out, by):
    _refuse(n)
    _add_all(out, by, None)


def test_what_is_made_of_a_procedure_serves_all_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what it calls, and raises."""
    made, compile_internal = [], parallel_for_module.compiler.compile_internal

    def counted(typing_context: Any, context: Any, library: Any, body: Any, *rest: Any) -> Any:
        made.append(body.__name__)
        return compile_internal(typing_context, context, library, body, *rest)

    monkeypatch.setattr(parallel_for_module.compiler, "compile_internal", counted)
    out = np.zeros(7, np.float32)  # of which no other kernel here is
    for number, add in enumerate((refuse_and_add, add_and_refuse), 1):
        compiled = numba.njit(add.py_func)  # whatever the cache has
        compiled(3, out, np.float32(1))
        assert (out == number).all()
        with pytest.raises(ValueError, match="too large"):
            compiled(4, np.zeros(7, np.float32), np.float32(1))
    assert len(made) == len(set(made))
    assert {"_add_all", "_add_once"} <= set(made)


@pytest.mark.parametrize("missing", [False, True])
def test_groups_of_arguments_and_procedures_without_their_first(missing: bool) -> None:
    """A call of a procedure is left out where its first argument is None, also in a tuple."""
    out, rows, given = np.zeros(40), np.zeros((40, 3)), np.zeros(1)
    load_openmp()
    with on_threads(1):
        add_groups(tuple(Sums(out, None if missing else given, (rows, None))), 2.0)
    assert (out == 2.0).all()
    assert (rows == 2.0).all()
    assert given[0] == (0.0 if missing else 80.0)


def test_procedures_within_procedures_and_without_an_argument() -> None:
    rows, twice = np.zeros((3, 5)), np.arange(5.0)
    load_openmp()
    add_to_rows(rows, 1.0, None)
    assert rows.tolist() == [[2.0, 4.0, 2.0, 2.0, 2.0], [1.0] * 5, [1.0] * 5]
    rows[:] = 0
    add_to_rows(rows, 1.0, twice)
    assert rows.tolist() == [[2.0, 8.0, 6.0, 8.0, 10.0], [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0]]


def test_what_a_procedure_raises_arrives() -> None:
    refuse(3)
    with pytest.raises(ValueError, match="too large"):
        refuse(4)


@pytest.mark.parametrize("threads", sorted({1, 2, MANY}))
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 1000])
def test_everything_is_done_once(n: int, threads: int) -> None:
    seen = np.zeros(1000, np.int64)
    load_openmp()
    with on_threads(threads):
        count(seen, 3, n)
    assert (seen[:n] == 3).all()
    assert (seen[n:] == 0).all()


@pytest.mark.skipif(MANY < 2, reason="one core")
def test_threads_take_neighbouring_numbers_and_equal_shares() -> None:
    threads, begins = np.zeros(100, np.int64), np.zeros(100, np.int64)
    load_openmp()
    with on_threads(2):
        number(threads, begins, 100, 100)
    assert np.unique(begins).tolist() == [0, 50]
    assert len(np.unique(threads)) == 2


def test_no_more_threads_than_asked_for() -> None:
    threads, begins = np.zeros(100, np.int64), np.full(100, -1)
    load_openmp()
    number(threads, begins, 100, 1)
    assert (begins == 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_fields(dtype: type) -> None:
    rows, out = np.arange(60.0, dtype=dtype).reshape(12, 5), np.zeros((12, 5), dtype)
    load_openmp()
    scale(rows, dtype(0.3), out)
    assert np.array_equal(out, rows * dtype(0.3))
    assert sys.getrefcount(rows) == 2, "a reference is kept, or one was given back that was not taken"


def test_from_several_threads_of_python_at_once() -> None:
    load_openmp()
    fields = [np.zeros(1000, np.int64) for _ in range(4)]

    def work(seen: np.ndarray) -> None:
        for _ in range(50):
            count(seen, 1, 1000)

    workers = [threading.Thread(target=work, args=(seen,)) for seen in fields]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all((seen == 50).all() for seen in fields)


@pytest.mark.parametrize("layer", ["omp", "workqueue"])
@pytest.mark.parametrize("threads", [1, MANY])
def test_layers_of_threads(layer: str, threads: int) -> None:
    script = BY_LAYER.format(tests=os.path.dirname(__file__), threads=threads, layer=layer)
    environment = os.environ | {"NUMBA_THREADING_LAYER": layer}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


@kernel
def both(a, b, out):
    out[0], out[1] = lesser(a, b), larger(a, b)


@kernel
def both_of_numba(a, b, out):
    out[0], out[1] = min(a, b), max(a, b)


NUMBERS = [0.0, -0.0, 1.5, -math.inf, math.nan, 3, -2, np.float32(1.5), np.float32(math.nan), True]


@pytest.mark.parametrize("a", NUMBERS, ids=repr)
def test_of_two_numbers_the_lesser_and_the_larger_are_those_of_python_and_numba(a: Any) -> None:
    for b in NUMBERS:
        found, expected = np.empty(2), np.empty(2)
        both(a, b, found)
        both_of_numba(a, b, expected)
        assert found.tobytes() == expected.tobytes()
        if type(a) is type(b):
            assert repr(found.tolist()) == repr([float(min(a, b)), float(max(a, b))])
