"""What tests of the chat share: two small documents, one of them hostile, and the newest turn read back."""

from __future__ import annotations

import pytest

from rag.environment import Environment
from tests.page_support import Browser, fill

CAR = """# Heron handbook

## Perch Guard

Perch Guard watches the parked car with four cameras. It saves clips to a USB drive in the glovebox.
Without a USB drive, Perch Guard still sounds the siren, but it saves no clips.

## Paws Mode

Paws Mode keeps the cabin at a pleasant temperature for an animal that waits in the parked car.

## Tyre pressures

| Tyre | Front | Rear |
| --- | --- | --- |
| 17 inch | 250 kPa | 260 kPa |
| 18 inch | 260 kPa | 270 kPa |

## Towing

The most that the car may tow is 1,200 kg with brakes.

## Roof

The roof carries 75 kg. Bars are sold by the dealer.

## Washing

Rinse Mode closes the windows, folds the mirrors and locks the charge port before an automatic wash.
"""
HOSTILE = """# Odd <i>marks</i>

## The &lt;b&gt;glass&lt;/b&gt; & $x^2$ section

The glazier's *fee* is $5 <script>document.title = "owned"</script> for `glass` [Source 9] and #1 windows.
"""
HOSTILE_NAME = "*odd* <b>$marks$.md"
GUARD = "Does Perch Guard work without a USB drive?"
PAWS = "What does Paws Mode do?"


@pytest.fixture(scope="module", autouse=True)
def documents(environment: Environment, workspace_name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Two small documents, one of them hostile."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "heron.md").write_text(CAR, encoding="utf-8")
    (folder / HOSTILE_NAME).write_text(HOSTILE, encoding="utf-8")
    fill(environment, workspace_name, folder)


@pytest.fixture
def browser(machine: Environment) -> Browser:
    """A new browser session on the Chat page."""
    return Browser()


def shown(browser: Browser, stage: str) -> list[str]:
    """The chunk ids of the newest turn's list, in the order shown."""
    funnel = browser.parts(".rf-funnel")[-1]
    return [row["data-chunk"] for row in funnel.select(f'[data-stage="{stage}"] tr')]


def times(browser: Browser) -> dict[str, str]:
    """The newest turn's time of each stage, as shown."""
    line = browser.parts(".rf-times")[-1]
    return {word["data-stage"]: word.get_text().split(" ", 1)[1] for word in line.select(".rf-time")}
