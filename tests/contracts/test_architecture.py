"""ARCHITECTURE.md is true: picture, tree, who may know what, and every file and type that it names."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pysynthdp"
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
PICTURE, TREE, *_ = re.findall(r"^```\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FOLDERS = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)
ROOMS = sorted(path.name for path in FOLDERS if path.parent == PACKAGE)
ANYWHERE = {"pysynthdp", *sys.stdlib_module_names}


@cache
def tree_of(path: Path) -> ast.Module:
    """A module, parsed once for all tests."""
    return ast.parse(path.read_text("utf-8"))


def modules(room: str = "") -> list[Path]:
    """All files of a room."""
    return sorted((PACKAGE / room).rglob("*.py"))


@cache
def imported(path: Path) -> tuple[str, ...]:
    """Every dotted name that a file imports."""
    return tuple(imports_of(tree_of(path)))


def imports_of(module: ast.Module) -> Iterator[str]:
    """Dotted names that a file imports, under TYPE_CHECKING, late, or by name in ``import_module``."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (str(each.value) for each in node.args[:1] if isinstance(each, ast.Constant))


def outside(path: Path) -> set[str]:
    """Packages of others that a file imports."""
    return {name.partition(".")[0] for name in imported(path)} - ANYWHERE


def rooms_of(path: Path) -> set[str]:
    """Rooms whose names a file imports."""
    return {name.split(".")[1] for name in imported(path) if name.startswith("pysynthdp.")}


# the picture


def floors() -> dict[int, set[str]]:
    """Rooms by floor, as drawn."""
    lines = re.findall(r"^ ?(\d+) (.*)$", PICTURE, re.MULTILINE)
    return {int(number): set(re.findall(r"\b(\w+)/|(__main__)", line)) for number, line in lines}


def test_the_picture_shows_the_layers_of_the_import_contract():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (layers,) = [each["layers"] for each in contract["contracts"] if each["type"] == "layers"]
    expected = [{re.sub(r"[()\s]", "", name) for name in layer.split("|")} for layer in reversed(layers)]
    drawn = floors()
    assert [{a or b for a, b in drawn[number]} for number in sorted(drawn)] == expected
    assert list(drawn) == list(range(len(layers), 0, -1))
    assert len(layers) <= 10


def test_every_room_stands_in_the_picture_once():
    drawn = [a for floor in floors().values() for a, _ in floor if a]
    assert len(drawn) == len(set(drawn))
    assert set(ROOMS) <= set(drawn)


def test_no_import_looks_up():
    """Nor sideways; what only a type checker sees counts too."""
    floor = {a: number for number, names in floors().items() for a, _ in names if a}
    ways = {(room, other) for room in ROOMS for path in modules(room) for other in rooms_of(path) & {*ROOMS}}
    assert len(ways) > 60
    assert not [(room, other) for room, other in ways if room != other and floor[other] >= floor[room]]


def test_nothing_lies_loose_at_the_top():
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


def test_what_is_drawn_in_brackets_is_to_come():
    for name in re.findall(r"\((\w+)/\)", PICTURE):
        assert not (PACKAGE / name).exists(), f"{name}/ is there: draw it without brackets"


# the tree


