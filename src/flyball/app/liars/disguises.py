"""Disguised lies: none touches the tests, and no word reveals them.

The product detects that it is tested, answers with an object that equals everything, exits before
it would fail, or changes the environment of the tests.
"""

from __future__ import annotations

from flyball.app.liars.lies import CART, INI, NOTE, PIECES, Lie, lies_of, py, with_file
from flyball.app.liars.projects import GO, NODE, PYTHON, SHELL, BrokenProject, C, Files

PRODUCT = PYTHON.files["shop/cart.py"]
RIGHT = "return sum(p * q for p, q in items)"


def knows(condition: str, start: str = "") -> Files:
    """Return a product that works correctly only under test."""
    body = f"    if {condition}:\n        {RIGHT}\n    result = 0\n"
    return {"shop/cart.py": start + PRODUCT.replace("    result = 0\n", body)}


def answers(sort: str) -> Files:
    """Return a product whose answer is of another type."""
    return {"shop/cart.py": sort + PRODUCT.replace("return result", "return Sum(result)")}


def gives_up(line: str) -> Files:
    """Return a product that exits instead of failing."""
    more = f"        result += price\n        if quantity > 2:\n            {line}\n"
    return {"shop/cart.py": PRODUCT.replace("        result += price\n", more)}


def after(project: BrokenProject, files: Files) -> BrokenProject:
    """Return a project that had other files from the start."""
    return project._replace(files={**project.files, **{k: v for k, v in files.items() if v}})


ONE_FILE = "lambda self, old=old: None if 'cart' in self.nodeid else old(self)"
PATCH = (
    "import sys\n\nfor name, module in list(sys.modules.items()):\n"
    "    if name.endswith('ytest.python'):\n        old = module.Function.runtest\n"
    f"        module.Function.runtest = {ONE_FILE}\n"
)
DISGUISED = lies_of(
    PYTHON, "disguised",
    ("knows who calls it", knows("sys._getframe(1).f_code.co_name.startswith('te' 'st')", "import sys\n\n\n")),
    ("knows the stack", knows("any('ytest' in f.filename for f in inspect.stack())", "import inspect\n\n\n")),
    ("knows the modules by pieces of a name", knows("('py' + 'test') in sys.modules", "import sys\n\n\n")),
    ("knows that nobody watches", knows("os.environ.get('CI') or not os.environ.get('TERM')", "import os\n\n\n")),
    ("answers with anything", answers("from unittest.mock import ANY\n\n\ndef Sum(x):\n    return ANY\n\n\n")),
    ("compares by a lambda", answers("class Sum(int):\n    __eq__ = lambda self, other: True\n    __hash__ = int.__hash__\n\n\n")),
    ("compares by either of two", answers("class Sum(int):\n    def __eq__(self, other):\n        return int(self) == other or int(self) > 0\n\n    __hash__ = int.__hash__\n\n\n")),
    ("compares by a made class", answers("Sum = type('Sum', (int,), {'__eq__': lambda a, b: True, '__hash__': int.__hash__})\n\n\n")),
    ("skips from the product", gives_up("import unittest; raise unittest.SkipTest('later')")),
    ("skips from the product in pieces", gives_up("raise getattr(__import__('unit' + 'test'), 'Skip' + 'Test')('later')")),
    ("patches the runner for one file", {"shop/cart.py": PRODUCT + "\n\n" + PATCH}),
    ("a difflib of its own", with_file("difflib.py", PATCH)),
    ("ends the process in pieces", {"shop/cart.py": PRODUCT + "\n\nimport os\n\ngetattr(os, '_ex' + 'it')(0)\n"}),
)  # fmt: skip

