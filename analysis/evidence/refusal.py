"""What a gate is told that must not go on: the rule, and one sentence."""

from __future__ import annotations


class Refusal(Exception):
    """What is offered proves nothing. rule: the name of the rule that says so."""

    def __init__(self, rule: str, sentence: str) -> None:
        super().__init__(f"{rule}: {sentence}")
        self.rule = rule
        self.sentence = sentence
