"""What is left of a workspace when a disk refuses, a process is killed or the power goes.

What is modelled (`disk`): a file's bytes are safe once the file is synced, and a name once its
directory is. At a power cut whatever is not safe may be there, be gone, be older, or (bytes) be
torn or zeroes, each on its own and in any order: a rename may have happened at one end only.
What is not: SQLite's own files. Its commit is taken to be durable, as its authors test it to be;
the cuts fall before, inside and after its transactions, and what is reopened is the database and
its log as they lay there at that moment, with no chance to close them. Nor the person's own files
outside the workspace, nor what llama.cpp does: a scripted worker stands in for it, except where
real processes are killed (`test_kill`), which shows the order of things and not their durability.

Read in this order: `points`, `disk`, `scripted`, `trial`, `checks`, `scenarios`.
"""
