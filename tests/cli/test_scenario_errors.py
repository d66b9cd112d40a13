"""Every mistake in a scenario is found and shown where it stands: golden reports of typical ones, and hostile files.

To write the reports anew: ``SIMSUITE_GOLDEN=write pytest tests/cli/test_scenario_errors.py``; then read them.
"""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from running import call, no_hang

from simsuite.errors import Mistake, ScenarioError, UsageError
from simsuite.scenario import json_schema, load, settings
from simsuite.scenario.common import Section
from simsuite.scenario.load import load_table
from simsuite.scenario.shape import choices, fields_of
from simsuite.scenario.source import MAX_BYTES

GOLDEN = Path(__file__).parents[1] / "golden" / "errors"
CASES = sorted(path.stem for path in GOLDEN.glob("*.toml"))

HEAT = """\
solver = "heat"
[grid]
nx = 8
ny = 8
[material]
diffusivity = 1e-4
[initial]
temperature = "x*(1 - x)"
[boundary]
left = {kind = "temperature", value = 1}
[[probe]]
name = "P"
x = 0.5
y = 0.25
[time]
end = 0.1
dt = 1.0
"""


def write(directory, text):
    path = directory / "plate.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def report(path, overrides=()):
    with pytest.raises(ScenarioError) as caught:
        load(path, overrides)
    assert caught.value.exit_code == 2
    assert caught.value.mistakes
    return caught.value.report


def expect(name, text):
    text = text.replace(str(GOLDEN), "HERE")
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("SIMSUITE_GOLDEN") == "write":
        golden.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CASES)
def test_golden(name, monkeypatch):
    """Overrides stand in the scenario's first lines as ``# --set key=value``."""
    monkeypatch.chdir(GOLDEN)
    lines = Path(f"{name}.toml").read_text(encoding="utf-8").splitlines()
    overrides = [line.removeprefix("# --set ") for line in lines if line.startswith("# --set ")]
    expect(name, report(f"{name}.toml", overrides))


def test_there_are_enough_golden_cases():
    assert len(CASES) >= 20


def test_mistakes_that_only_a_solver_sees(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, HEAT)
    scenario = load("plate.toml", ["grid.nx=16"])
    mistakes = [
        Mistake(("run", "device"), "there is no GPU"),
        Mistake(("time", "dt"), "this step is unstable", "take at most 0.5"),
        Mistake(("grid", "nx"), "must be even more", on_key=True),
        Mistake(("initial", "temperature"), "is odd here", column=3),
        Mistake(("time", "stepper"), "cannot do that"),
    ]
    error = scenario.explain(mistakes)
    assert [m.path[-1] for m in error.mistakes] == ["temperature", "stepper", "dt", "device", "nx"]
    expect("_explained", error.report)


