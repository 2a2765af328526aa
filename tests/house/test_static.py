"""What the source itself promises: layers, imports, public names, import cost, sizes."""

from __future__ import annotations

import ast
import graphlib
import inspect
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from public_names import FAMILIES, PUBLIC

import quotakernels

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(quotakernels.__file__).parent
MAX_CODE_LINES, MAX_FUNCTION_LINES = 600, 35

LAYERS = (
    ("_elsewhere", "_frames", "_records", "_text", "_version"),
    ("inputs", "inputs.keywords"),
    ("_array", "_types"),
    ("_bits", "_replacing"),
    ("ops._table",),
    ("ops.arrays",),
    ("ops.drawing", "ops.hull", "ops.groups"),
    ("ops.tables",),
    ("ops.binning", "ops.rows"),
    ("ops.standard",),
    ("ops.native",),
    ("ops.programs",),
    ("ops",),
    ("inputs.columns",),
    ("inputs.groups", "inputs.numbers"),
    ("inputs.examples",),
    ("inputs.classes", "inputs.counts", "inputs.totals"),
    ("inputs.cuts",),
    ("inputs.models",),
    ("ranking",),
    ("measures",),
    ("states",),
    ("inference",),
    (
        "budgets",
        "charts",
        "decisions",
        "groups",
        "points",
        "results",
        "retrieval",
        "screening",
        "tables",
        "uplift",
    ),
    ("",),  # the public names
    ("adapters",),
    ("plots",),
    ("evaluation",),
    ("report",),
    ("cli",),
    ("__main__",),
)
"""From the bottom to the top; a module belongs to the longest name that fits."""
ON_DEMAND = {("evaluation.evaluation", "report.page")}
"""An evaluation makes the page when it is asked to."""
APPLICATION = ("plots", "evaluation", "report", "cli")
OPEN_TO_THE_APPLICATION = {
    "_text": "numbers look the same in messages of the library and in the application",
    "_records": "named tuples show plain numbers",
    "_frames": "results become data frames",
    "_replacing": "files are written whole or not at all",
    "_array": "records of arrays are taken apart",
    "_bits": "arrays of any library become NumPy's",
    "ops": "streams make tables of what they have counted, and groups are summed",
    "inputs.keywords": "misspelt keywords, flags and choices are refused in the same words",
    "inputs.models": "models, and what is beside them, are checked as the library does",
    "inputs.groups": "so are ids of groups",
    "inputs.numbers": "so are lists of quotas",
    "measures.uplift": "the best order of an uplift curve is drawn",
    "states._compute": "streams know bounds of measures",
    "inference._call": "notes tell of too few data",
    "inference.bands": "intervals of what several cuts bring share their resamples",
    "inference.comparing": "so do the tests",
    "inference.gains": "what selections bring has intervals and tests without resamples",
    "inference.planning": "answers tell how many rows would be enough",
    "inference.hit_rates": "what a quota brings has an interval made of those of hit rates",
}
"""What the application imports beside public names, and what for."""
NAMES_BACKENDS = ("_array", "_bits", "ops", "adapters")
READS_VALUES = (
    "_array",
    "_bits",
    "ops.native",
    "inputs.columns",
    "inputs.examples",
    "inputs.classes",
    "inputs.counts",
    "inputs.groups",
    "inputs.models",
    "inputs.numbers",
    "inputs.cuts",
    "_text",
    "ops.drawing",
    "measures.selection",
    "states.histogram",
    "states.fixed_buffer",
    "inference",
    "evaluation",
    "adapters",
    "plots",
    "cli",
    "report",
)
BACKENDS = {"cupy", "dask", "jax", "jaxlib", "jnp", "mlx", "tensorflow", "torch"}
"""Array libraries but NumPy, which holds whatever is read on the host."""
READING_BUILTINS = {"bool", "complex", "float", "int"}
READING_METHODS = {"cpu", "item", "numpy", "to_numpy", "tolist"}


