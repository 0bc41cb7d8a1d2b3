"""Plan a run: templates, the flow of cards, gates, and the coordinator."""
