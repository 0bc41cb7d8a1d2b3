"""The people of a team: their roles in each project, and the decisions they made."""
