"""Handle typed words: shell completion, error explanations and suggestions."""