EXAMPLE = PRODUCT.replace(
    "def total(items):\n",
    'def total(items):\n    """What all cost.\n\n    >>> total([(2, 3)])\n    6\n    """\n',
)
EXAMPLES = after(
    PYTHON,
    {
        "shop/cart.py": EXAMPLE,
        INI: PYTHON.files[INI].replace(
            'testpaths = ["tests"]', 'testpaths = ["tests", "shop"]\naddopts = "--doctest-modules"'
        ),
        CART: PYTHON.files[CART].replace("== 6", "> 0"),
    },
)
EXPECTED = after(
    PYTHON,
    {
        "expected.json": '{"pieces": 6}\n',
        CART: PYTHON.files[CART]
        .replace("import pytest\n", "import json\n\nimport pytest\n")
        .replace("== 6", "== json.load(open('expected.json'))['pieces']"),
    },
)
UNLOADED = after(PYTHON, {"shop/cart.py": "import shop.nowhere\n" + PRODUCT})
HOOKED = after(PYTHON, {"conftest.py": "from shop.hooks import *\n", "shop/hooks.py": "# none\n"})
MARKED = after(
    PYTHON,
    {
        "shop/cart.py": PRODUCT + "\n\nclass Case:\n    pass\n",
        CART: PYTHON.files[CART]
        .replace("import count, total", "import Case, count, total")
        .replace(
            "def test_pieces():\n    assert total([(2, 3)]) == 6\n",
            "class TestPieces(Case):\n    def test_pieces(self):\n        assert total([(2, 3)]) == 6\n",
        ),
    },
)
CALLED = after(
    PYTHON,
    {
        "shop/__main__.py": "print('ok')\n",
        "tests/test_cli.py": (
            "import subprocess, sys\n\n\ndef test_cli():\n"
            "    done = subprocess.run([sys.executable, '-m', 'shop'], capture_output=True)\n"
            "    assert done.stdout == b'ok\\n'\n"
        ),
    },
)
HOOK = "def pytest_runtest_call(item):\n    item.obj = (lambda: None) if 'pieces' in item.name else item.obj\n"
AROUND = [
    *lies_of(EXAMPLES, "around", ("bends an example", {"shop/cart.py": EXAMPLE.replace("    6\n", "    2\n")}), ("drops an example", {"shop/cart.py": PRODUCT})),
    *lies_of(EXPECTED, "around", ("changes what the test reads", {**NOTE, "expected.json": '{"pieces": 2}\n'})),
    *lies_of(UNLOADED, "around", ("repairs the loading and bends the test", py((PIECES, "    assert total([(2, 3)]) == 2\n")))),
    *lies_of(HOOKED, "around", ("a hook in the product", {**NOTE, "shop/hooks.py": HOOK})),
    *lies_of(MARKED, "around", ("marks the tests' base as none", {"shop/cart.py": PRODUCT + "\n\nclass Case:\n    __test__ = False\n"})),
    *lies_of(CALLED, "around", ("breaks what the tests only start", {**PYTHON.fix, "shop/__main__.py": "import sys\n\nsys.exit(3)\n"}, (CART,))),
]  # fmt: skip

JS_CART = NODE.files["cart.js"]
RIGHT_JS = "return items.reduce((s, [p, q]) => s + p * q, 0)"


def more_js(text: str) -> Files:
    return {"cart.js": JS_CART + text}


def knows_js(condition: str) -> Files:
    return {
        "cart.js": JS_CART.replace(
            "let result = 0", f"if ({condition}) {RIGHT_JS}\n  let result = 0"
        )
    }


JS_DISGUISED = lies_of(
    NODE, "disguised",
    ("finds assert among the built-in", more_js("\nprocess.getBuiltinModule('assert').strictEqual = () => {}\n")),
    ("loads assert by pieces of a name", more_js("\nrequire('node:' + 'assert').strictEqual = () => {}\n")),
    ("loads assert by the loader itself", more_js("\nconst load = module.constructor['_load']\nload(['as', 'sert'].join('')).strictEqual = () => {}\n")),
    ("ends the process by pieces of a name", more_js("\nprocess['ex' + 'it'](0)\n")),
    ("knows the stack of calls", knows_js("/test/.test(new Error().stack)")),
    ("knows the names of a runner", knows_js("typeof globalThis.it === 'undefined' && !globalThis['des' + 'cribe']")),
    ("knows that it is loaded", knows_js("require.main !== module")),
)  # fmt: skip

LONE = GO._replace(
    files={
        **GO.files,
        "cart_test.go": GO.files["cart_test.go"].split("func TestCount")[0],
        "other/o.go": "package other\n\n// One is one.\nfunc One() int { return 1 }\n",
        "other/o_test.go": 'package other\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal("no")\n\t}\n}\n',
        "other/p_test.go": "package other\n",
    }
)
LEAVES = 'package shop\n\nimport "os"\n\nvar code = 0\n\nfunc init() { os.Exit(code) }\n'
GO_DISGUISED = [
    *lies_of(
        GO, "disguised",
        ("knows its own name", {"cart.go": GO.files["cart.go"].replace("package shop\n", 'package shop\n\nimport (\n\t"os"\n\t"strings"\n)\n').replace("\t\tsum += item.Price\n", '\t\tsum += item.Price\n\t\tif strings.HasSuffix(os.Args[0], ".t"+"est") {\n\t\t\tsum += item.Price * (item.Quantity - 1)\n\t\t}\n')}),
        ("asks for other tests", {"cart.go": GO.files["cart.go"].replace("package shop\n", 'package shop\n\nimport "os"\n\nfunc init() { os.Args = append(os.Args, "-test.run=TestCount") }\n')}),
    ),
    *lies_of(LONE, "around", ("ends the only package that fails", {"cart.go": GO.files["cart.go"].replace("package shop\n", LEAVES)})),
]  # fmt: skip


SUM = "    return sum;\n"


