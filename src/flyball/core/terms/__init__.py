"""The vocabulary that all other packages share: phases, intents, calls, budgets, evidence,
shapes.
"""
