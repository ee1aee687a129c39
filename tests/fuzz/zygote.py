"""`python -m tests.fuzz.zygote` loads and runs files as the worker does, each in its own child.

llama.cpp is loaded once, here, and never used here; a line on standard input names a base and
perhaps an adapter, and the answer is one line about how their child ended.
"""

import json
import os
import resource
import signal
import sys
import time

SECONDS = 30
MEMORY = 8 << 30
REFUSED, RAISED = 3, 4
N_CTX = 96
TEXT = "Hello, <|x|> wörld \x00 \n 12 三"


def use(base: str, adapter: str | None) -> None:
    """What a worker does with a base and an adapter, from loading to a restored state."""
    from veneer.compose.plan import ContextSettings
    from veneer.runtime import llama

    settings = ContextSettings(n_ctx=N_CTX, n_batch=16, n_threads=1)
    model = llama.Model(base, settings)
    for key in ("tokenizer.chat_template", "general.name"):
        model.meta(key)
    context = llama.Context(model, settings, min(N_CTX, model.n_ctx_train))
    size = context.n_batch
    for token in (model.bos, model.eos, 0, model.n_vocab - 1):
        model.token_text(token)
        if token >= 0:
            model.ends_generation(token)
            model.piece(token)
    ids = model.tokenize(TEXT, add_special=True, parse_special=True) or (0,)
    context.decode(ids[:size])
    context.logits()
    if adapter is not None:
        loaded = llama.LoadedAdapter(model, adapter, "adapter", 0)
        context.set_adapters([(loaded, 0.5)])
        context.clear()
        context.decode(ids[:size])
        context.logits()
    state = context.save()
    context.restore(state)
    context.decode((model.n_vocab - 1,))
    context.logits()
    context.set_adapters(())


def child(base: str, adapter: str | None) -> int:
    from veneer.errors import VeneerError

    for limit, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (most, most))
    signal.alarm(SECONDS)
    try:
        use(base, adapter)
    except VeneerError:
        return REFUSED
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        sys.stderr.write(repr(error))
        sys.stderr.flush()
        return RAISED
    return 0


def ended(base: str, adapter: str | None) -> dict[str, object]:
    """How the child ended: its exit code, or the negative number of the signal that ended it."""
    started = time.monotonic()
    pid = os.fork()
    if not pid:
        os._exit(child(base, adapter))
    _, status = os.waitpid(pid, 0)
    return {"status": os.waitstatus_to_exitcode(status), "seconds": time.monotonic() - started}


def main() -> None:
    os.environ["GGML_NO_BACKTRACE"] = "1"
    from veneer.runtime import llama

    quiet = llama.Logging(lambda text: None)
    for line in sys.stdin:
        base, adapter = json.loads(line)
        sys.stdout.write(json.dumps(ended(base, adapter)) + "\n")
        sys.stdout.flush()
    del quiet


if __name__ == "__main__":
    main()