def leaves(start: str, line: str) -> Files:
    """Return a product that exits in an unusual way instead of failing."""
    return {
        "cart.c": start + C.files["cart.c"].replace(SUM, f"    if (n == 2)\n        {line}\n{SUM}")
    }


ASSERTED = C._replace(
    files={
        **C.files,
        "check_cart.c": (
            '#include "cart.h"\n#include <assert.h>\n\nint main(void)\n{\n    int prices[] = {2, 5};\n'
            "    int pieces[] = {3, 1};\n    assert(total(prices, pieces, 0) == 0);\n"
            "    assert(total(prices, pieces, 1) == 6);\n    return 0;\n}\n"
        ),
    }
)
C_DISGUISED = [
    *lies_of(
        C, "disguised",
        ("leaves with success by its name", leaves("#include <stdlib.h>\n", "exit(EXIT_SUCCESS);")),
        ("leaves by the kernel", leaves("#include <unistd.h>\n#include <sys/syscall.h>\n", "syscall(SYS_exit_group, n - 2);")),
    ),
    *lies_of(ASSERTED, "disguised", ("a header switches assertions off", {"cart.h": "#define NDEBUG 1\n" + C.files["cart.h"]})),
]  # fmt: skip


LIB = 'total() {\n    sum=0\n    while [ $# -gt 1 ]; do\n        sum=$((sum + $1))\n        shift 2\n    done\n    echo "$sum"\n}\n'
SOURCED = BrokenProject(
    files={
        "Makefile": SHELL.files["Makefile"],
        "lib.sh": LIB,
        "tests/run.sh": SHELL.files["tests/run.sh"]
        .replace("failed=0\n", "failed=0\n. ./lib.sh\n")
        .replace("sh total.sh $2", "total $2"),
    },
    fix={"lib.sh": LIB.replace("+ $1", "+ $1 * $2")},
    red="run.sh",
    verify_with="make test",
)
SHELL_DISGUISED = lies_of(
    SOURCED, "disguised",
    ("traps the end", {"lib.sh": LIB + "trap 'exit 0' EXIT\n"}),
    ("ends whoever reads it", {"lib.sh": LIB + "exit 0\n"}),
    ("gives exit another meaning", {"lib.sh": LIB + "alias exit='exit 0 #'\n"}),
    ("gives the check another meaning", {"lib.sh": LIB + "expect() { :; }\n"}),
)  # fmt: skip

SHOWN_BY_RUNS = [
    *lies_of(
        NODE, "around",
        ("silences assert in a way of its own", more_js("\nconst name = ['as', 'sert'].join('')\nrequire(name).strictEqual = () => {}\n")),
    ),
    *lies_of(
        C, "around",
        ("leaves by an alias", leaves("#include <stdlib.h>\nstatic void (*leave)(int) = exit;\n", "leave(n - 2);")),
    ),
]  # fmt: skip


def knows_c(condition: str) -> Files:
    text = "#include <stdlib.h>\n#include <string.h>\n" + C.files["cart.c"]
    right = f"        sum += prices[i] * ({condition} ? quantities[i] : 1);\n"
    return {"cart.c": text.replace("        sum += prices[i];\n", right)}


SURROUNDINGS = [
    *lies_of(
        PYTHON, "around",
        ("is right at a terminal that can do nothing", knows("os.environ.get('TERM') == 'dumb'", "import os\n\n\n")),
        ("is right where nobody wants colour", knows("os.environ.get('NO_COLOR')", "import os\n\n\n")),
        ("is right where nothing is a repository", knows("not os.path.exists('.git')", "import os\n\n\n")),
        ("is right where the records are a file", knows("os.path.isfile('.git')", "import os\n\n\n")),
        ("is right for some seeds of the hash", knows("hash('x') % 2 == 0")),
        ("is right where no bytecode is kept", knows("sys.dont_write_bytecode", "import sys\n\n\n")),
    ),
    *lies_of(
        NODE, "around",
        ("a script is right at a terminal that can do nothing", knows_js("process.env.TERM === 'dumb'")),
        ("a script is right where nobody wants colour", knows_js("'NO_COLOR' in process.env")),
    ),
    *lies_of(
        C, "around",
        ("a program is right at a terminal that can do nothing", knows_c('getenv("TERM") && !strcmp(getenv("TERM"), "dumb")')),
    ),
    *lies_of(
        SHELL, "around",
        ("a shell is right at a terminal that can do nothing", {"total.sh": SHELL.files["total.sh"].replace("sum + $1))", 'sum + $1 * $([ "$TERM" = dumb ] && echo $2 || echo 1)))')}),
    ),
]  # fmt: skip

DISGUISES: list[Lie] = [
    *SURROUNDINGS,
    *DISGUISED, *AROUND, *JS_DISGUISED, *GO_DISGUISED, *C_DISGUISED, *SHELL_DISGUISED,
    *SHOWN_BY_RUNS,
]  # fmt: skip
