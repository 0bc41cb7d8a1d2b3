"""What every tool is made of: its form, its facts, and the way from a reply to a call."""
