"""Where a chat template lies beside an adapter, and when two are one."""

import io
import json

import pytest

from veneer.formats.chat_template import is_another, read_config, read_template

LONG = "x" * (64 << 10)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"chat_template": "{{ m }}", "eos_token": {"content": "</s>"}}, "{{ m }}"),
        (
            {
                "chat_template": [
                    {"name": "tool_use", "template": "T"},
                    {"name": "default", "template": "D"},
                ]
            },
            "D",
        ),
        ({"chat_template": [{"name": "rag", "template": "R"}]}, None),
        ({"eos_token": "</s>"}, None),
        ({"chat_template": 7}, None),
        ({"chat_template": LONG}, LONG),
        ({"chat_template": LONG + "x"}, None),
        ([], None),
    ],
)
def test_the_config_of_a_tokenizer(value: object, found: str | None):
    assert read_config(io.BytesIO(json.dumps(value).encode())) == found


def test_what_is_no_json_has_no_template():
    assert read_config(io.BytesIO(b"[" * 100_000)) is None


def test_a_template_of_its_own_is_taken_whole_or_not_at_all():
    assert read_template(io.BytesIO(b"{{ m }}\n")) == "{{ m }}\n"
    assert read_template(io.BytesIO(b"")) is None
    assert read_template(io.BytesIO(LONG.encode() + b"x")) is None


def test_white_space_makes_no_other_template():
    assert not is_another("{% if a %}\n  b", " {% if a %} b\n")
    assert is_another("{% if a %} b", "{% if a %} c")