def module_name(path: Path) -> str:
    """The dotted name inside the package, empty for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


PATHS = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in PATHS.items()}


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def source_modules(*but: str) -> dict[str, ast.Module]:
    return {name: tree for name, tree in TREES.items() if not within(name, *but)}


# what imports what


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All that runs, which leaves out what only type checkers read."""
    yield tree
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for other in node.orelse:
                yield from nodes(other)
        else:
            yield from nodes(node)


def imports(tree: ast.AST) -> Iterator[str]:
    """Dotted names of all imported modules; `from package import module` is one of `module`."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = f"{'.' * node.level}{node.module or ''}"
            for alias in node.names:
                inside = f"{source}.{alias.name}".removeprefix("quotakernels.")
                yield f"quotakernels.{inside}" if inside in TREES else source


def imports_inside(tree: ast.AST) -> set[str]:
    """Which modules of the package are imported, as in `TREES`."""
    return {
        name.removeprefix("quotakernels").removeprefix(".")
        for name in imports(tree)
        if within(name, "quotakernels")
    }


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def only_in_functions(tree: ast.Module, target: str) -> bool:
    everywhere = list(imports(tree)).count(f"quotakernels.{target}")
    return everywhere == sum(
        list(imports(function)).count(f"quotakernels.{target}") for function in functions(tree)
    )


def layer(name: str) -> int:
    fitting = [
        (len(package), level)
        for level, packages in enumerate(LAYERS)
        for package in packages
        if within(name, package)
    ]
    return max(fitting, default=(0, -1))[1]


def test_every_module_is_in_a_layer():
    assert len(TREES) > 20
    without = [name for name in TREES if layer(name) < 0]
    assert without == [], "give each a layer in LAYERS, and a place in docs/design.md"


def test_imports_go_down_the_layers_only():
    upward = {
        (name, target)
        for name, tree in TREES.items()
        for target in imports_inside(tree)
        if layer(target) > layer(name)
    }
    assert upward == ON_DEMAND, "modules import from layers below their own: see LAYERS"
    assert all(only_in_functions(TREES[name], target) for name, target in ON_DEMAND)


def test_imports_have_no_cycle():
    graph = {
        name: {x for x in imports_inside(tree) if (name, x) not in ON_DEMAND}
        for name, tree in TREES.items()
    }
    graphlib.TopologicalSorter(graph).prepare()


def test_the_application_imports_public_names():
    """Or from the few modules of `OPEN_TO_THE_APPLICATION`, each for its reason."""
    public = {"", *quotakernels._FAMILIES}
    found = {
        target
        for name, tree in TREES.items()
        if within(name, *APPLICATION)
        for target in imports_inside(tree)
        if target not in public and not within(target, *APPLICATION)
    }
    assert found == OPEN_TO_THE_APPLICATION.keys(), "use public names, or say why there are none"


def test_operations_import_at_their_top():
    """But for native forms, which wait for arrays of their library."""
    inside = [
        (name, function.name)
        for name, tree in TREES.items()
        if within(name, "ops") and name != "ops.native"
        for function in functions(tree)
        if any(imports(function))
    ]
    assert inside == [], "move these imports to the top of their files"


def test_imports_are_absolute():
    relative = [(name, x) for name, tree in TREES.items() for x in imports(tree) if x[0] == "."]
    assert relative == [], "write `from quotakernels…`"


def test_no_import_hides_in_a_call():
    hidden = {"import_module", "__import__", "exec", "eval"}
    found = {(name, x) for name, tree in TREES.items() for _, x in texts(tree) if x in hidden}
    expected = {("", "import_module"), ("results", "import_module")}
    assert found == expected, "the top loads families by their names, results those of evaluations"


def test_one_module_imports_the_compat_layer():
    importing = [
        name
        for name, tree in TREES.items()
        if any(within(x, "array_api_compat") for x in imports(tree))
    ]
    assert importing == ["_array"]


def test_numbers_that_people_read_are_written_by_one_module():
    """Coordinates and what is said of the page itself are not such numbers."""
    found = [
        (name, ast.unparse(node))
        for name, tree in TREES.items()
        if name.partition(".")[0] in ("cli", "evaluation", "plots", "report")
        and name not in ("cli.run", "report.page")
        for node in ast.walk(tree)
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None
        if ast.unparse(node.format_spec).rstrip("'\"")[-1] in "efgn%"
    ]
    assert found == [], "`formatted` of quotakernels/_text.py writes them"


def test_native_forms_import_their_own_library_only():
    for name, tree in TREES.items():
        if within(name, "ops.native"):
            libraries = {x.partition(".")[0] for x in imports(tree)} & BACKENDS
            own = name.rpartition(".")[2].strip("_").partition("_")[0]
            assert libraries <= {own}, name


def test_one_module_imports_scipy():
    found = {name for name, x in TREES.items() if "scipy" in {y.split(".")[0] for y in imports(x)}}
    assert found == {"inference._distributions"}


# what tests import

PRIVATE_IN_TESTS = {
    "_array": "PyTorch as if no value could be read, for native forms of operations",
    "_bits": "every bit of an array, in any library",
    "_text": "numbers of every type and size, of which outputs show a few",
    "adapters._tables": "more rows than 32 bits count, which no table has",
    "cli.csv_files": "small blocks",
    "cli.files": "small blocks",
    "cli.rendering": "a bar without a wait, on a terminal that keeps what it shows",
    "cli.run": "small blocks and little memory",
    "evaluation.batches": "small blocks",
    "evaluation.results": "which values count as equal, of a column of any numbers",
    "evaluation.settings": "how many resamples millions of rows, or many models, get",
    "_version": "what an import loads",
    "inference._distributions": "distributions over all of their range",
    "inference.comparing": "counts of given resamples and exchanges",
    "inference.bootstrapping": "when a list is long, and a user waits",
    "measures.dominance": "small blocks",
    "ranking": "the table of a ranking, for operations on it",
    "report.page": "curves in few points, and pages without figures, which take long to draw",
}
"""What tests import or replace beside the public names and `ops`, and what for."""


def modules_named(tree: ast.AST) -> Iterator[str]:
    """The modules of the package that are imported, or named in a string."""
    strings = {x.value for x in ast.walk(tree) if isinstance(x, ast.Constant)}
    found = {x for x in strings if isinstance(x, str) and re.fullmatch(r"quotakernels[.\w]+", x)}
    for name in imports_inside(tree) | {x.partition(".")[2] for x in found}:
        parts = name.split(".")
        yield next(x for n in range(len(parts), -1, -1) if (x := ".".join(parts[:n])) in TREES)


def test_tests_use_public_names():
    """Of modules that the reference names, of operations, and the command."""
    pages = [path.read_text("utf-8") for path in (ROOT / "docs" / "reference").glob("*.md")]
    documented = re.findall(r"^::: quotakernels\.?(.*?)\.?\w+$", "\n".join(pages), re.MULTILINE)
    assert {"", "inference", "adapters.sklearn"} <= {*documented}
    public = {"cli", "adapters", *documented}
    found = {
        name: path.name
        for path in (ROOT / "tests").rglob("*.py")
        for name in modules_named(ast.parse(path.read_text("utf-8")))
        if name not in public and not within(name, "ops")
    }
    assert found.keys() == PRIVATE_IN_TESTS.keys(), found


# what is named and read


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of every identifier and every string but docstrings."""
    line, documents = 0, set()
    for node in ast.walk(tree):
        line = getattr(node, "lineno", line)
        if isinstance(node, ast.Expr):
            documents.add(node.value)
        if node not in documents:
            yield from ((line, x) for _, x in ast.iter_fields(node) if isinstance(x, str))


