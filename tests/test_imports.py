"""Imports point one way, and each thing that only one place may do is done there alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
# From the top down: a module may import its own layer and those below it. The longest matching name decides.
LAYERS = (
    ("app", "pages"),
    ("pages.shared",),
    ("rag.__main__",),
    ("rag.commands",),
    ("rag.terminal", "rag.evaluation"),
    ("rag.funnel",),
    ("rag.answering",),
    ("rag.watching",),
    ("rag.workspace",),
    ("rag.indexing",),
    ("rag.writing", "rag.reconciling"),
    ("rag.listing",),
    ("rag.library", "rag.plans", "rag.reading", "rag.leases"),
    ("rag.reports", "rag.pace"),
    ("rag.extraction", "rag.generation", "rag.evidence", "rag.parents"),
    ("rag.citations", "rag.catalogue", "rag.retrieval"),
    ("rag.holdings",),
    ("rag.sentences", "rag.loaders", "rag.chunkers", "rag.embedders", "rag.llms"),
    ("rag.providers", "rag.registry", "rag.weaviate", "rag.analysis"),
    ("rag.environment", "rag.settings"),
    ("rag.schema", "rag.text"),
    ("rag.errors",),
)
LEVELS = {name: level for level, names in enumerate(LAYERS) for name in names}


def files() -> list[Path]:
    found = [PROJECT / "app.py", *PROJECT.glob("pages/**/*.py"), *PROJECT.glob("rag/**/*.py")]
    return sorted(path for path in found if path.exists())


def module_name(path: Path) -> str:
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> set[str]:
    """Full names of everything the file imports; ``from rag import x`` is rag.x where there is such a module."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            found |= {
                f"{node.module}.{alias.name}" if is_module(f"{node.module}.{alias.name}") else node.module
                for alias in node.names
            }
    return found


def is_module(name: str) -> bool:
    place = PROJECT.joinpath(*name.split("."))
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


def level(name: str) -> int | None:
    """The layer of a module of ours; None for the bare package ``rag`` and for other people's."""
    parts = name.split(".")
    return next((LEVELS[".".join(parts[:n])] for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in LEVELS), None)


def runs_back(importer: str, imported: str) -> bool:
    ours, theirs = level(importer), level(imported)
    return theirs is not None and (ours is None or theirs < ours)


def test_no_import_runs_back() -> None:
    back = [
        f"{module_name(path)} imports {name}"
        for path in files()
        for name in imports(path)
        if runs_back(module_name(path), name)
    ]
    assert back == []


def test_every_module_has_a_layer() -> None:
    assert [
        name for path in files() if (name := module_name(path)) not in ("rag", "pages") and level(name) is None
    ] == []


@pytest.mark.parametrize(
    ("importer", "imported", "back"),
    [
        ("rag.schema", "rag.errors", False),
        ("rag.errors", "rag.schema", True),
        ("rag.weaviate.store", "rag.weaviate.tenants", False),
        ("rag.weaviate.store", "rag.catalogue", True),
        ("rag.funnel", "pages.shared.start", True),
        ("pages.4_Documents", "pages.shared.start", False),
        ("pages.shared.start", "app", True),
        ("rag.funnel", "numpy", False),
    ],
)
def test_the_rule_itself(importer: str, imported: str, back: bool) -> None:
    assert runs_back(importer, imported) is back


def importers(package: str) -> dict[str, set[str]]:
    """By module: what it imports of the package, imports for type checkers included."""
    found = {module_name(path): {name for name in imports(path) if name.split(".")[0] == package} for path in files()}
    return {module: names for module, names in found.items() if names}


def test_the_library_never_imports_streamlit() -> None:
    assert [name for name in importers("streamlit") if name.startswith("rag")] == []


def test_only_one_package_calls_the_database_client() -> None:
    assert "rag.weaviate.store" in importers("weaviate")
    outside = [path for path in files() if not module_name(path).startswith("rag.weaviate")]
    # Others are handed a client and may name its type, nothing else.
    taken = set()
    for node in (node for path in outside for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "weaviate":
            taken |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            taken |= {alias.name for alias in node.names if alias.name.split(".")[0] == "weaviate"}
    assert taken <= {"weaviate.WeaviateClient"}


def test_the_environment_is_read_in_one_place() -> None:
    readers = set()
    for path in files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
            imported = (
                isinstance(node, ast.ImportFrom)
                and node.module == "os"
                and {"environ", "getenv"} & {a.name for a in node.names}
            )
            if named or imported:
                readers.add(module_name(path))
    assert readers == {"rag.environment"}
