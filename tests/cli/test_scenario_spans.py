"""Spans of keys and values, against what tomllib reads from the same text."""

import tomllib

import pytest

from simsuite.scenario.spans import find_spans, place_in_string

TEXT = '''\
# ä comment with wide characters 温度
top.level = 1
"quoted key" = """
text"""
[grid . sub]
nx = 12
point = {x = 1.5, y.z = [1, {a = "é"}, 's'], "k" = -1.0}
[[asset]]
spot = 90
[[asset]]
spot = 100
[asset.more]
ok = true
[[asset.leg]]
v = [
  1,  # a comment, with a comma
  2,
]
[[asset.leg]]
v = []
[last]
day = 1979-05-27
'''


def leaves(value, path=()):
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path, value


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n")], ids=["unix", "windows"])
def test_every_value_and_key_is_where_it_stands(text):
    spans = find_spans(text)
    for path, value in leaves(tomllib.loads(text)):
        start, end = spans.values[path]
        assert tomllib.loads(f"v = {text[start:end]}")["v"] == value
        if isinstance(path[-1], str):
            start, end = spans.keys[path]
            assert text[start:end].strip('"') == path[-1]


def test_tables_stand_at_their_headers():
    spans = find_spans(TEXT)
    for path, name in {
        ("grid",): "grid",
        ("grid", "sub"): "sub",
        ("asset", 1): "asset",
        ("asset", 1, "more"): "more",
    }.items():
        start, end = spans.values[path]
        assert TEXT[start:end] == name
    assert spans.values["asset", 1, "leg", 0] != spans.values["asset", 1, "leg", 1]
    assert TEXT[slice(*spans.values["grid", "sub", "point"])].startswith("{x")
    assert not spans.duplicates


def test_duplicates():
    text = "a = 1\n[b]\nx = 1\nx = 2\n[b]\n"
    assert [(path, text[slice(*second)]) for path, _, second in find_spans(text).duplicates] == [
        (("b", "x"), "x"),
        (("b",), "b"),
    ]


@pytest.mark.parametrize(
    "literal",
    [
        '"plain@"',
        "'plain@'",
        r'"tab\t and \u00e9 and \U0001F600 \\ \"@"',
        '"""\nfirst\nsecond@"""',
        "'''\nfirst\nsecond@'''",
        '"""first \\\n   joined @"""',
        "'back\\slash@'",
    ],
)
def test_place_in_string(literal):
    text = f"k = {literal}\n"
    decoded = tomllib.loads(text)["k"]
    for column in (0, decoded.index("@")):
        place = place_in_string(text, (4, len(text) - 1), column)
        assert text[place] == decoded[column] or decoded[column] == "\t"
