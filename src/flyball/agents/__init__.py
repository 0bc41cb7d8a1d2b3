"""Read other people's agents: their tools, hook payloads and transcripts, in Flyball's terms."""