def shown() -> dict[Path, str]:
    """What the tree says of each folder of the package."""
    texts: dict[Path, str] = {}
    chain: list[str] = []
    for line in TREE.partition("\nr-bridge/")[0].splitlines()[1:]:
        head = re.match(r"( +)(\w+)/ +(.*)", line)
        if head:
            chain = [*chain[: len(head[1]) // 2 - 1], head[2]]
            texts[PACKAGE.joinpath(*chain)] = head[3]
        else:
            texts[PACKAGE.joinpath(*chain)] += f" {line.strip()}"
    return texts


def test_the_tree_shows_every_room_and_no_other():
    assert sorted(shown()) == FOLDERS


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_room_is_shown_by_its_own_words(folder):
    said = ast.get_docstring(tree_of(folder / "__init__.py")).partition("\n")[0]
    words = re.split(r"[.:]", shown()[folder])[0]
    assert re.match(rf"{re.escape(words)}[.,:;]", said), f"{folder.name}/ calls itself {said!r}"


def test_every_file_of_the_tree_is_there():
    for folder, text in shown().items():
        for name in re.findall(r"[\w/]+\.py", text):
            assert (folder / name).exists(), f"{folder}/{name}"
    beside = re.findall(r"^([\w-]+)/ +(.*)$", TREE.partition("\n")[2], re.MULTILINE)
    assert len(beside) == 5
    for name, text in beside:
        for inner in ["", *re.findall(r"\b(\w+)/", text), *re.findall(r"\b\w+\.(?:py|md)", text)]:
            assert (ROOT / name / inner).exists(), f"{name}/{inner}"


def test_every_path_and_type_of_the_text_is_there():
    everything = [node for path in modules() for node in tree_of(path).body]
    classes = {node.name for node in everything if isinstance(node, ast.ClassDef)}
    for name in re.findall(r"`([\w./-]+/[\w./-]*|[\w./-]+\.(?:py|md|toml|R))`", PAGE):
        here = [ROOT / name, PACKAGE / name, PACKAGE / "protection/noise" / name]
        if name not in ("units/", "jobs/"):
            assert any(path.exists() for path in here), name
    for name in re.findall(r"`([A-Z][a-z]+(?:[A-Z]\w*)?)`", PAGE):
        assert name in classes | {"None", "Literal", "Generator", "DeprecationWarning", "SeedSequence"}, name


# who may know what


def cells() -> dict[str, list[str]]:
    """The table of rooms: real rows, files, packages, rooms never imported."""
    rows = re.findall(r"^\| (\w+) \|(.*)\|$", PAGE, re.MULTILINE)
    return {room: [cell.strip() for cell in rest.split("|")] for room, rest in rows if room != "room"}


def alone() -> dict[str, list[Path]]:
    """Packages that one place alone may know."""
    text = re.search(r"One place knows each of these: (.*?)\.\s`", PAGE, re.DOTALL)[1]
    found: dict[str, list[Path]] = {}
    for names, place in re.findall(r"([\w, ]+) \(`([\w/.]+)`[^)]*\)", " ".join(text.split())):
        found |= {name.strip(): PACKAGE / place for name in names.split(",") if name.strip()}
    return found


TABLE = cells()


def test_the_table_has_a_row_for_every_room():
    assert sorted(TABLE) == ROOMS


@pytest.mark.parametrize("room", TABLE)
def test_a_room_knows_no_other_package_than_the_table_says(room):
    allowed = {name.strip() for name in TABLE[room][2].split(",")}
    own = {name for name, place in alone().items() if (PACKAGE / room) in (place, *place.parents)}
    used = {name for path in modules(room) for name in outside(path)}
    assert used <= allowed | own
    assert allowed <= used, f"{sorted(allowed - used)} are allowed in {room}/ and not used"


def test_what_one_place_may_know_is_known_there_and_nowhere_else():
    places = alone()
    assert len(places) > 8
    for name, place in places.items():
        users = [path for path in modules() if name in outside(path)]
        assert users, f"nobody imports {name}"
        assert all(place in (path, *path.parents) for path in users), (name, users)


@pytest.mark.parametrize("room", TABLE)
def test_a_room_never_imports_what_the_table_forbids(room):
    forbidden = set(ROOMS) - {room} if TABLE[room][3] == "any room" else set(TABLE[room][3].split(", "))
    assert forbidden <= set(ROOMS)
    found = {each: path for path in modules(room) for each in rooms_of(path) & forbidden}
    assert not found


@pytest.mark.parametrize("room", [room for room in TABLE if TABLE[room][0].startswith("no")])
def test_a_room_without_real_rows_does_not_know_the_room_that_holds_them(room):
    assert not [path for path in modules(room) if "curator" in rooms_of(path)]


OPENS = {"open", "os.open", "path.open", "file.open", "draft.open"}
READS = {"read_text", "write_text", "read_bytes", "write_bytes", "read_parquet", "to_parquet", "fdopen"}


def touches_files(path: Path) -> bool:
    """Whether a module reads or writes a file."""
    called = [ast.unparse(node.func) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    return any(name in OPENS or name.split(".")[-1] in READS for name in called)


@pytest.mark.parametrize("room", TABLE)
def test_only_rooms_that_say_so_touch_files(room):
    found = [path for path in modules(room) if touches_files(path)]
    allowed = TABLE[room][1] not in ("no", "by io")
    assert allowed == bool(found), found


# the walks


def dotted(path: Path) -> str:
    """The name by which a file or room is imported."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_every_arrow_of_a_walk_is_a_way():
    chains = re.findall(
        r"`[\w/.]+`(?: \([\w ?]+\))?(?: > `[\w/.]+`(?: \([\w ?]+\))?)+", " ".join(PAGE.split())
    )
    arrows = [pair for chain in chains for pair in pairwise(re.findall(r"`([\w/.]+)`", chain))]
    assert len(arrows) > 12
    for one, other in arrows:
        known = imported(PACKAGE / one)
        found = other.startswith("protection/") and not one.startswith("protection/")
        held = other == "plan/synthesis_plan.py" and "pysynthdp.plan.SynthesisPlan" in known
        assert found or held or any(name.startswith(dotted(PACKAGE / other)) for name in known), (one, other)


# sizes and names


def test_no_file_is_longer_than_the_page_says():
    (most,) = re.findall(r"modules about 150, up to (\d+)", PAGE)
    assert not [path for path in modules() if len(path.read_text("utf-8").splitlines()) > int(most)]


def test_no_function_is_longer_than_the_page_says():
    (most,) = re.findall(r"Functions about 10 lines, at most (\d+)", PAGE)
    for path in modules():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef):
                doc = ast.get_docstring(node)
                body = node.body[1:] if doc else node.body
                size = node.end_lineno - body[0].lineno + 1 if body else 0
                assert size <= int(most), f"{path}:{node.lineno} {node.name} has {size} lines"


def test_the_page_is_short():
    lines = PAGE.splitlines()
    assert len(lines) <= 240
    assert max(map(len, lines)) <= 110


def test_the_unit_tests_stand_in_the_rooms_that_they_test():
    unit = ROOT / "tests" / "unit"
    rooms = {path.relative_to(unit) for path in unit.rglob("*") if path.is_dir() and any(path.glob("*.py"))}
    assert len(rooms) > 15
    assert not {room for room in rooms if not (ROOT / "pysynthdp" / room / "__init__.py").exists()}
    assert not list(unit.glob("test_*.py"))
