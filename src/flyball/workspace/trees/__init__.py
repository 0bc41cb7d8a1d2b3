"""Trees: named states of every file that matters, kept by git or by a store of our own.

`trees.Trees` is what both promise. How a tree is hashed is in `git_objects`, for both alike: the
same files have the same name with and without git. `git_trees` and `plain_trees` capture and
compare, `merge` joins where git cannot be asked, `writer` brings a directory from one tree to
another.
"""
