"""The commit of a scenario's repository: the right one, and nothing that the repository could do to who asks."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import time
from pathlib import Path

import pytest

from simsuite.provenance.repository import Commit, commit_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def git(directory: Path, *words: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(directory), *who, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit of one file in a folder."""
    root = tmp_path / "repository"
    (root / "cases").mkdir(parents=True)
    (root / "cases" / "plate.toml").write_text("a = 1\n")
    git(root, "init", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-m", "first")
    return root


def head(root: Path) -> str:
    """The commit by git's own files, without git."""
    return (root / ".git" / "refs" / "heads" / "main").read_text().strip()


def test_a_clean_one_and_one_with_changes(repository: Path) -> None:
    inside = repository / "cases"
    assert commit_of(inside) == Commit(head(repository), False)
    (inside / "results.h5").write_text("untracked files are no changes")
    assert commit_of(inside) == Commit(head(repository), False)
    (inside / "plate.toml").write_text("a = 2\n")
    assert commit_of(inside) == Commit(head(repository), True)
    git(repository, "commit", "-am", "second")
    assert commit_of(inside) == Commit(head(repository), False)


def test_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tmp_path / "asked"
    fake_git(tmp_path / "bin", f"touch {asked}", monkeypatch)
    assert commit_of(tmp_path) is None
    assert commit_of(tmp_path / "not there") is None
    assert not asked.exists(), "without a .git above git is not even started"


def test_a_repository_without_a_commit_or_with_nonsense_in_it(tmp_path: Path, repository: Path) -> None:
    git(tmp_path, "init", "-b", "main")
    assert commit_of(tmp_path) is None
    (repository / ".git" / "HEAD").write_text("nonsense\n")
    assert commit_of(repository) is None
    shutil.rmtree(repository / ".git")
    (repository / ".git").write_text("gitdir: /nowhere\n")
    assert commit_of(repository) is None


def test_a_repository_of_somebody_else(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own tests use it
    assert commit_of(repository) is None


def test_variables_that_point_elsewhere_do_not_count(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    shutil.copytree(repository, other)
    git(other, "commit", "--allow-empty", "-m", "further")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert commit_of(repository) == Commit(head(repository), False)


def test_no_program_that_the_repository_names_is_run(tmp_path: Path, repository: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()

    def program(name: str) -> str:
        path = tmp_path / f"{name}.sh"
        path.write_text(f"#!/bin/sh\ntouch {marks / name}\ncat\n")
        path.chmod(0o755)
        return str(path)

    (repository / ".gitattributes").write_text("*.toml filter=mine\n*.npy filter=other\n")
    (repository / "a.npy").write_text("1")
    git(repository, "add", ".")
    git(repository, "commit", "-m", "attributes")
    for name, setting in {
        "monitor": "core.fsmonitor",
        "clean": "filter.mine.clean",
        "smudge": "filter.mine.smudge",
        "process": "filter.other.process",
        "pager": "core.pager",
        "diff": "diff.external",
        "ssh": "core.sshCommand",
    }.items():
        git(repository, "config", setting, program(name))
    git(repository, "config", "filter.other.required", "true")
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        shutil.copy(program(hook), hooks / hook)
    for name in ("cases/plate.toml", "a.npy"):  # of the same size, so that git has to read them
        path = repository / name
        path.write_text(path.read_text().replace("1", "2"))
        os.utime(path, (1, 1))
    assert commit_of(repository) == Commit(head(repository), True)
    assert sorted(path.name for path in marks.iterdir()) == []
    subprocess.run(["git", "-C", str(repository), "status"], capture_output=True)
    assert "monitor" in {path.name for path in marks.iterdir()}, "git itself would have run some"


def fake_git(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("script", ["exec sleep 60", "exit 3", "echo nonsense", "printf '\\377'"])
def test_a_git_that_hangs_or_fails(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    fake_git(tmp_path / "bin", script, monkeypatch)
    monkeypatch.setattr("simsuite.provenance.repository._LIMIT", 0.3)
    began = time.monotonic()
    assert commit_of(repository) is None
    assert time.monotonic() - began < 30, "it waited for git"


def test_the_commit_is_known_where_changes_take_too_long_to_find(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("git")
    fake_git(tmp_path / "bin", f'case "$*" in *status*) exec sleep 60;; esac\nexec {real} "$@"', monkeypatch)
    monkeypatch.setattr("simsuite.provenance.repository._LIMIT", 1.5)
    assert commit_of(repository) == Commit(head(repository), None)


def test_no_pipe_is_left_to_processes_that_other_threads_fork(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`posix_spawn` starts git, without pipes: a process that is forked meanwhile keeps nothing open."""
    started, spawn = [], os.posix_spawn

    def watched(*arguments: object, **options: object) -> int:
        started.append(arguments[0])
        return spawn(*arguments, **options)  # type: ignore[arg-type]

    def pipe() -> tuple[int, int]:
        raise AssertionError("a pipe was made")

    monkeypatch.setattr(os, "posix_spawn", watched)
    monkeypatch.setattr(os, "pipe", pipe)
    assert commit_of(repository) == Commit(head(repository), False)
    assert started == [shutil.which("git")] * 3


def test_without_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    assert commit_of(repository) is None
