"""What is to be run: manifests, and what the runtime is told to do about them.

Order: `manifest` (the document and its id) -> `stacks` (manifests as files, and the names people
give them) -> `pins` (stacks under keys) -> `package`, `export`, `receive` (stacks that travel) ->
`forms` (adapters in llama.cpp's own form) -> `compile` (a manifest becomes a `RuntimePlan` of
files and scales, see `plan`).
"""
