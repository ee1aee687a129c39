"""A conversation as the text the model was trained on: its own chat template, in a sandbox.

Templates come out of model files, which are hostile until proven otherwise: jinja2's immutable
sandbox keeps them from touching Python, size caps keep them from filling memory, and because they
run in the worker, one that loops forever costs a worker and not the window.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from jinja2 import TemplateError as JinjaError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from veneer.errors import TemplateError
from veneer.runtime.protocol import ChatMessage

MAX_TEMPLATE = 256 * 1024
MAX_OUTPUT = 4 * 1024 * 1024

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + "
    "message['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""What a base without a template of its own is spoken to in."""


def render(
    template: str | None, messages: Sequence[ChatMessage], *, bos: str = "", eos: str = ""
) -> str:
    """The prompt text, ending where the assistant is to speak. Raises `TemplateError`."""
    source = template or CHATML
    if len(source) > MAX_TEMPLATE:
        raise TemplateError("The model's chat template is too large to be one.")
    try:
        compiled = _environment().from_string(source)
        return _joined(
            compiled.generate(
                messages=[{"role": m.role, "content": m.content} for m in messages],
                add_generation_prompt=True,
                bos_token=bos,
                eos_token=eos,
            )
        )
    except TemplateError:
        raise
    except (JinjaError, ArithmeticError, TypeError, ValueError, LookupError) as error:
        raise TemplateError(f"The model's chat template failed: {error}.") from error
    except (RecursionError, MemoryError) as error:
        raise TemplateError("The model's chat template went over its limits.") from error


def _joined(parts: Any) -> str:
    text: list[str] = []
    length = 0
    for part in parts:
        length += len(part)
        if length > MAX_OUTPUT:
            raise TemplateError("The model's chat template writes without end.")
        text.append(part)
    return "".join(text)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    names: dict[str, Any] = {
        "raise_exception": _refuse,
        "strftime_now": datetime.now().astimezone().strftime,
    }
    environment.globals.update(names)  # pyright: ignore[reportUnknownMemberType] - untyped
    return environment


def _refuse(message: str) -> None:
    raise TemplateError(f"The model's chat template says: {message}")
