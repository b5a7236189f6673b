"""YAML that we write comes back as it was, whatever a joint is called."""

from __future__ import annotations

from typing import Any
from unicodedata import category

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from geared_dynamics.description.yaml_files import yaml_text
from geared_dynamics.description.yaml_loader import load_yaml

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), NAMES)
@example({"\U0001f9be": 1}, "\U0001f9be")  # beyond U+FFFF: one character, not two
@example({"a\x7f\x85\u2028b": "\x1b[31m\ufeff"}, "\x1b[31mred\x7f")
@example({"a": "no", "b": "1e-4", "c": "0x10", "d": "~", "e": "- x", "f": "# y"}, "")
def test_what_is_written_is_read(data: dict[str, Any], comment: str) -> None:
    text = yaml_text(data, comment)
    assert load_yaml(text, "text") == data
    shown = text.replace("\n", "").replace("\t", "")  # the controls that YAML prints
    assert {category(letter) for letter in shown}.isdisjoint({"Cc", "Zl", "Zp"})


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml.CSafeLoader])
def test_other_readers_agree(loader: Any) -> None:
    """Of YAML 1.1, with the same names and numbers."""
    data = {"\U0001f9be arm": {"k\x7f": 1.5e-07, "n": 3, "no": "yes", "empty": ""}}
    assert yaml.load(yaml_text(data, "a\x1bb"), loader) == data
