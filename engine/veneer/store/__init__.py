"""Files and rows: what a workspace holds, and how it stays whole.

Files (objects, manifests, derived forms) are written aside, synced and renamed into place; rows
(the catalog, the journal, the active pointer, the conversations) are one SQLite database.

Must hold:
- a file under `objects/` has the digest that names it, or it is not there;
- a row never names an object that was not durable before the row was written;
- nothing under `objects/` is ever modified.
Should hold (repaired at the next open): no file stays under `tmp/`; `derived/` can be emptied at
any time.

Read in this order: `fs` (the only door to the file system), `layout`, `draft`, `objects`,
`database` and `schema`, `records`, `catalog`, `refs`, `verify`, `lock`, `settings`, `archive`,
`intake`, `importing`, `library`.
"""
