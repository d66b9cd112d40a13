"""What a Monte Carlo scenario may say: defaults, and every mistake at its place."""

from __future__ import annotations

import pytest
from gbm_problems import ASSET, problem

from simsuite.errors import ScenarioError
from simsuite.scenario import load

VALID = """\
solver = "gbm"
[market]
rate = 0.05
correlation = [[1.0, 0.5], [0.5, 1.0]]
[[asset]]
spot = 100.0
volatility = 0.2
[[asset]]
name = "second"
spot = 50.0
volatility = 0.3
[time]
end = 1.0
steps = 12
[paths]
count = 1000
[[option]]
style = "european"
payoff = "call"
strike = 100.0
[[option]]
name = "mean"
style = "asian"
payoff = "put"
strike = 40.0
asset = "second"
"""


def mistakes(tmp_path, text: str) -> dict[tuple, str]:
    path = tmp_path / "paths.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        load(path)
    return {m.path: m.message for m in caught.value.mistakes}


def test_defaults(tmp_path):
    path = tmp_path / "paths.toml"
    path.write_text(VALID)
    model = load(path).model
    assert model.asset_names == ["A", "second"]
    assert model.option_names == ["option1", "mean"]
    assert (model.paths.antithetic, model.paths.sampling, model.time.scheme) == (False, "pseudo", "exact")
    assert model.output.quantiles == [0.05, 0.25, 0.5, 0.75, 0.95]


def test_assets_are_named_like_columns_of_a_spreadsheet():
    names = problem(asset=[{"spot": 1.0, "volatility": 0.1}] * 28).scenario.asset_names
    assert (names[0], names[25], names[26], names[27]) == ("A", "Z", "AA", "AB")


@pytest.mark.parametrize(
    ("old", "new", "path", "message"),
    [
        ("[[1.0, 0.5], [0.5, 1.0]]", "[[1.0, 0.5], [0.5]]", ("market", "correlation", 1), "row 2 has 1 entries"),
        (
            "[[1.0, 0.5], [0.5, 1.0]]",
            "[[1.0, 0.5], [0.4, 1.0]]",
            ("market", "correlation", 1, 0),
            "across the diagonal",
        ),
        ("[[1.0, 0.5], [0.5, 1.0]]", "[[1.0, 0.5], [0.5, 0.9]]", ("market", "correlation", 1, 1), "is 1, not 0.9"),
        ("[[1.0, 0.5], [0.5, 1.0]]", "[[1.0, 1.5], [1.5, 1.0]]", ("market", "correlation"), "eigenvalue is -0.5"),
        ("[[1.0, 0.5], [0.5, 1.0]]", "[[1.0, 1.0], [1.0, 1.0]]", ("market", "correlation"), "positive definite"),
        ("[[1.0, 0.5], [0.5, 1.0]]", "[[1.0]]", ("market", "correlation"), "1 x 1 matrix, but there are 2 assets"),
        ("[[asset]]\nspot", '[[asset]]\nname = "second"\nspot', ("asset", 1, "name"), "'second' is taken"),
        ('name = "mean"', 'name = "option1"', ("option", 1, "name"), "'option1' is taken"),
        ('asset = "second"', 'asset = "B"', ("option", 1, "asset"), "there is no asset 'B'"),
        ('asset = "second"', "fixings = 13", ("option", 1, "fixings"), "13 fixings do not fit on 12 time steps"),
        ("count = 1000", "count = 1001\nantithetic = true", ("paths", "count"), "1001 is odd"),
        ("count = 1000", "count = 1000\nbatch = 1000", ("paths", "batch"), "multiple of 1024"),
        ("count = 1000", "count = 1000\n[output]\nstore_paths = 1001", ("output", "store_paths"), "only 1000 paths"),
        ("count = 1000", "count = 1000\n[output]\nquantiles = [0.5, 1.0]", ("output", "quantiles", 1), "less than 1"),
        ("count = 1000", "count = 1000\n[output]\nquantiles = [0.5, 0.4]", ("output", "quantiles", 1), "sort them"),
        ("count = 1000", "count = 1000\n[output]\ntimes = [1.5]", ("output", "times", 0), "after the end"),
        ("count = 1000", "count = 1000\n[output]\nsamples = 5", ("output", "samples"), "frames only"),
        ("steps = 12", "steps = 1000000001", ("time", "steps"), "at most 1e+09"),
        ("count = 1000", "count = 2000000000001", ("paths", "count"), "at most 2e+12"),
        ("spot = 50.0", "spot = 1e101", ("asset", 1, "spot"), "at most 1e+100"),
        ("strike = 40.0", "strike = 1e101", ("option", 1, "strike"), "at most 1e+100"),
        ("count = 1000", "count = 1000\n[output]\nframes = 14", ("output", "frames"), "12 steps, so at most 13 frames"),
        ("count = 1000", "count = 1000\n[output]\nevery = 0.05", ("output", "every"), "a step (0.0833333 years)"),
        ('name = "second"\nspot', 'name = "second\\u0000"\nspot', ("asset", 1, "name"), "printable characters only"),
        ('name = "mean"', 'name = "mean\\n"', ("option", 1, "name"), "not U+000A"),
        ("strike = 40.0", "strike = 40.0\nbarrier = 1.0", ("option", 1, "barrier"), "barrier"),
        ('style = "asian"', 'style = "lookback"', ("option", 1, "style"), "lookback"),
    ],
)
def test_mistakes_stand_where_they_were_made(tmp_path, old, new, path, message):
    assert old in VALID
    found = mistakes(tmp_path, VALID.replace(old, new))
    assert list(found) == [path]
    assert message in found[path]


def test_largest_that_is_legal():
    p = problem(paths={"count": 2 * 10**12}, time={"steps": 10**9}, asset=[ASSET | {"spot": 1e100}])
    assert p.clock.end == p.n_batches * 10**9


def test_the_steps_of_all_batches_can_be_counted():
    steps = {"end": 1.0, "steps": 10**9}
    with pytest.raises(ScenarioError, match=r"paths\.batch: 9765625 batches of 1000000000 steps are more than"):
        problem(paths={"count": 10**10, "batch": 1024}, time=steps)
    assert problem(paths={"count": 9 * 10**9, "batch": 1024}, time=steps).clock.end < 2**53


def test_all_mistakes_are_found_at_once(tmp_path):
    text = VALID.replace("rate = 0.05", "rate = 0.05\ndrift = 0.1").replace(
        "spot = 50.0", "spot = 50.0\ndividend_yield = 0.1"
    )
    text = text.replace('asset = "second"', 'asset = "third"\nfixings = 100')
    assert set(mistakes(tmp_path, text)) == {
        ("asset", 1, "dividend_yield"),
        ("option", 1, "asset"),
        ("option", 1, "fixings"),
    }
