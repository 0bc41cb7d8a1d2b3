"""Resolve and judge named paths before anything is accessed: `paths.Root`.

`path_rules` decides by a path's names alone, including which may never be written.
"""
