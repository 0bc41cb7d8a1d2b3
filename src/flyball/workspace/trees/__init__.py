"""Trees: named states of every relevant file, stored by git or by a store of our own.

`trees.Trees` is the interface of both. `git_objects` hashes trees for both alike: the same files
have the same name with and without git. `git_trees` and `plain_trees` capture and compare, `merge`
merges where git is not available, `writer` changes a directory from one tree to another.
"""