def test_where_a_file_is_looked_for_is_said_in_full(tmp_path, monkeypatch):
    """Also where the scenario is named from its own directory."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, HEAT.replace('temperature = "x*(1 - x)"', 'temperature = {file = "../none/T.npy"}'))
    assert f"looked for {str(tmp_path.parent / 'none' / 'T.npy')!r}" in report("plate.toml")


def test_files_of_nearly_the_same_name_are_offered(tmp_path):
    (tmp_path / "field.npy").write_bytes(b"")
    (tmp_path / "data").mkdir()
    (tmp_path / "m5_start.toml").write_bytes(b"")
    for given, wanted in {
        "feild.npy": f"did you mean {str(tmp_path / 'field.npy')!r}?",
        "field.csv": f"did you mean {str(tmp_path / 'field.npy')!r}?",
        "start.csv": f"looked for {str(tmp_path / 'start.csv')!r}",  # a scenario is no data
        "other.npy": f"looked for {str(tmp_path / 'other.npy')!r}",
        "data": "is a directory, not a file",
        "none/field.npy": "looked for",
        "\0": "no such file",
    }.items():
        text = HEAT.replace('temperature = "x*(1 - x)"', f"temperature = {{file = {json.dumps(given)}}}")
        assert wanted in report(write(tmp_path, text))
    assert f"did you mean {str(tmp_path / 'plate.toml')!r}?" in report(tmp_path / "palte.toml")
    assert "did you mean" not in report(tmp_path / "other.toml")
    assert "did you mean" not in report(tmp_path / "field.toml"), "no scenario, though of that name"
    assert "there are m5_start.toml, plate.toml" in report(tmp_path / "other.toml")
    for i in range(10):
        (tmp_path / f"a{i}.toml").touch()
    assert "there are a0.toml, a1.toml" in report(tmp_path / "other.toml")
    assert "a7.toml and 4 more" in report(tmp_path / "other.toml")


@pytest.mark.parametrize(
    ("name", "key"), [("A.csv", 'matrix = {file = "A.csv"}'), ("k.PNG", 'conductivity = {file = "k.PNG", values')]
)
def test_data_given_as_a_scenario_are_called_that(tmp_path, name, key):
    (tmp_path / name).write_bytes(b"\xff" * (3 << 20))
    text = report(tmp_path / name)
    assert f"{str(tmp_path / name)!r} is a file of data, not a scenario" in text
    assert f"a scenario names it in place of numbers, as in {key}" in text


def test_colour_changes_nothing_else(tmp_path):
    path = write(tmp_path, HEAT.replace("nx", "nxx"))
    with pytest.raises(ScenarioError) as caught:
        load(path, colour=True)
    coloured = caught.value.report
    assert "\x1b[1;31m" in coloured
    for code in ("\x1b[1;31m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == report(path)


def test_resolved_scenario_loads_back(tmp_path):
    path = write(tmp_path, HEAT)
    scenario = load(path, settings({"grid.nx": 512, "title": 'say "hi"', "boundary.right": {"kind": "insulated"}}))
    assert (scenario.model.grid.nx, scenario.model.title, scenario.solver) == (512, 'say "hi"', "heat")
    resolved = tmp_path / "scenario.toml"
    resolved.write_text(scenario.resolved_toml(), encoding="utf-8")
    assert load(resolved, base=path.parent).model == scenario.model
    assert scenario.differences(resolved.read_text(encoding="utf-8")) == []
    assert load(path).differences(resolved.read_text(encoding="utf-8")) == ["title", "grid.nx"]
    changed = load(path, ["grid.nx=512", 'title=say "hi"', "probe.0.x=0.125", "run.seed=7"])
    assert changed.differences(scenario.resolved_toml()) == ["run.seed", "probe.0.x"]


def test_overrides_take_toml_or_text(tmp_path):
    path = write(tmp_path, HEAT)
    overrides = ["boundary.left.value=sin(t)", "run.device = cpu", "output.times=[0.05, 0.1]", "probe.0.name=Q"]
    model = load(path, overrides).model
    assert (str(model.boundary.left.value), model.run.device) == ("sin(t)", "cpu")
    assert (model.output.times, model.probe[0].name) == ([0.05, 0.1], "Q")
    assert load(path, ["output.frames=5", "output.frames=7"]).model.output.frames == 7


def test_byte_order_mark_and_windows_line_ends(tmp_path):
    path = write(tmp_path, b"\xef\xbb\xbf" + HEAT.replace("\n", "\r\n").encode())
    assert load(path).model == load(write(tmp_path, HEAT)).model


HOSTILE = {
    "brackets": "a = " + "[" * 100_000,
    "braces": "a = " + "{b = " * 100_000,
    "dotted key": "a" + ".a" * 20_000 + " = 1",
    "quoted dotted key": '"a"' + '."a"' * 20_000 + " = 1",
    "dotted header": "[" + "a." * 20_000 + "a]",
    "digits": "a = " + "9" * 100_000,
    "long file": "#" * (MAX_BYTES + 1),
    "nul": HEAT + "\0",
    "nul in string": HEAT.replace('"P"', '"\0"'),
    "nul in file name": HEAT.replace('"x*(1 - x)"', '{file = "a\\u0000b"}'),
    "not utf-8": HEAT.encode() + b"\xff\xfe",
    "utf-16": HEAT.encode("utf-16"),
    "open strings": 'a = "' + '\\"' * 400_000,
    "open long strings": '"""' * 300_001,
    "terminal escapes": HEAT.replace("nx", '"\\u001b[2J"'),
    "many unknown keys": 'solver = "heat"\n' + "".join(f"k{i} = 1\n" for i in range(20_000)),
    "many wrong elements": HEAT + "[output]\ntimes = [" + '"a",' * 50_000 + "]\n",
    "many sections": "".join(f"[a.b.c.d.e.f.g.h{i}]\n" for i in range(10_000)),
    "long expression": HEAT.replace("x*(1 - x)", "x+" * 100_000 + "x"),
    "deep expression": HEAT.replace("x*(1 - x)", "(" * 900 + "x" + ")" * 900),
    "huge power": HEAT.replace("diffusivity = 1e-4", 'diffusivity = "9**9**9**9"'),
    "empty": "",
    "section of wrong type": HEAT + "[[output]]\n",
    "all of wrong type": "solver = []",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_quickly(name, tmp_path):
    path = write(tmp_path, HOSTILE[name])
    with no_hang():
        text = report(path)
    assert text.startswith("error: ")
    assert len(text) < 50_000
    assert all(c == "\n" or c.isprintable() for c in text)


