"""How fast gptlab is, beside what a learner would pick instead: `make bench`, or `make bench ONLY="greedy beam"`."""
