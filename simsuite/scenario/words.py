"""The messages to users about the faults of a scenario."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterable

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from simsuite.errors import Mistake
from simsuite.expressions import ExpressionError, NumberWithUnit
from simsuite.scenario.branches import Context, Fault
from simsuite.scenario.common import FieldMistake, Section
from simsuite.scenario.numbers import Terms, number, unit_of
from simsuite.scenario.shape import (
    candidates,
    choices,
    field_at,
    fields_of,
    header,
    homes,
    is_section,
    models_at,
    selectors,
    tables_in,
    value_at,
)
from simsuite.scenario.similar_names import DATA
from simsuite.scenario.spans import KeyPath, Table, key_name
from simsuite.scenario.types import expressions_in, variables_of
from simsuite.scenario.units import PLAIN, UnitError, quantity
from simsuite.words import LIKE_SHORT, closest, counted, looks

_EXPECTED = {
    "float_type": "a number",
    "int_type": "a whole number",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "expression_type": "a number or an expression",
    "complex_number_type": 'a number, or a complex one as "0.5-0.25j"',
}
_PAIR = re.compile(r"(?<!\[)\[\w[\w ]*, [\w ]+\]")  # in a description: how two numbers are written
_NEEDED = re.compile("; needed unless [^;]*$")  # in a description: no matter where a key is given
_FORMS = re.compile("; number(,| or expression).*$")  # in a description: in which forms a value can be given
_WITH_UNIT = re.compile(r"\s*[-+]?[\d.]++(?:[eE][-+]?\d+)?+\s*(?![ij]$)[A-Za-zµ°Ω%]")  # at the start: "10 min + .."
_ALONE = 'a number with one unit is a text of its own, "5 mm"; else write the plain number, or name it in [constants]'
_NUMBERS_ONLY = {"float_type", "int_type", "complex_number_type"}
_ARITHMETIC = re.compile(r"[\d+*/(]")  # in a text that was meant as a number
_NUMBERS = re.compile(r"\s*[-+.\deE]+(?:[,;\s]+[-+.\deE]+)*+\s*")  # as in "0, 50"
# a word or expression without quotes after an equals sign, other than true, false or a number
_UNQUOTED = re.compile(
    r"(=\s*)(?!(?:true|false|[-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*[,}])"
    r"([^\"'\[\]{},=\s](?:[^\"'\[\]{},=]*[^\"'\[\]{},=\s])?)(?=\s*[,}])"
)
_MOST_WRITTEN = 100  # the longest table that is written out with quotes
_SEPARATORS = re.compile(r"[,;\s]+")
_BOUNDS = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
    "multiple_of": ("multiple_of", "a multiple of"),
}
_SIGNS = ("greater_than", "greater_than_equal")  # errors for bounds that people rarely violate who know what the key is
_TRUTHS = {**dict.fromkeys(("yes", "on", "y"), "true"), **dict.fromkeys(("no", "off", "n"), "false")}
_LENGTHS = {"too_short": ("min_length", "at least"), "too_long": ("max_length", "at most")}


def mistakes(fault: Fault, model: type[BaseModel], data: Table, terms: Terms) -> list[Mistake]:
    """What is wrong, for users. Several only where a validator found several. terms: what numbers refer to."""
    kind, path, context = fault.kinds[0], fault.path, fault.context
    if isinstance(context.get("error"), FieldMistake):
        return [Mistake((*path, *m.path), m.message, m.help, m.column, m.on_key) for m in context["error"].mistakes]
    if kind == "extra_forbidden":
        return [_unknown(fault, model, data)]
    if kind == "missing":
        return [_missing(path, model, data)]
    if (of_number := _of_number(fault, model, data, terms)) is not None:
        return [of_number]
    if fault.is_mismatch:
        answer = _expected_word(fault, model, data) or _example(fault, model, data)
        return [_mismatch(fault, field_at(model, data, path), answer)]
    if kind == "expression":
        return [Mistake(path, context["message"], context["help"], context["column"])]
    field = field_at(model, data, path)
    description = field.description if field else None
    if kind == "expression_with_unit":
        first = _WITH_UNIT.match(str(fault.input)) is not None
        of_what = str(_described(field)) if first else context["help"].partition(": ")[2]
        return [Mistake(path, context["message"], f"{_ALONE}: {of_what}" if of_what else _ALONE, context["column"])]
    if kind == "string_pattern_mismatch":
        help = _expected_word(fault, model, data) or description
        return [Mistake(path, f"{key_name(path)} cannot be {_shown(fault.input)}", help)]
    message, help = _about_value(fault, kind, context)
    if kind in _LENGTHS and (form := _PAIR.search(description or "")):
        help = f"write {form[0]}{_of_array(field, path)}"
    if kind in _SIGNS and help is None and description:
        help = _FORMS.sub("", _NEEDED.sub("", description))
    return [Mistake(path, message, help, on_key=kind in ("value_error", "assertion_error"))]


def _of_number(fault: Fault, model: type[BaseModel], data: Table, terms: Terms) -> Mistake | None:
    """What is wrong with a text that was meant as a number, if that is known."""
    text, path = fault.input, fault.path
    takes_numbers = not _NUMBERS_ONLY.isdisjoint(fault.kinds)
    if not isinstance(text, str) or not (takes_numbers or fault.kinds[0] == "expression_with_unit"):
        return None
    if "j" in _as_complex(text).lower() and _reads_as_complex(_as_complex(text)):
        return None
    if "complex_number_type" in fault.kinds and (found := re.search(r"\d[jJ]\b", text)):
        message = "complex numbers are written out: constants and arithmetic do not go together with j"
        return Mistake(fault.path, message, 'as in "0.5-0.25j"', found.start())
    field = field_at(model, data, path)
    while isinstance(path[-1], int):
        path = path[:-1]
    key = str(path[-1])
    unit = next((unit_of(m, key) for m in models_at(model, data, path[:-1]) if key in fields_of(m)), PLAIN)
    try:
        if takes_numbers:
            number(text, terms, unit)
        else:
            quantity(text, unit, terms.scales, terms.constants)
    except UnitError as error:
        return Mistake(fault.path, error.message, _described(field), error.column)
    except NumberWithUnit as error:
        help = f"{_ALONE}: {_described(field)}" if _described(field) else _ALONE
        return Mistake(fault.path, error.message, help, error.column)
    except ExpressionError as error:
        if _ARITHMETIC.search(text) or (terms.constants and not fault.expected):
            return Mistake(fault.path, error.message, error.help or _described(field), error.column)
    return None


def _as_complex(text: str) -> str:
    """A text as Python writes complex numbers, if it is one."""
    return "".join(text.split()).replace("i", "j")


def _about_value(fault: Fault, kind: str, context: Context) -> tuple[str, str | None]:
    name, got = key_name(fault.path), _shown(fault.input)
    if isinstance(fault.input, str) and "got" in context:  # a text without variables
        got = f"{context['got']:g}"
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        short = f"{context[key]:g}"
        bound = short if float(short) == context[key] else context[key]
        help = _of_percent(fault.input) if key == "le" and context[key] == 1.0 else None
        return f"{name} must be {words} {bound}, got {got}", help
    if kind in _LENGTHS:
        key, words = _LENGTHS[kind]
        n = context[key]
        return f"{name} must have {words} {counted(n, 'element')}, got {context['actual_length']}", None
    if kind == "finite_number":
        return f"{name} must be a finite number, got {got}", None
    if kind == "string_too_short":
        return f"{name} must not be empty", None
    if kind == "string_too_long":
        return f"{name} must have at most {context['max_length']} characters", None
    return str(context.get("error", kind.replace("_", " "))), None


def _of_percent(value: object) -> str | None:
    """What to say of a number that is to be 1 at most, where it was probably meant in per cent."""
    if isinstance(value, (int, float)) and 2.0 <= value <= 100.0:
        return f"{value:g} % is {value / 100:g}"
    return None


def _unknown(fault: Fault, model: type[BaseModel], data: Table) -> Mistake:
    *front, key = fault.path
    tables = list(models_at(model, data, tuple(front)))
    known = list(dict.fromkeys(name for m in tables for name in fields_of(m)))
    sections = [m for m in tables if issubclass(m, Section)]
    names = [name for m in sections for name in m.other_names]
    close = fault.suggestion or closest(str(key), known) or closest(str(key), names, LIKE_SHORT)
    others = list(homes(model, str(key), tuple(front)))
    expected = {name: answer for m in reversed(sections) for name, answer in m.expected_keys.items()}
    alike = [name for name in expected if looks(name) == looks(str(key)) and not close]
    answers = [expected[name] for name in (key, *alike) if name in expected]
    same = [m.other_names[str(key)] for m in sections if str(key) in m.other_names]
    if same:
        message = f"`{key}` and `{same[0]}` are two names of one key{_where(front)}"
        return Mistake(fault.path, message, "keep one of them", on_key=True)
    taking = {n for m in tables for n, field in fields_of(m).items() if fault.input in choices(field)}
    if answers:
        help = answers[0]
    elif isinstance(fault.input, str) and len(taking) == 1 and not fault.suggestion:
        help = f'did you mean `{taking.pop()}`, which may be "{fault.input}"?'
    elif key in known:  # in another kind of table that can stand here
        help = f"`{key}` does not go together with the other keys here"
    elif fault.suggestion or (close and not others):
        help = f"did you mean `{close}`?"
    elif others:
        help = f"`{key}` {' or '.join(others)}"
    else:
        help = f"known here: {_listed(known)}"
    if not front and isinstance(fault.input, (dict, list)):
        return Mistake(fault.path, f"unknown section [{key}]", help, on_key=True)
    return Mistake(fault.path, f"unknown key `{key}`{_where(front)}", help, on_key=True)


def _missing(path: KeyPath, model: type[BaseModel], data: Table) -> Mistake:
    field = field_at(model, data, path)
    help = field.description if field else None
    if isinstance(path[-1], int):
        return Mistake(path[:-1], f"{key_name(path[:-1])} has too few elements", help)
    if field and len(path) == 1 and is_section(field):
        needed = [
            name for table in tables_in(field.annotation) for name, f in fields_of(table).items() if f.is_required()
        ]
        help = f"it needs {_listed(needed)}" if needed else help
        return Mistake(path, f"missing section {header(str(path[0]), field)}", help)
    *front, key = path
    tables = {m: fields_of(m) for m in candidates(model, tuple(front)) if key in fields_of(m)}
    given = table if isinstance(table := value_at(data, tuple(front)), dict) else {}
    if any(key in selectors(m) for m in tables):  # without this key it is not known what table is meant
        unknown = [str(name) for name in given if not any(name in fields for fields in tables.values())]
        if (misspelt := closest(str(key), unknown)) is not None:
            message = f"unknown key `{misspelt}`{_where(front)}"
            return Mistake((*front, misspelt), message, f"did you mean `{key}`?", on_key=True)
        tables = {m: fields for m, fields in tables.items() if fields.keys() >= given.keys()} or tables
    allowed = dict.fromkeys(choice for fields in tables.values() for choice in choices(fields[str(key)]))
    if allowed:
        listed = ", ".join(f'"{choice}"' for choice in allowed)
        help = f"one of {listed}" if len(allowed) > 1 else f"add {key} = {listed}"
    return Mistake(path, f"missing key `{key}`{_where(front)}", help)


def _expected_word(fault: Fault, model: type[BaseModel], data: Table) -> str | None:
    """What to answer to a word that a key does not take, though one might think so."""
    if not isinstance(fault.input, str) or not fault.path:
        return None
    key, word = str(fault.path[-1]), re.sub(r"[\s_:-]", "", fault.input.lower())
    tables = [m for m in models_at(model, data, fault.path[:-1]) if issubclass(m, Section)]
    return next((m.expected_values[key][word] for m in tables if word in m.expected_values.get(key, {})), None)


def _mismatch(fault: Fault, field: FieldInfo | None, answer: str | None) -> Mistake:
    """The mistake for a value of another type than the key takes. answer: what to write instead, if that is known
    already."""
    kinds = dict.fromkeys(_EXPECTED.get(kind, "something else") for kind in fault.kinds if kind != "literal_error")
    choices = list(dict.fromkeys(fault.expected))
    sorts = [*kinds, *(f'"{choice}"' for choice in choices)]
    wanted = " or ".join([", ".join(sorts[:-1]), sorts[-1]] if len(sorts) > 1 else sorts)
    if not kinds and len(choices) > 1:
        wanted = "one of " + ", ".join(f'"{choice}"' for choice in choices)
    help = _with_quotes(fault.input) or answer or _advice(fault, field)
    return Mistake(fault.path, f"{key_name(fault.path)} must be {wanted}, got {_shown(fault.input)}", help)


def _with_quotes(value: object) -> str | None:
    """How to write a text that looks like a table whose words lack their quotes, as in --set 'top={kind=insulated}'."""
    if not isinstance(value, str) or not re.fullmatch(r"\s*\{.*=.*\}\s*", value, re.DOTALL):
        return None
    written = _UNQUOTED.sub(lambda word: f'{word[1]}"{word[2]}"', value.strip())
    try:
        tomllib.loads(f"value = {written}")
    except (tomllib.TOMLDecodeError, RecursionError):
        written = '{kind = "insulated"}'
    if len(written) > _MOST_WRITTEN:
        written = '{kind = "insulated"}'
    return f"words and expressions within a table need quotes: {written}"


def _example(fault: Fault, model: type[BaseModel], data: Table) -> str | None:
    """How the value of a key is written, where it has another type: a table, or the name of one."""
    key = str(fault.path[-1])
    tables = [m for m in models_at(model, data, fault.path[:-1]) if issubclass(m, Section)]
    shown = next((m.examples[key] for m in tables if key in m.examples), None)
    field = field_at(model, data, fault.path)
    if shown is not None:
        return shown + "".join(f": {_listed(names)}" for m in tables if (names := _names(data, m.named_by.get(key))))
    if field is None or len(fault.path) != 1 or not is_section(field):
        return shown
    name = header(str(fault.path[0]), field)
    keys = list(dict.fromkeys(key for table in tables_in(field.annotation) for key in fields_of(table)))
    return f"write the section {name}, with {_listed(keys)}"


def _names(data: Table, section: str | None) -> list[str]:
    """The names of the tables of a section, as far as they have any."""
    tables = data.get(section) if section else None
    found = [table.get("name") for table in tables if isinstance(table, dict)] if isinstance(tables, list) else []
    return [name for name in found if isinstance(name, str)]


def _advice(fault: Fault, field: FieldInfo | None) -> str | None:
    value = fault.input
    if isinstance(value, str):
        if "degC" in fault.expected and value.lower().replace("deg", "").strip("°. ") in ("c", "celsius"):
            return 'write "degC"'
        if (close := closest(value, fault.expected)) is not None:
            return f'did you mean "{close}"?'
        near = _as_complex(value)
        if "complex_number_type" in fault.kinds and "j" in near.lower() and _reads_as_complex(near):
            return f'write "{near}"'
        truth = _TRUTHS.get(value.lower(), value.lower())
        if truth in ("true", "false") and "bool_type" in fault.kinds:
            return f"write {truth} without quotes"
        if value.lower().endswith(DATA) and not set(fault.kinds).isdisjoint(("dict_type", "model_type")):
            return f'write {{file = "{value}"}}'
    if isinstance(value, float) and "int_type" in fault.kinds and value.is_integer():
        return f"write {int(value)}"
    if isinstance(value, (int, float)) and "string_type" in fault.kinds:
        return f'write "{_shown(value)}"'
    if isinstance(value, list) and "expression_type" in fault.kinds:
        varying = 'a value that varies from place to place is an expression in quotes, such as "20 + 5*x"'
        names = next(variables_of((*field.metadata, field.annotation)), ()) if field is not None else ()
        if "t" in names and all(isinstance(item, list) and len(item) == 2 for item in value):
            return (
                'a value that changes with time is an expression in quotes: "where(t < 10, 1e5, 0)" jumps at t = 10, '
                '"1e5*max(0, 1 - t/10)" falls until then'
            )
        return f"{varying}{_of_array(field, fault.path)}"
    if isinstance(value, dict) and fault.kinds == ["expression_type"] and field is not None:
        return _no_table(value, field)
    if set(fault.kinds) == {"list_type"} and isinstance(value, str) and _NUMBERS.fullmatch(value):
        return f"write [{', '.join(_SEPARATORS.split(value.strip()))}]"
    of_expressions = field is not None and any(expressions_in((*field.metadata, field.annotation)))
    listed = set(fault.kinds) == {"list_type"} or ("list_type" in fault.kinds and of_expressions)
    if listed and isinstance(value, (int, float, str)) and not isinstance(value, bool):
        return f"write [{_shown(value)}]" if len(str(value)) <= 40 else None
    return None


def _of_array(field: FieldInfo | None, path: KeyPath) -> str:
    """How an array of all cells is given for a key, if it can be, as the end of a help."""
    if field is None or not any("file" in fields_of(table) for table in tables_in(field.annotation)):
        return ""
    name = next(str(key) for key in reversed(path) if isinstance(key, str))
    return f'; an array of all cells is {{file = "{name}.npy"}}, as numpy.save writes it'


def _no_table(value: Table, field: FieldInfo) -> str:
    """What to write in place of a table for a key that takes a number or an expression alone."""
    marks = list(expressions_in((*field.metadata, field.annotation)))
    variables = marks[0].variables if marks else ()
    if marks and marks[0].of_file is not None and "file" in value:
        return marks[0].of_file
    forms = "numbers and expressions" + (f" in {', '.join(variables)}" if variables else "")
    file = ", no data files" if "file" in value else ", no tables"
    lines = '; data over time are lines joined by conditions, such as "where(t < 10, 2*t, 20)"'
    return f"this key takes {forms} only{file}{lines if 't' in variables else ''}"


def _described(field: FieldInfo | None) -> str | None:
    """What a key means, without words on when it is needed."""
    return _NEEDED.sub("", field.description) if field and field.description else None


def _reads_as_complex(text: str) -> bool:
    try:
        complex(text)
    except ValueError:
        return False
    return True


def _where(path: Iterable[str | int]) -> str:
    match list(path):
        case []:
            return ""
        case [str(section)]:
            return f" in [{section}]"
        case [str(section), int()]:
            return f" in [[{section}]]"
        case other:
            return f" in `{'.'.join(map(str, other))}`"


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:16])
    return shown + (", …" if len(names) > 16 else "") if names else "no keys"


def _shown(value: object) -> str:
    """A value in a few words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**20 else "a huge number"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 40 else "a long text"
    if isinstance(value, (datetime.date, datetime.time)):
        return "a date or time"
    return "a list" if isinstance(value, list) else "a table"
