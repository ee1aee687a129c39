"""What an adapter is, once its file format is forgotten, and whether it belongs on a base.

Order: `base` (with `base_checks`) and `model` (the values) -> `factors` and `reading` (files to
values) -> `compat` (the verdict) -> `runtime_form` (llama.cpp's own form, written for one base).
"""
