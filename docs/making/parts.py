"""What the site puts in place of ``<!-- site: ... -->`` in a page: tables that the program knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from typer.models import CommandInfo
from typer.testing import CliRunner

from making.pages import ROOT, pages_of
from pysynthdp.analysis.rules.base import RULES, Rule
from pysynthdp.cli.app import app
from pysynthdp.cli.exit_codes import Exit
from pysynthdp.io.plans.plan_file import KEYS
from pysynthdp.models.base import COLUMN_MODELS

__all__ = ["PARTS", "filled"]

_MARK = re.compile(r"^<!-- site: (?P<name>[\w-]+)(?P<about>[^>]*?) -->$", flags=re.MULTILINE)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Write a table in markdown."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def sentence(entry: object) -> str:
    """Take the first line of a docstring."""
    return (entry.__doc__ or "").strip().splitlines()[0]


def keys(_: str) -> str:
    """List all keys of a plan file."""
    return table(("key", "what it says"), ((f"`{key}`", _marked(about)) for key, about in KEYS.items()))


def _marked(about: str) -> str:
    """Show what is to be typed as code."""
    words, colon, example = about.partition(": ")
    typed = bool(re.search(r"[=\[\]{}\"]|^\d+$", example)) and not re.search(r"\bor\b", example)
    return f"{words}: `{example}`" if colon and typed else about


def rules(_: str) -> str:
    """List all combining rules in the order of the automatic choice; those taken by name only stand last."""
    every = sorted(
        (RULES[name] for name in RULES), key=lambda rule: (rule.order is None, rule.order or 0, rule.name)
    )
    return "\n\n".join(_rule(rule) for rule in every)


def _rule(rule: type[Rule]) -> str:
    """Describe one combining rule."""
    other = ", ".join(f"`{name}`" for name in rule.aliases)
    facts = [
        f"*Variance*: `{rule.formula}`",
        f"*Source*: {rule.source}",
        *([f"*Also known as*: {other}"] if other else []),
        *([] if rule.order is not None else ["*Chosen*: by name only"]),
    ]
    refusals = "\n".join(f"- {each.otherwise}" for each in rule.conditions)
    refused = f"\n\nRefused where one of these is so:\n\n{refusals}" if refusals else ""
    lines = "  \n".join(facts)
    return f"### {rule.name}\n\n{rule.right_when}\n\n{lines}{refused}"


def models(_: str) -> str:
    """List all column models with what each does."""
    every = [(name, COLUMN_MODELS[name]) for name in sorted(COLUMN_MODELS)]
    rows = ((f"`{name}`", sentence(model), _guarantee(model)) for name, model in every)
    return table(("model", "what it does", "under a guarantee"), rows)


def _guarantee(model: type) -> str:
    """Say by which guarantees a model can be fitted."""
    ways = {"mechanism": "by sampling", "fit_from_moments": "by noise"}
    return ", ".join(way for name, way in ways.items() if hasattr(model, name)) or "no"


def r_functions(_: str) -> str:
    """List the functions of the R package."""
    pages = [path.read_text("utf-8") for path in sorted((ROOT / "r-bridge" / "man").glob("*.Rd"))]
    return table(("functions", "what for"), filter(None, map(_r_page, pages)))


def _r_page(text: str) -> tuple[str, str] | None:
    """Take functions and title out of a page of R."""
    namespace = (ROOT / "r-bridge" / "NAMESPACE").read_text("utf-8")
    exported = set(re.findall(r"^export\((\w+)\)$", namespace, re.MULTILINE))
    names = [name for name in re.findall(r"\\alias\{([^}]*)\}", text) if name in exported]
    title = re.search(r"\\title\{([^}]*)\}", text)
    return (", ".join(f"`{name}()`" for name in names), title[1]) if names and title else None


def others(names: str) -> str:
    """Link those pages of a list that are there."""
    pages = pages_of()
    there = [pages[f"docs/{name}.md"] for name in names.split() if f"docs/{name}.md" in pages]
    return "\n".join(f"- [{page.title}]({page.name}.md)" for page in there)


def commands(_: str) -> str:
    """Show the help of every subcommand."""
    own = [[_name(command)] for command in app.registered_commands]
    groups = [(group.name or "", group.typer_instance) for group in app.registered_groups]
    inner = [
        [name, _name(command)] for name, group in groups if group for command in group.registered_commands
    ]
    return "\n\n".join(map(_command, own + inner))


def _name(command: CommandInfo) -> str:
    """Give the name under which a command is typed."""
    return command.name or getattr(command.callback, "__name__", "").replace("_", "-")


def _command(words: list[str]) -> str:
    """Show the help of one subcommand."""
    shown = CliRunner().invoke(app, [*words, "--help"], prog_name="pysynthdp", env={"COLUMNS": "88"})
    return f"## pysynthdp {' '.join(words)}\n\n```text\n{shown.output.strip()}\n```"


def codes(_: str) -> str:
    """List all exit codes."""
    return table(("code", "meaning"), ((str(code.value), code.meaning) for code in Exit))


def readme(heading: str) -> str:
    """Take a section of the README, whose tables of questions and answers become paragraphs."""
    text = (ROOT / "README.md").read_text("utf-8")
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    if not section:
        raise SystemExit(f"README.md has no section {heading!r}")
    body = re.sub(r"^\| question \| answer \|\n\|[-| ]+\|\n", "", section[1].strip(), flags=re.MULTILINE)
    return re.sub(r"^\| ([^|]*\?) \| (.*) \|$", r"\n## \1\n\n\2", body, flags=re.MULTILINE).strip()


PARTS: dict[str, Callable[[str], str]] = {
    "keys": keys,
    "rules": rules,
    "models": models,
    "commands": commands,
    "codes": codes,
    "readme": readme,
    "r-functions": r_functions,
    "others": others,
}


def filled(text: str, parts: dict[str, Callable[[str], str]]) -> str:
    """Put the parts into a page."""
    return _MARK.sub(lambda found: parts[found["name"]](found["about"].strip()), text)
