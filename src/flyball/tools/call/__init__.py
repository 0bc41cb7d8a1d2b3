"""Shared parts of the tools: their forms, their facts, and the conversion of a reply to a call."""
