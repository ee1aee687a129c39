"""Bytes on disk to checked headers. Untrusted input stops here.

Readers take an open file, never a path, and raise only `FormatError` (or `UnsupportedAdapter` for
a well-formed file that asks for something that cannot be done exactly). Order: `gguf` over
`gguf_window`, `gguf_types` and `gguf_metadata`, with `gguf_tensors` and `gguf_writer` beside it;
`safetensors`; `peft` over `peft_keys` and `patterns`; `mlx`; `naming` (module names to GGUF
tensors).
"""
