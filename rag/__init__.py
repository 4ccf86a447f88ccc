"""Retrieval Funnel: a retrieval-augmented chat whose every step can be seen, tuned and measured."""
