"""Why a hunk cannot be applied, and what to change in it: `explain.explain`."""
