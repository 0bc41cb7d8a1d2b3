"""Other people's agents, in our words: what a host tells us, and what its tools do."""
