"""llama.cpp in a child process, and how the engine talks to it.

llama.cpp aborts its process on bad input, so it only ever runs in the worker. The engine's side
(`protocol`, `client`) never imports llama.cpp.

Order: `protocol` (what may be said) -> `process` and `client` (the engine's end) | `worker` (the
other end), which uses `household` and `pulse` (how it lives and shows that it does), `llama` (the
thin binding), `resident` (a loaded base and its adapters), `live`, `kvcache` and `kvfolder` (what
was computed), `answer`, `sampling`, `textstream` and `template`.
"""
