"""From a model to an answer: plans, candidates in turn, and grades that prove."""
