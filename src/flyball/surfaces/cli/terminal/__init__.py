"""A run in a terminal: driven, shown live, told afterwards."""
