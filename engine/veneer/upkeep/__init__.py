"""Looking after a workspace: is everything whole, and what is no longer needed?

Order: `report` (what was found, in words) -> `hashing`, `entries` (the checks) -> `fsck` (all of
them, and their repair) -> `adopt`, `rebuild` (a new database from an old one and the files);
`plan` (what may go), `roots` (what is needed), `collect` (the two of them, carried out); `proving`
(every byte and every effect anew); `caretaker` (all of it, put together). The rules that are
checked here are those of `store`.
"""