def test_only_the_bottom_names_backends():
    found = [
        (name, line, text)
        for name, tree in source_modules(*NAMES_BACKENDS).items()
        for line, text in texts(tree)
        if not BACKENDS.isdisjoint(re.findall("[a-z]+", text.lower()))
    ]
    assert found == [], "only NAMES_BACKENDS may name array libraries: use the operations of `ops`"


def test_docstrings_may_name_backends():
    tree = ast.parse('def f(x):\n    """Of torch."""\n    return x.jax_of("a cupy")\n')
    assert sorted(text for _, text in texts(tree)) == ["a cupy", "f", "jax_of", "x", "x"]


def reads(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Calls that need the value of an array, if what they are given may be one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and not any(is_constant(x) for x in node.args):
            called = node.func
            if isinstance(called, ast.Name) and called.id in READING_BUILTINS | {"to_numpy"}:
                yield node.lineno, called.id
            elif isinstance(called, ast.Attribute) and called.attr in READING_METHODS:
                yield node.lineno, called.attr


def is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())


def test_values_are_read_where_they_may_be_only():
    modules = source_modules(*READS_VALUES)
    found = [(name, *read) for name, tree in modules.items() for read in reads(tree)]
    assert found == [], "only READS_VALUES may read values, which programs and devices have not"


