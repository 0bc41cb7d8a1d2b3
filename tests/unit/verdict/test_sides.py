import json

import pytest

from flyball.verdict.sides import (
    find_read_by_tests,
    find_shared,
    find_tested,
    find_testing_side,
    is_data,
    is_shared,
)


def side(files, part="."):
    return set(find_testing_side(files, files.get, part))


def test_tests_their_data_and_what_configures_them_are_on_the_side_and_code_is_not():
    files = {
        "src/shop.py": "",
        "src/shop.test.ts": "",
        "tests/test_shop.py": "",
        "tests/data/cart.json": "",
        "conftest.py": "",
        "pytest.toml": "",
        "pyproject.toml": "",
        "README.md": "",
        "web/.npmrc": "",
        "web/tsconfig.build.json": "",
        "rs/Cargo.toml": "",
        "rs/.cargo/config.toml": "",
        "c/GNUmakefile": "",
        "sitecustomize.py": "",
        "lib/pytest.py": "",
        "x.pth": "",
    }
    assert files.keys() - side(files) == {"src/shop.py", "README.md"}


def test_only_the_part_and_the_configuration_around_it():
    files = {
        "package.json": "{}",
        "conftest.py": "",
        "tests/test_a.py": "",
        "web/a.test.js": "",
        "web/src/a.js": "",
        "api/conftest.py": "",
    }
    assert side(files, "web") == {"package.json", "conftest.py", "web/a.test.js"}


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"conftest.py": 'pytest_plugins = ["shop.plug"]', "shop/plug.py": ""}, "shop/plug.py"),
        ({"pytest.ini": "addopts = -p plug -p no:cov", "plug.py": ""}, "plug.py"),
        (
            {"pyproject.toml": '[project.entry-points.pytest11]\nx="plug.x"', "src/plug/x.py": ""},
            "src/plug/x.py",
        ),
        ({"jest.config.js": "setupFiles: ['<rootDir>/env.js']", "env.js": ""}, "env.js"),
        ({"vitest.config.ts": "globalSetup: './boot'", "boot.ts": ""}, "boot.ts"),
        ({"web/.mocharc.json": '{"require": ["./reg"]}', "web/reg.cjs": ""}, "web/reg.cjs"),
        ({"package.json": '{"ava": {"require": ["./reg.js"]}}', "reg.js": ""}, "reg.js"),
        ({"package.json": '{"scripts": {"test": "node run.js"}}', "run.js": ""}, "run.js"),
        ({"package.json": '{"scripts": {"test": "x --import=./a.mjs"}}', "a.mjs": ""}, "a.mjs"),
        ({"package.json": '{"scripts": {"test": "mocha -r ./a.js"}}', "a.js": ""}, "a.js"),
        ({"package.json": '{"scripts": {"test": "sh ./go \'"}}', "go": ""}, "go"),
        ({"Makefile": "include rules.mk\n", "rules.mk": ""}, "rules.mk"),
        ({"Makefile": "test: run\nrun: x.c\n\t@sh t/run.sh x.c\n", "t/run.sh": ""}, "t/run.sh"),
    ],
)  # fmt: skip
def test_what_the_runner_loads_is_on_the_side(files, named):
    assert named in side(files)


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"Makefile": "test: jsmn.h\n\tcc test.c jsmn.h\n", "jsmn.h": ""}, "jsmn.h"),
        ({"vitest.config.ts": "alias: {x: './src/index.ts'}", "src/index.ts": ""}, "src/index.ts"),
        ({"package.json": '{"main": "b.js", "scripts": {"build": "node b"}}', "b.js": ""}, "b.js"),
        (
            {
                "package.json": '{"scripts": {"test": "node cli.js"}}',
                "cli.js": "",
                "lib.js": "require('./cli')",
            },
            "cli.js",
        ),
        ({"package.json": "[broken", "a.js": ""}, "a.js"),
        ({"package.json": "[]", "a.js": ""}, "a.js"),
        ({"package.json": '{"scripts": []}', "a.js": ""}, "a.js"),
    ],
)  # fmt: skip
def test_code_that_a_configuration_only_mentions_is_not(files, code):
    assert code not in side(files)


