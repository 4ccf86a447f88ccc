"""Every knob: its limits, its type, and which of them make another index."""

from __future__ import annotations

import json

import pytest

from rag.errors import SettingsError
from rag.settings import (
    ANALYZER_VERSION,
    BASELINE,
    CHOICES,
    FUNNEL,
    KINDS,
    LIMITS,
    Settings,
    parse_assignments,
    plan_fingerprint,
)

PLAN = {"chunker", "chunk_size", "chunk_overlap", "embedder", "language", "bm25_k1", "bm25_b"}
OTHER = {
    "chunker": "paragraph", "chunk_size": 500, "chunk_overlap": 100, "embedder": "voyage", "language": "german",
    "bm25_k1": 2.0, "bm25_b": 0.5, "dense_candidates": 20, "sparse_candidates": 20, "heading_weight": 3,
    "fusion": "dense", "rrf_k": 10, "dense_weight": 2.0, "sparse_weight": 2.0, "prompt_chunks": 6, "refusal_floor": 0.5,
    "answerer": "extractive", "return_parent": "section", "parent_limit": 900,
}  # fmt: skip


def test_the_presets() -> None:
    assert Settings() == FUNNEL
    assert (FUNNEL.chunker, FUNNEL.chunk_size, FUNNEL.chunk_overlap, FUNNEL.fusion, FUNNEL.rrf_k) == (
        "recursive",
        1000,
        150,
        "rrf",
        60,
    )
    assert (FUNNEL.dense_candidates, FUNNEL.sparse_candidates, FUNNEL.prompt_chunks) == (50, 50, 4)
    assert (BASELINE.chunker, BASELINE.fusion, BASELINE.sparse_candidates, BASELINE.prompt_chunks) == (
        "paragraph",
        "dense",
        0,
        4,
    )


@pytest.mark.parametrize("name", LIMITS)
def test_values_at_the_limits_are_taken_and_beyond_them_refused(name: str) -> None:
    low, high = LIMITS[name]
    room = {"chunk_overlap": 0} if name == "chunk_size" else {"chunk_size": 8000}
    for value in (low, high):
        assert getattr(Settings().changed({**room, name: value}), name) == value
    for value in (low - 1, high + 1):
        with pytest.raises(
            SettingsError, match=rf"^{name} is {value:g}(\.0)?; it must lie between {low:g} and {high:g}\.$"
        ):
            Settings().changed({**room, name: value})


def test_an_overlap_is_at_most_half_of_the_size() -> None:
    assert Settings(chunk_size=300, chunk_overlap=150).chunk_overlap == 150
    with pytest.raises(SettingsError, match=r"chunk_overlap is 151; it may be at most half of chunk_size \(300\)\."):
        Settings(chunk_size=300, chunk_overlap=151)


def test_a_choice_lists_what_there_is() -> None:
    assert CHOICES["fusion"] == ("rrf", "dense", "sparse")
    with pytest.raises(SettingsError, match=r"fusion is 'best'; choose one of: rrf, dense, sparse\."):
        Settings(fusion="best")