def test_reads_are_found():
    tree = ast.parse("float(x) + x.item() + int(x.size) + float(LIMIT)")
    assert sorted(called for _, called in reads(tree)) == ["float", "int", "item"]


def constants(tree: ast.Module) -> Iterator[tuple[str, object]]:
    """Numbers, and what other modules may import, by names in capitals."""
    for node in (x for x in tree.body if isinstance(x, (ast.Assign, ast.AnnAssign))):
        targets = getattr(node, "targets", None) or [node.target]
        names = [x for y in targets for x in getattr(y, "elts", [y])]
        values = getattr(node.value, "elts", []) if len(names) > 1 else [node.value]
        for name, text in zip(map(ast.unparse, names), map(ast.unparse, values), strict=False):
            number = re.fullmatch(r"[\d.e<*+ -]+", text)
            if name.isupper() and (number or not name.startswith("_")):
                yield name.lstrip("_"), eval(text) if number else text


def test_constants_with_one_name_have_one_value():
    names = [name for name, _ in {x for tree in TREES.values() for x in constants(tree)}]
    assert len(names) > 100
    assert {x for x in names if names.count(x) > 1} == set(), "name each by what it says"


# public names


def words(pattern: str) -> set[str]:
    paths = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]
    return {x for path in paths for x in re.findall(pattern, path.read_text(encoding="utf-8"))}


def public_functions() -> dict[str, Callable]:
    return {name: x for name, x in PUBLIC.items() if not isinstance(x, type)}


def all_in_order(names: list[str]) -> bool:
    return names == sorted(set(names))


@pytest.mark.parametrize("module", [quotakernels, *FAMILIES], ids=lambda x: x.__name__)
def test_all_is_sorted_and_holds_what_can_be_imported(module: ModuleType):
    assert all_in_order(module.__all__), "`ruff check --fix` sorts __all__"
    namespace: dict[str, object] = {}
    exec(f"from {module.__name__} import *", namespace)
    assert namespace.keys() - {"__builtins__"} == set(module.__all__)


def test_the_top_is_a_table_of_contents():
    families = {module.__name__.partition(".")[2] for module in FAMILIES} | {"adapters", "plots"}
    assert set(dir(quotakernels)) == {*quotakernels.__all__, *families}
    rooms = {name for name in PATHS if name and not name.startswith("_") and "." not in name}
    assert rooms == {*families, *quotakernels._ROOMS}, "_ROOMS lists the packages beside families"
    assert len(quotakernels.__all__) <= 60, "export the new name from its family"


