"""What "succeeded" means: one pure function decides it from Flyball's own reports.

`judge.judge_change` is the function, `reports` its inputs, `words.verdict_lines` its sentences.
"""
