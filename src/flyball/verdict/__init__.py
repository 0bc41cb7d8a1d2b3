"""What "succeeded" means: one pure function decides it from reports that Flyball produced itself.

`judge.judge_change` is the function, `reports` its inputs, `words.verdict_lines` its sentences.
"""