def test_texts_become_the_knobs_own_type() -> None:
    settings = parse_assignments(
        ["rrf_k=10", " dense_weight = 0.5", "chunker=paragraph", "chunk_size=1e3", "answerer=gemini:a=b"], FUNNEL
    )
    assert (settings.rrf_k, settings.dense_weight, settings.chunker) == (10, 0.5, "paragraph")
    assert (settings.chunk_size, settings.answerer) == (1000, "gemini:a=b")
    assert type(settings.rrf_k) is int and type(settings.changed({"dense_weight": 2}).dense_weight) is float
    assert parse_assignments([], BASELINE) == BASELINE


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("rrf_k=ten", "rrf_k is 'ten'; it must be a whole number."),
        ("rrf_k=1.5", "rrf_k is '1.5'; it must be a whole number."),
        ("rrf_k=", "rrf_k is ''; it must be a whole number."),
        ("rrf_k=inf", "rrf_k is 'inf'; it must be a whole number."),
        ("rrf_k=nan", "rrf_k is 'nan'; it must be a whole number."),
        ("heading_weight=0.5", "heading_weight is '0.5'; it must be a whole number."),
        ("dense_weight=much", "dense_weight is 'much'; it must be a number."),
        ("dense_weight=nan", "dense_weight is nan; it must lie between 0 and 10."),
        ("rrf_k", "--set takes knob=value, not 'rrf_k'; for example --set rrf_k=10."),
    ],
)
def test_a_value_that_does_not_fit_is_one_sentence(assignment: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_assignments([assignment], FUNNEL)
    assert str(caught.value) == message


def test_an_unknown_knob_lists_the_knobs() -> None:
    knobs = ", ".join([*KINDS, "chunker.<name>", "override.<source>"])
    with pytest.raises(SettingsError) as caught:
        Settings.from_json({"top_k": 3})
    assert str(caught.value) == f"There is no knob called 'top_k'. The knobs are: {knobs}."


def test_a_chunkers_own_parameters_are_named_after_it_and_leave_with_it() -> None:
    settings = parse_assignments(["chunker=semantic", "chunker.amount=95", "chunker.threshold=percentile"], FUNNEL)
    assert settings.chunker_parameters == (("amount", 95.0),)  # what equals the default is not kept
    assert settings.parameter("amount") == 95 and settings.parameter("min_size") == 200
    assert settings.to_json()["chunker.amount"] == 95 and Settings.from_json(settings.to_json()) == settings
    assert settings.fingerprint() != settings.changed({"chunker.amount": 0}).fingerprint()
    assert settings.changed({"chunker": "recursive"}) == FUNNEL
    assert "chunk_overlap" not in settings.plan()


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["chunker.window=2"], "The chunker recursive has no parameter 'window'; its own are: unit."),
        (["chunker=qa", "chunker.unit=tokens"], "The chunker qa has no parameter 'unit'; it has none of its own."),
        (["chunker.unit=lines"], "chunker.unit is 'lines'; choose one of: characters, tokens."),
        (["chunker=token", "chunker.tokens=4"], "chunker.tokens is 4; it must lie between 8 and 2000."),
        (["chunker=token", "chunker.tokens=few"], "chunker.tokens is 'few'; it must be a whole number."),
    ],
)
def test_a_parameter_that_does_not_fit_is_one_sentence(assignments: list[str], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_assignments(assignments, FUNNEL)
    assert str(caught.value) == message


def test_a_document_may_have_a_chunker_of_its_own_which_is_part_of_the_plan() -> None:
    settings = FUNNEL.changed({"override.samples/faq.csv": "qa"})
    assert settings.fingerprint() != FUNNEL.fingerprint() and Settings.from_json(settings.to_json()) == settings
    assert settings.for_document("samples/faq.csv").chunker == "qa"
    assert settings.for_document("samples/other.md") == settings
    assert settings.changed({"override.samples/faq.csv": "-"}) == FUNNEL


def test_settings_go_to_json_and_back_and_old_ones_keep_the_defaults() -> None:
    settings = Settings().changed(OTHER)
    assert Settings.from_json(json.loads(json.dumps(settings.to_json()))) == settings
    assert Settings.from_json({"rrf_k": 10}) == Settings(rrf_k=10)


def test_the_fingerprint_changes_with_what_the_index_is_built_from_and_with_nothing_else() -> None:
    assert OTHER.keys() == KINDS.keys()
    for name, value in OTHER.items():
        changed = Settings().changed({name: value})
        assert getattr(changed, name) != getattr(FUNNEL, name)
        assert (changed.fingerprint() != FUNNEL.fingerprint()) == (name in PLAN), name
    assert FUNNEL.plan().keys() == PLAN | {"chunker.unit", "analyzer_version", "chunkers_version"}
    assert FUNNEL.plan()["analyzer_version"] == ANALYZER_VERSION
    assert plan_fingerprint({**FUNNEL.plan(), "analyzer_version": ANALYZER_VERSION + 1}) != FUNNEL.fingerprint()
    assert (
        len(FUNNEL.fingerprint()) == 16
        and plan_fingerprint(dict(reversed(FUNNEL.plan().items()))) == FUNNEL.fingerprint()
    )