@pytest.mark.parametrize(
    "override",
    ["", "=", "a b=1", "x" * 100_000, "a" + ".a" * 50_000 + "=1", "grid.nx=" + "[" * 100_000, "title=a\0b\x1b"],
)
def test_hostile_overrides_are_refused(override, tmp_path):
    path = write(tmp_path, HEAT.replace("dt = 1.0", "dt = 0.0"))
    text = report(path, [override])
    assert all(c == "\n" or c.isprintable() for c in text)


def test_settings_take_what_python_has(tmp_path):
    values = {
        "grid.nx": np.int64(16),
        "grid.lx": np.float32(0.5),
        "output.times": np.array([0.05, 0.1]),
        "output.directory": Path("runs") / "q",
        "initial": {"temperature": np.str_("x")},
        "probe": [{"name": "P", "x": np.float64(0.25), "y": 0}],
    }
    model = load(write(tmp_path, HEAT), settings(values)).model
    assert (model.grid.nx, model.grid.lx, model.output.times) == (16, 0.5, [0.05, 0.1])
    assert (model.output.directory, model.probe[0].x) == (str(Path("runs") / "q"), 0.25)
    assert settings({"a": np.bool_(True), "b": np.eye(2)}) == ("a=true", "b=[[1.0, 0.0], [0.0, 1.0]]")


def test_settings_name_the_part_that_cannot_be_written():
    edge = {"kind": "convection", "h": 0.01, "ambient": lambda t: 30}
    with pytest.raises(UsageError) as caught:
        settings({"boundary": {"right": {"kind": "insulated"}, "left": edge}})
    assert "`boundary.left.ambient` cannot be set to this value of type function" in str(caught.value)
    assert str(caught.value).endswith('is an expression in quotes, such as "30 + 5*sin(t)"')
    with pytest.raises(UsageError, match=r"`times\.1` cannot be set to None: a scenario has no way to write it$"):
        settings({"times": [1.0, None]})
    endless = []
    endless.append(endless)
    with pytest.raises(UsageError, match="`times` cannot be set to this value of type list"):
        settings({"times": endless})


@pytest.mark.parametrize("key", ["region.shape=circle", "region.0.shape=circle"])
def test_an_element_of_a_list_that_the_file_does_not_have_is_shown_where_it_is_set(tmp_path, key):
    text = report(write(tmp_path, HEAT), [key])
    assert text.startswith(f"error: `region` must be a list, got a table\n --> --set {key}\n")
    assert text.splitlines()[4] == " | ^^^^^^"
    assert text.endswith("put [[region]] into it; `region.0.shape` is then the `shape` of the first")


def test_what_a_table_lacks_that_is_set_is_shown_where_it_is_set(tmp_path):
    text = report(write(tmp_path, HEAT), ["reference.manufactured=true"])
    assert " --> --set reference.manufactured=true\n" in text
    assert "missing key `ny` in [grid]\n --> " + str(tmp_path) in report(
        write(tmp_path, HEAT.replace("ny = 8\n", "")), ["grid.nx=9"]
    ), "the table is that of the file"


@pytest.mark.parametrize("value", [None, 1j, {1, 2}, np.array([1j]), object()], ids=lambda v: type(v).__name__)
def test_settings_name_the_key_of_what_cannot_be_written(value):
    with pytest.raises(UsageError, match=r"`grid\.nx` cannot be set to"):
        settings({"grid.ny": 4, "grid.nx": value})


def test_missing_file(tmp_path):
    assert "cannot read" in report(tmp_path / "absent.toml")
    assert "cannot read" in report(tmp_path)


@pytest.mark.parametrize("solver", ["heat", "gbm", "linear", None])
def test_schema_describes_every_key(solver):
    schema = json_schema(solver)
    definitions = [*schema["$defs"].values(), *([schema] if solver else [])]
    for definition in definitions:
        for name, key in definition.get("properties", {}).items():
            described = "description" in key or "$ref" in key or "const" in key or "items" in key
            assert described, (definition.get("title"), name, key)


def sections(section=Section):
    return [section, *(each for subclass in section.__subclasses__() for each in sections(subclass))]


