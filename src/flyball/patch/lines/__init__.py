"""Lines of files: cut (`text`), compared (`compare`), merged (`merge`), written as a diff."""
