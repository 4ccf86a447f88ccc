"""What needs a rebuild, and why, in words."""

from __future__ import annotations

import pytest

from rag.plans import differences, nearest
from rag.settings import FUNNEL


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({}, {}, ()),
        ({}, {"rrf_k": 10}, ()),  # a knob of the question, not of the index
        ({}, {"chunk_size": 800}, ("chunk size 1000 → 800",)),
        ({}, {"chunker": "layout", "language": "german"}, ("chunker recursive → layout", "language english → german")),
        ({}, {"chunker": "paragraph"}, ("chunker recursive → paragraph",)),
        ({}, {"bm25_k1": 1.5}, ("bm25 k1 1.2 → 1.5",)),
        ({"chunker": "semantic"}, {"chunker": "semantic", "chunker.amount": 90}, ("amount 0 → 90",)),
        ({}, {"override.uploads/faq.csv": "qa"}, ("faq.csv: qa",)),
        ({"override./x/a b.md": "qa"}, {"override./x/a b.md": "code"}, ("a b.md: qa → code",)),
        ({"override.samples/a.md": "qa"}, {}, ("a.md: qa → the chunker of the others",)),
    ],
)
def test_what_differs_is_said_in_words(before: dict, after: dict, words: tuple[str, ...]) -> None:
    assert differences(FUNNEL.changed(before).plan(), FUNNEL.changed(after).plan()) == words


def test_a_plan_of_an_older_version_is_simply_another() -> None:
    old = {name: value for name, value in FUNNEL.plan().items() if name != "chunkers_version"}
    assert differences(old, FUNNEL.plan()) == (f"chunkers version none → {FUNNEL.plan()['chunkers_version']}",)
    changed = {**FUNNEL.plan(), "chunkers_version": 1}
    assert differences(changed, FUNNEL.plan()) == (f"chunkers version 1 → {FUNNEL.plan()['chunkers_version']}",)


def test_the_nearest_plan_is_the_one_that_differs_least() -> None:
    plans = [
        FUNNEL.changed(values).plan() for values in ({"chunk_size": 600, "language": "german"}, {"chunk_size": 900})
    ]
    assert nearest(plans, FUNNEL.plan()) == ("chunk size 900 → 1000",)
    assert nearest([], FUNNEL.plan()) == ()
