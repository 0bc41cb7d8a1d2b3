"""Python tests by their syntax tree: functions, assertions, tables, and what became of them."""
