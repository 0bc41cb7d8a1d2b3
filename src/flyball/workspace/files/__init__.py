"""Paths that somebody named, resolved and judged before anything is touched: `paths.Root`.

`path_rules` says what a path's names alone decide, among them which may never be written.
"""
