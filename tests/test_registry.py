"""One look-up for every family."""

from __future__ import annotations

import pytest

from rag.errors import SettingsError
from rag.registry import build


def test_a_name_is_a_variant_with_its_model_and_the_arguments_are_handed_on() -> None:
    variants = {
        "local": lambda model, *rest, **options: ("local", model, rest, options),
        "api": lambda model: ("api", model),
    }
    assert build("thing", variants, "api") == ("api", "")
    assert build("thing", variants, "api:a:b/c-1") == ("api", "a:b/c-1")
    assert build("thing", variants, "local:m", 1, two=2) == ("local", "m", (1,), {"two": 2})


@pytest.mark.parametrize("name", ["", "Api", "other:api", ":api"])
def test_an_unknown_name_lists_the_choices(name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        build("thing", {"local": str, "api": str}, name)
    assert str(caught.value) == f"There is no thing called {name!r}. Choose one of: local, api."
