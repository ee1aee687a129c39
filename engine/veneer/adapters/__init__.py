"""What an adapter is, once its file format is forgotten, and whether it belongs on a base.

Order: `base` (with `base_checks`) and `model` (the values) -> `source`, `contents` and `factors`
(what every format comes to) -> `peft_reader`, `mlx_reader`, `gguf_reader` and `reading` (files to
values) -> `placement` and `compat` (the verdict) -> `runtime_form` (llama.cpp's own form for one
base).
"""
