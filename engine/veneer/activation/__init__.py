"""The switch: all of it or nothing, and it survives a crash.

Must hold:
- the active pointer names a generation that is COMMITTED, or there is none;
- a generation number is used once, and a committed generation is never changed;
- the commit is one SQLite transaction: before it the old generation is active, after it the new;
- a pair of adapter and base of which only the shapes fit is activated first with a confirmation,
  which is written in the same transaction as the request;
- where the settings require it, nothing that a person asks for runs without a trusted signature;
- the worker serves only what is committed, or what is being proven and answers nobody.

REQUESTED -> VALIDATED -> STAGED -> COMMITTED, or ABORTED with a reason from any of the first
three. Read in this order: `journal`, `admission`,
`confirmation`, `activator`, `recovery`.
"""
