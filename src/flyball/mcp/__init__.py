"""The step server for other agents, over MCP: translation only."""