def test_helpers_that_only_tests_import_are_on_the_side():
    files = {
        "shop/test_tools.py": "",
        "shop/mocks.py": "",
        "shop/helpers.py": "",
        "shop/fakes/__init__.py": "",
        "shop/fixtures_unused.py": "",
        "shop/cart.py": "from shop import helpers\nimport os\n",
        "tests/test_cart.py": "from shop.mocks import x\nimport shop.helpers\nimport shop.fakes\n",
    }
    found = side(files)
    assert {"shop/mocks.py", "shop/fakes/__init__.py"} <= found
    assert "shop/helpers.py" not in found
    assert "shop/fixtures_unused.py" not in found
    assert "shop/cart.py" not in found


def test_a_module_that_only_tests_import_is_code_unless_its_name_says_otherwise():
    files = {"src/slug.js": "", "test/slug.test.js": "import slug from '../src/slug.js'\n"}
    assert side(files) == {"test/slug.test.js"}


def test_what_cannot_be_read_is_no_reason_to_fail():
    files = {"conftest.py": None, "helpers.py": None, "a.py": None, "package.json": None}
    assert side(files) == {"conftest.py", "package.json"}


def test_a_cycle_of_targets_ends():
    makefile = "test: check\n\t./a.sh\ncheck: test\n\tsh b.sh 'open\n"
    assert {"a.sh", "b.sh"} <= side({"Makefile": makefile, "a.sh": "", "b.sh": ""})


def test_tables_of_package_json_load_too():
    package = json.dumps({"jest": {"setupFiles": ["./one.js"], "globalSetup": "./two.js"}})
    assert {"one.js", "two.js"} <= side({"package.json": package, "one.js": "", "two.js": ""})


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("", False),
        ("packages/a", False),
        ("tests/fixtures/app", True),
        ("src/__fixtures__/x", True),
        ("pkg/testdata/mod", True),
        ("templates/{{name}}", True),
        ("tests/cases/app", True),
        ("tests/e2e", False),
        ("e2e", False),
        ("test", False),
    ],
)
def test_data_of_tests_is_no_part(folder, expected):
    assert is_data(folder) is expected


def test_a_source_with_a_main_that_the_test_recipe_needs_is_a_test_program():
    files = {
        "Makefile": (
            "test: check\n\t./check\n\ncheck: check.c cart.c\n\tcc -o check check.c cart.c\n"
        ),
        "check.c": "int main(void) { return 0; }\n",
        "cart.c": "int total(void) { return 0; }\n",
        "other.c": "int main(void) { return 0; }\n",
    }
    assert find_testing_side(files, files.get) == {"Makefile", "check.c"}


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\n'),
        ("pytest.ini", "[pytest]\npython_files =\n    check_*.py\n    *.py\n"),
        ("setup.cfg", "[tool:pytest]\npython_files = check_*.py *\n"),
    ],
)
def test_files_that_pytest_is_told_to_collect_are_tests(name: str, config: str):
    files = {name: config, "qa/check_cart.py": "", "qa/check.txt": "", "cart.py": ""}
    assert side(files) == {name, "qa/check_cart.py"}


def test_only_a_test_file_bears_on_itself_alone():
    assert not is_shared("tests/test_cart.py")
    assert not is_shared("web/cart.spec.ts")
    assert is_shared("tests/conftest.py")
    assert is_shared("tests/data/cart.json")
    assert is_shared("pyproject.toml")
    assert is_shared("test/__snapshots__/cart.test.js.snap")


