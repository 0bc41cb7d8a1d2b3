"""Trees: named states of every relevant file, stored in a git directory of our own.

`git_objects` hashes trees, `depot_trees` compares and derives them, `git_trees` captures those of a
working directory, `merge` merges where git is too old for it, and `writer` changes a directory from
one tree to another.
"""
