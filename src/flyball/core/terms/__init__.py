"""The words that every other room speaks: phases, intents, calls, budgets, evidence, shapes."""
