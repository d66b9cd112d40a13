"""The history of a file: lines in order, within the room that there is."""

from __future__ import annotations

import random

from simsuite.provenance import HISTORY_BYTES, appended


def test_lines_follow_each_other() -> None:
    assert appended("", "first") == "first"
    assert appended("first", "second\nwith a break") == "first\nsecond with a break"
    assert appended("first\n", "second", 100) == "first\nsecond"


def test_the_first_line_and_the_newest_are_kept() -> None:
    history = ""
    for i in range(10):
        history = appended(history, f"line {i} of ten", 60)
        assert len(history.encode()) <= 60
    assert history == "line 0 of ten\n.. 8 lines left out\nline 9 of ten"
    assert appended("a\nb", "c", 5) == "a\nb\nc"


def test_whatever_comes_there_is_room() -> None:
    generator = random.Random(3)
    for _ in range(100):
        history, count = "", generator.randint(1, 60)
        for i in range(count):
            line = f"{i} " + "".join(generator.choices("abü€😀 ", k=generator.choice([3, 40, 400, 4000])))
            history = appended(history, line, HISTORY_BYTES)
            assert len(history.encode()) <= HISTORY_BYTES
            lines = history.split("\n")
            left = int(lines[1].split()[1]) if len(lines) > 1 and lines[1].startswith(".. ") else 0
            assert len(lines) - bool(left) + left == i + 1, "each line is there or counted"
            assert lines[0].startswith("0 ")
            assert lines[-1].startswith(f"{i} ")
