"""Files around the program that others read: citation, workflows, templates of issues, containers, jobs."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT

from simsuite.version import FORMAT_VERSION, VERSION

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
YAML = [*WORKFLOWS, *sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ROOT / "CITATION.cff"]
PINNED = re.compile(r"[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_they_are_yaml(path: Path) -> None:
    assert "\t" not in path.read_text(encoding="utf-8")
    assert isinstance(read(path), dict)


def test_the_citation_is_of_this_version() -> None:
    """Its form was checked by cffconvert, which few have."""
    found = read(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= found.keys(), "what the format needs"
    assert found["cff-version"] == "1.2.0"
    assert found["version"] == VERSION
    assert found["title"] == PROJECT["name"]
    assert set(found["license"]) == set(PROJECT["license"].split(" AND "))
    assert all({"name"} <= author.keys() or {"family-names"} <= author.keys() for author in found["authors"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_use_pinned_actions_and_targets_of_make(path: Path) -> None:
    text, workflow = path.read_text(encoding="utf-8"), read(path)
    used = re.findall(r"uses: (.*)", text)
    assert used
    assert [line for line in used if not PINNED.fullmatch(line)] == []
    assert workflow["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] <= 300 for job in workflow["jobs"].values())
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"run: make (\w+)", text)
    assert targets
    assert [name for name in targets if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []


def test_every_python_that_is_named_is_tested() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]
    named = [found[1] for text in PROJECT["classifiers"] if (found := re.fullmatch(r".* :: (3\.\d+)", text))]
    assert jobs["quick"]["strategy"]["matrix"]["python"] == named
    lowest = jobs["lowest"]["steps"][1]["with"]["python-version"]
    assert PROJECT["requires-python"] == f">={lowest}" == f">={named[0]}"
    support = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
    assert f"{named[0]} to {named[-1]}" in support
    assert f"today it is {FORMAT_VERSION}" in support


def test_forms_of_issues_ask_for_something() -> None:
    for name in ("bug.yml", "wish.yml"):
        form = read(ROOT / ".github" / "ISSUE_TEMPLATE" / name)
        assert {"name", "description", "body"} <= form.keys()
        ids = [field["id"] for field in form["body"]]
        assert len(ids) == len(set(ids))
        assert all(field["attributes"]["label"] for field in form["body"])
        assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_containers_ask_for_extras_that_there_are() -> None:
    docker = (ROOT / "containers" / "Dockerfile").read_text(encoding="utf-8")
    apptainer = (ROOT / "containers" / "simsuite.def").read_text(encoding="utf-8")
    asked = re.findall(r"(?:EXTRAS|extras)=([\w,]+)", docker + apptainer)
    assert len(asked) == 4
    assert {name for some in asked for name in some.split(",")} <= PROJECT["optional-dependencies"].keys()
    bases = re.findall(r"^(?:FROM|From:) (\S+)", docker + apptainer, re.MULTILINE)
    assert len(set(bases)) == 1, "both are made from the same image"
    assert re.findall(r"^%(\w+)", apptainer, re.MULTILINE) == ["arguments", "files", "post", "runscript", "test"]


def job(tmp_path: Path, *words: object) -> subprocess.Popen[str]:
    """The script for SLURM with a `scontrol` that writes down what it is asked for."""
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "scontrol").write_text(f'#!/bin/sh\necho "$@" >> {shlex.quote(str(tmp_path / "asked"))}\n')
    (tools / "scontrol").chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "SLURM_JOB_ID": "78",
        "SIMSUITE": f"{sys.executable} -m simsuite",
    }
    script = ROOT / "examples" / "slurm" / "run.sh"
    return subprocess.Popen(
        ["bash", str(script), *map(str, words)],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_job_that_is_stopped_queues_itself_again_and_goes_on(tmp_path: Path) -> None:
    long = ("--set", "grid.nx=64", "--set", "grid.ny=64", "--set", "time.end=0.4", "--set", "time.stepper=explicit")
    words = (ROOT / "scenarios" / "heat_sine.toml", "-o", "run", "--device", "cpu", "-q", *long)
    words = (*words, "--set", "output.checkpoint_every=1")
    running = job(tmp_path, *words)
    while running.poll() is None and not (tmp_path / "run" / "checkpoint.h5").exists():
        time.sleep(0.01)
    running.send_signal(signal.SIGTERM)
    time.sleep(0.01)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 75, said
    assert (tmp_path / "asked").read_text() == "requeue 78\n"
    again = job(tmp_path, *words, "--max-minutes", "0")
    assert again.wait(timeout=120) == 75
    assert (tmp_path / "asked").read_text() == "requeue 78\n" * 2


def test_a_job_with_a_mistake_does_not_come_again(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('solver = "heat"\n')
    running = job(tmp_path, "bad.toml")
    assert running.wait(timeout=120) == 2
    assert not (tmp_path / "asked").exists()
