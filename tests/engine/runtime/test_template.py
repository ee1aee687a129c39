import pytest

from veneer.errors import TemplateError
from veneer.runtime.protocol import ChatMessage
from veneer.runtime.template import MAX_OUTPUT, render

HELLO = (ChatMessage("system", "Be kind."), ChatMessage("user", "Hello"))


def test_a_base_without_a_template_is_spoken_to_in_chatml():
    assert render(None, HELLO) == (
        "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_a_template_gets_what_it_may_ask_for():
    source = (
        "{{ bos_token }}{% for m in messages %}[{{ m.role }}:{{ m['content'] }}]{% endfor %}"
        "{% if add_generation_prompt %}>{% endif %}{{ eos_token }}"
    )
    assert render(source, HELLO, bos="<s>", eos="</s>") == "<s>[system:Be kind.][user:Hello]></s>"


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{% for x in range(10000000) %}x{% endfor %}",
        "{{ messages.append(1) }}",
        "{% if %}",
        "{{ undefined_function() }}",
        "{{ 1 / 0 }}",
    ],
)
def test_a_hostile_or_broken_template_is_a_named_error(source: str):
    with pytest.raises(TemplateError, match="template"):
        render(source, HELLO)


def test_a_template_s_own_refusal_is_passed_on():
    with pytest.raises(TemplateError, match="no system prompts here"):
        render("{{ raise_exception('no system prompts here') }}", HELLO)


def test_endless_output_is_cut():
    loops = "{% for a in range(9999) %}{% for b in range(9999) %}xxxxxxxxxx{% endfor %}{% endfor %}"
    with pytest.raises(TemplateError, match="without end"):
        render(loops, HELLO)
    assert MAX_OUTPUT < 9999 * 9999 * 10
