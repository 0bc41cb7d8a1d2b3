"""The people of a team: who may do what in which project, and what each of them decided."""
