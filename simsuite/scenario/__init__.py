"""Scenario files: what they may say, what is wrong with them, and what they resolve to."""

from simsuite.scenario.keys.schema import editor_schema, json_schema
from simsuite.scenario.load import Scenario, load, load_table
from simsuite.scenario.overrides import settings

__all__ = ["Scenario", "editor_schema", "json_schema", "load", "load_table", "settings"]