def test_families_have_all_of_their_own():
    """A type is a result, but for what users make themselves; a name has one object."""
    for module in (quotakernels, *FAMILIES):
        assert all(getattr(module, name) is PUBLIC[name] for name in module.__all__)
    assert all(isinstance(x, type) for x in map(PUBLIC.get, quotakernels.results.__all__))


@pytest.mark.parametrize("name", ["bias", "prevalence"])
def test_a_name_of_a_family_is_told(name: str):
    with pytest.raises(AttributeError, match=rf"has no {name}; use quotakernels\.tables\.{name}$"):
        getattr(quotakernels, name)


def test_public_names_are_documented():
    """Functions and `Ranking` in the documents; what functions return, in their docstrings."""
    returned = {
        returns[1]
        for x in public_functions().values()
        if (returns := re.search(r"^Returns\n-+\n(\w+)$", inspect.getdoc(x), re.MULTILINE))
    }
    documented = words(r"`(?:qk\.)?(?:\w+\.)?(\w+)") | returned
    unnamed = PUBLIC.keys() - documented
    assert unnamed == set(), "README.md and docs/ name every public function, in backticks"


def test_documents_name_public_names_only():
    used = words(
        r"\bqk\.((?:tables|charts|points|budgets|retrieval|decisions|screening|uplift|inference|states|results)\.\w+|\w+)"
    )
    assert len(used) > 10
    families = {module.__name__.partition(".")[2] for module in FAMILIES} | {"adapters", "plots"}
    top = families | set(quotakernels.__all__)
    within = {f"{x.__name__.partition('.')[2]}.{name}" for x in FAMILIES for name in x.__all__}
    assert used - top - within == set(), "README.md, CHANGELOG.md or docs/ name what is not public"


@pytest.mark.parametrize("name", sorted(public_functions()))
def test_functions_show_examples(name: str):
    document = inspect.getdoc(public_functions()[name])
    assert re.search(r"^Examples\n--------\n>>> ", document, re.MULTILINE)


def test_types_have_a_docstring_of_their_own():
    types = PUBLIC.keys() - public_functions().keys()
    automatic = [x for x in types if PUBLIC[x].__doc__.startswith(f"{x}(")]
    assert automatic == []


# sizes and metadata


def code_lines(source: str) -> int:
    """Lines that hold code: no docstring, no comment, no blank line."""
    tree = ast.parse(source)
    documents = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    numbered = enumerate(map(str.strip, source.splitlines()), start=1)
    return sum(bool(x) and x[0] != "#" and n not in documents for n, x in numbered)


def test_code_lines_leave_out_prose():
    assert code_lines('"""One\n\ntwo."""\n\n# why\nx = 1\n"""Of x."""\n') == 1


def test_files_are_short():
    lines = {name: code_lines(path.read_text("utf-8")) for name, path in PATHS.items()}
    long = {name: n for name, n in lines.items() if n > MAX_CODE_LINES}
    assert long == {}, f"split what has more than {MAX_CODE_LINES} lines of code"


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end, without the docstring."""
    first = function.body[0]
    documented = ast.get_docstring(function) is not None
    docstring = first.end_lineno - first.lineno + 1 if documented else 0
    return function.end_lineno - function.lineno + 1 - docstring


def test_functions_are_short():
    lengths = {
        (name, function.name): length(function)
        for name, tree in TREES.items()
        for function in functions(tree)
    }
    long = {name: n for name, n in lengths.items() if n > MAX_FUNCTION_LINES}
    assert long == {}, f"split what has more than {MAX_FUNCTION_LINES} lines"


def test_package_is_typed():
    assert (PACKAGE / "py.typed").is_file()


def test_version_is_that_of_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    source = ROOT / project["tool"]["hatch"]["version"]["path"]
    versions = re.findall(r'^__version__ = "(.+)"$', source.read_text("utf-8"), re.MULTILINE)
    assert versions == [quotakernels.__version__]


def test_the_citation_names_this_version():
    text = (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    assert re.findall(r"version += \{(.+)\},", text) == [quotakernels.__version__]
