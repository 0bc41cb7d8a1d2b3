"""The vocabulary that all packages share: phases, intents, calls, budgets, evidence, shapes."""
