"""Making one call: snapshot before, tool, tree hash after."""