DATA = {
    "shop/cart.py": "def total(items):\n    return 0\n",
    "shop/words.py": "TEXTS = read(f'locales/{language}')\nRATES = load('rates.yaml')\n",
    "tests/test_cart.py": "FILES = 'expected.json', 'de.txt', 'rates.yaml', 'tax.csv'\n",
    "expected.json": "{}",
    "locales/de.txt": "",
    "rates.yaml": "",
    "tax.csv": "",
    "notes.txt": "",
    "tests/run.sh": 'for each in "$HERE"/golden/*; do check "$each"; done\n',
    "Makefile": "test:\n\tfor i in cases/*.in; do ./cart < $$i; done\n",
    "cases/one.in": "",
    "golden/big.toml": "",
    "prices/book.toml": "",
    "loose.toml": "",
    "shop/prices.py": "PLACE = here / 'prices' / name\n",
}


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("expected.json", True),
        ("tax.csv", True),
        ("rates.yaml", True),
        ("notes.txt", False),
        ("shop/cart.py", False),
        ("tests/data.json", False),
        ("cases/one.in", True),
        ("golden/big.toml", True),
        ("loose.toml", False),
    ],
)
def test_data_that_tests_name_is_shared(path: str, wanted: bool):
    found = find_shared([path], frozenset(), DATA, DATA.get)
    assert found == (frozenset({path}) if wanted else frozenset())


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("loose.toml", True),
        ("prices/book.toml", False),
        ("locales/de.txt", False),
        ("rates.yaml", False),
        ("shop/help.txt", False),
        ("tests/data.json", False),
        ("shop/cart.py", False),
    ],
)
def test_data_that_tests_read_is_theirs_unless_code_may_have_read_it(path: str, wanted: bool):
    found = find_read_by_tests([path], DATA, DATA.get)
    assert found == (frozenset({path}) if wanted else frozenset())


SHOP = {
    "tests/test_cart.py": "from shop.cart import total\nfrom shop.cases import ROWS\n",
    "shop/cases.py": "ROWS = [([], 0)]\n",
    "shop/cart.py": "from shop.rates import RATE\n\n\ndef total(items):\n    return 0\n",
    "shop/rates.py": "RATE = 2\n",
    "tests/test_limits.py": "from shop import limits\n",
    "shop/limits.py": "MOST = 3\n",
    "cart_test.go": 'import (\n\t"testing"\n\n\t"example.org/shop/internal/check"\n)\n',
    "internal/check/check.go": "func Equal(t T, a, b int) {\n\tt.Errorf()\n}\n",
    "tests/test_tax.py": "from shop.base import Base\nfrom shop.tax import tax\n",
    "shop/base.py": "class Base(X):\n    def same(self, a, b):\n        self.assertEqual(a, b)\n",
    "shop/tax.py": "def tax(amount):\n    assert amount > 0\n    return 0\n",
    "rows.go": "package shop\n\nvar rows = []row{{2, 6}}\n\ntype row struct{ n, sum int }\n",
    "rates.go": "package shop\n\nvar (\n\trate = 2\n)\n",
    "rows_test.go": "func Test(t *testing.T) { for range rows { use(rate) } }\n",
    "tax.go": "package shop\n\nfunc Tax() int { return rate }\n",
    "package.json": "{}",
    "Makefile": "",
    "pytest.ini": "",
    "phpunit.xml": '<phpunit bootstrap="src/cart.php"/>',
    "src/cart.php": "function total() {}\n",
    "lib.sh": "total() { :; }\n",
    "tests/run.sh": ". ./lib.sh\n",
}


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("shop/cases.py", True),
        ("internal/check/check.go", True),
        ("rows.go", True),
        ("rates.go", False),
        ("shop/base.py", True),
        ("shop/tax.py", False),
        ("shop/rates.py", False),
        ("shop/limits.py", False),
        ("shop/cart.py", False),
        ("package.json", True),
        ("Makefile", True),
        ("pytest.ini", False),
        ("src/cart.php", False),
        ("lib.sh", False),
        ("tests/test_cart.py", False),
    ],
)
def test_values_and_checks_of_tests_and_manifests_are_shared_and_code_is_not(path, wanted):
    testing = frozenset(side(SHOP))
    assert (path in find_shared([path], testing, SHOP, SHOP.get)) is wanted


@pytest.mark.parametrize(
    ("path", "code", "tests", "wanted"),
    [
        ("src/cart.php", "<?php\nfunction total() {}\n", "total([])", True),
        ("src/cart.php", "<?php\nfunction total() {}\n", "sum([])", False),
        ("src/cart.php", "<?php\n$rows = [total([])];\n", "total([])", False),
        ("tests/start.php", "<?php\nfunction total() {}\n", "total([])", False),
        ("phpunit.xml", "function total() {}\n", "total([])", False),
    ],
)
def test_code_that_is_loaded_first_and_that_tests_call_is_what_they_test(path, code, tests, wanted):
    files = {path: code, "tests/CartTest.php": f"<?php\n{tests};\n"}
    assert (path in find_tested([path], files, files.get)) is wanted
