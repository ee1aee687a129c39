"""Files and rows: what a workspace holds, and how it stays whole.

Files (objects, manifests, derived forms) are written aside, synced and renamed into place; rows
(the catalog, the journal, the active pointer, the conversations) are one SQLite database.

Must hold, or something a person has is lost:
1. A file under `objects/` has the digest that names it, and is never modified. One that does not
   is found before it is used, goes to `quarantine/`, and is named with all that needs it.
2. A row never names an object that was not durable before the row was written; it is gone before
   the object goes. Importing writes objects -> row; removing, row -> objects.
3. A manifest has the composition id that names it. Composing writes manifest -> row -> name.
4. What an entry of the library, a saved stack, a kept generation or the running worker needs is
   never removed. Where that cannot be told, nothing is removed.
5. Nothing that a person brought in or wrote is deleted because it is damaged: it is kept aside.
   Files that are only linked to are never touched.
6. One process writes, under the kernel's lock. Within it, publishing an object and naming it in a
   row, and telling what is reachable and sweeping the rest, exclude each other.
7. `kv/` is the runtime's: nothing here looks into it.

Should hold; what does not costs space and is put right by opening, `gc` or `fsck --repair`:
8. No file stays under `tmp/` (opening).
9. Everything under `objects/` and `derived/` is needed by something (`gc`). Manifests are small
   and the history speaks of them: they stay.
10. `derived/` can be emptied at any time.
11. A table of several files is an object beside them, and a manifest says what its stack is
    called, so that a lost database can be rebuilt (`fsck --repair`).
12. Nobody but the owner can look into the workspace (`fsck --repair`).

Read in this order: `fs` (the only door to the file system), `layout`, `draft`, `objects`,
`database` and `schema`, `records`, `catalog`, `refs`, `verify`, `quarantine`, `custody`, `lock`,
`settings`, `archive`, `intake`, `importable`, `importing`, `watch`, `library`, `candidates`,
`salvage`. What checks and collects is the room `upkeep`, which knows compositions and generations
too.
"""