def test_answers_to_expected_words_name_what_there_is():
    """Each is found by the word as users may write it, and what it says to write is one of the key's choices."""
    json_schema()  # imports all models
    known, answered = {}, set()
    for section in sections():
        for key, field in fields_of(section).items():
            known.setdefault(key, set()).update(choices(field))
    for section in sections():
        for key, answers in section.expected_values.items():
            for word, answer in answers.items():
                assert re.fullmatch("[a-z0-9]+", word), word
                assert word not in known[key]
                written = re.match(r'(?:write|the shortest is) (?:kind = )?"(\w+)"', answer)
                if written and known[key]:
                    assert written[1] in known[key], answer
                    answered.add(key)
    assert {"stepper", "kind", "scheme", "method", "style"} <= answered


def test_schema_of_expressions():
    initial = json_schema("heat")["$defs"]["Initial"]["properties"]["temperature"]
    assert {"type": "number"} in initial["anyOf"]
    assert {"type": "string", "description": "expression in x, y"} in initial["anyOf"]
    assert initial["default"] == 0.0
    assert json_schema("heat")["properties"]["initial"]["default"] == {"temperature": 0.0}


def test_an_option_of_a_command_is_shown_as_it_was_given(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, HEAT)
    for given, shown in ((["--device", "gpu"], "--device gpu"), (["--set", "run.device=gpu"], "--set run.device=gpu")):
        done = call(capsys, "check", "plate.toml", *given)
        assert done.returncode == 2
        assert f" --> {shown}\n" in done.stderr
        line, caret = done.stderr.splitlines()[3:5]
        assert line[caret.index("^") : caret.rindex("^") + 1] == "gpu"


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("time.end", "1/0", "`/` by 0 has no value"),
        ("time.end", "1e300*1e300", "has no finite value"),
        ("grid.nx", "2**5/3", "must be a whole number, got 10.66"),
        ("time.end", "soon", 'must be a number, got "soon"'),
        ("time.end", "2*pi*w", "unknown name `w`"),
    ],
)
def test_arithmetic_without_a_number_as_its_result(tmp_path: Path, key: str, text: str, said: str) -> None:
    (tmp_path / "s.toml").write_text(HEAT, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path / "s.toml", [f'{key}="{text}"'])
    assert said in str(caught.value)


def test_a_directory_is_answered_with_the_scenarios_in_it(tmp_path):
    write(tmp_path, HEAT)
    assert report(tmp_path).endswith("\n = help: give the TOML file of a scenario: there is only plate.toml")
    (tmp_path / "none").mkdir()
    assert report(tmp_path / "none").endswith("give the TOML file of a scenario: there is none in it")


@pytest.mark.parametrize(
    ("override", "message", "help"),
    [
        (
            "boundary.top={kind=convection, h=10, ambient=20+5*sin(t)}",
            "must be a table or a list",
            'need quotes: {kind="convection", h=10, ambient="20+5*sin(t)"}',
        ),
        ("boundary.top={kind=insulated", "must be a table or a list", "such as {kind ="),
        ("time.dt_max=0.1", "unknown key `dt_max`", "no step is longer than `tolerance` allows"),
        ("time.max_step=0.1", "unknown key `max_step`", "write `every` or `samples` in [output]"),
        ("output.checkpoint_minutes=0", "must be greater than 0", "a large number, such as 1e9"),
        ("source=[{power = [[0, 1e5], [10, 0]]}]", "must be a number or an expression", '"where(t < 10, 1e5, 0)"'),
        ("initial.temperature=[[0, 1e5], [10, 0]]", "must be a number or an expression", "from place to place"),
        ("probe.P.x=0.1", "has no element `P`", "counted from 0: it has only probe.0"),
    ],
)
def test_what_is_hardly_meant_is_answered_with_what_to_write(tmp_path, override, message, help):
    text = report(write(tmp_path, HEAT), [override])
    assert message in text
    assert help in text


def test_a_mistake_in_an_override_is_shown_in_that_one(tmp_path):
    """Not in a later one, which sets another key of the same table that the file does not have."""
    text = report(write(tmp_path, HEAT), ["output.checkpoint_minutes=0", "output.frames=3"])
    assert "--set output.checkpoint_minutes=0" in text
    assert "output.frames" not in text


def test_arrays_from_python_are_not_quoted_as_a_whole():
    table = {"solver": "heat", "grid": {"nx": 3, "ny": 3}, "material": {"diffusivity": 1.0}, "time": {"end": 1.0}}
    table |= {"initial": {"temperature": np.ones((3, 3))}}
    with pytest.raises(ScenarioError) as caught:
        load_table(table, Path("plate.toml"))
    assert re.search(r"temperature\" = \[\[1\.0, .*, … \(9 numbers\)", caught.value.report)
    assert caught.value.report.count("1.0") < 9
