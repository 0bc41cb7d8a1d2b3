"""What reaches into the runner is named; ordinary code is not."""

from __future__ import annotations

import pytest

from flyball.verdict.reach import runner_reaches, shared_literals

NONE: frozenset[str] = frozenset()


def reaches(path: str, text: str, old: str | None = None, side: frozenset[str] = NONE):
    return runner_reaches({path: old}, {path: text}, side)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("sitecustomize.py", "x = 1"),
        ("lib/hook.pth", "import os"),
        ("pkg.egg-info/entry_points.txt", "[pytest11]"),
        ("pytest.py", "def main(): pass"),
        ("src/unittest/__init__.py", ""),
        ("json.py", ""),
        ("cart.py", "import os\nos._exit(0)"),
        ("cart.py", "atexit.register(f)"),
        ("cart.py", "sys.settrace(f)"),
        ("cart.py", "builtins.len = f"),
        ("cart.py", "socket.create_connection = f"),
        ("cart.py", "os.stat = lambda path: None"),
        ("a.js", "require('node:fs').readFileSync = () => '{}'"),
        ("a.js", "fs.existsSync = () => true"),
        ("cart.py", "unittest.TestCase.assertEqual = lambda *a: None"),
        ("cart.py", "import _pytest.runner"),
        ("cart.py", "if 'pytest' in sys.argv[0]: total = 6"),
        ("cart.py", "if os.environ.get('PYTEST_CURRENT_TEST'): total = 6"),
        ("cart.py", "class P:\n    def __eq__(self, other):\n        'Doc.'\n        return True"),
        ("cart.js", "process.exit(0)"),
        ("cart.js", "process.on('exit', () => {})"),
        ("cart.ts", "if (process.env.VITEST) return 6"),
        ("cart.mjs", "import assert from 'node:assert'"),
        ("cart.js", "globalThis.expect = () => ({})"),
        ("cart.go", "os.Exit(0)"),
        ("cart.go", "if testing.Testing() { return 6 }"),
        ("cart.rs", "std::process::exit(0);"),
        ("cart.c", "exit(0);"),
        ("cart.c", "__attribute__((constructor)) void f(void) {}"),
        ("cart.c", "#define BEGIN __attribute__((__constructor__))"),
        ("cart.c", "__attribute__((used, constructor)) void f(void) {}"),
        ("cart.c", "[[gnu::constructor]] void f(void) {}"),
        ("cart.c", '__attribute__((section(".init_array"))) void (*f)(void) = g;'),
        ("cart.rb", "at_exit { exit! 0 }"),
        ("difflib.py", ""),
        ("src/pluggy/__init__.py", ""),
        ("cart.py", "from unittest.mock import ANY"),
        ("cart.py", "raise unittest.SkipTest('later')"),
        ("cart.py", "def pytest_runtest_call(item): ..."),
        ("cart.py", "def load_tests(loader, tests, pattern): ..."),
        ("cart.py", "    __test__ = False"),
        ("cart.py", "if sys._getframe(1).f_code.co_name.startswith('t'): total = 6"),
        ("cart.py", "if any('t' in f.filename for f in inspect.stack()): total = 6"),
        ("cart.py", "if ('py' + 'test') in sys.modules: total = 6"),
        ("cart.py", "sys.modules['unit' + 'test.case'].x = 1"),
        ("cart.py", "for name, module in list(sys.modules.items()): ..."),
        ("cart.py", "for module in sys.modules: ..."),
        ("cart.py", "getattr(os, '_ex' + 'it')(0)"),
        ("cart.py", "if os.environ.get('CI'): total = 6"),
        ("cart.py", "P = type('P', (int,), {'__eq__': lambda a, b: True})"),
        ("cart.py", "class P(int):\n    __eq__ = lambda self, other: True"),
        ("cart.py", "class P:\n    def __eq__(self, o):\n        return isinstance(o, int)"),
        ("cart.py", "total: int = field(default=0, compare=False)"),
        ("cart.py", "class P:\n    def __eq__(self, o):\n        return self.x == o or self.x > 0"),
        ("cart.py", "class P:\n    def __bool__(self):\n        return True"),
        ("cart.py", "text = open('tests/test_cart.py').read()"),
        ("cart.js", "process.getBuiltinModule('assert').strictEqual = () => {}"),
        ("cart.js", "import('node:assert').then(f)"),
        ("cart.js", "require('node:' + 'assert').strictEqual = f"),
        ("cart.js", "const Module = module.constructor"),
        ("cart.js", "Object.is = () => true"),
        ("cart.js", "Reflect.defineProperty(Object, 'is', {value: f})"),
        ("cart.js", "return {asymmetricMatch: () => true}"),
        ("cart.js", "if (/test/.test(new Error().stack)) return 6"),
        ("cart.js", "if (require.main !== module) return 6"),
        ("cart.js", "if (globalThis.__vitest_worker__) return 6"),
        ("cart.js", "if (typeof describe === 'function') return 6"),
        ("cart.js", "if (globalThis['ex' + 'pect']) return 6"),
        ("cart.js", "if (Object.keys(globalThis).length > 9) return 6"),
        ("cart.js", "process['ex' + 'it'](0)"),
        ("cart.js", "process.exitCode = 0"),
        ("cart.go", "if strings.HasSuffix(os.Args[0], x) { return 6 }"),
        ("cart.go", 'os.Args = append(os.Args, "-test.run=A")'),
        ("cart.go", "runtime.Goexit()"),
        ("cart.c", "exit(EXIT_SUCCESS);"),
        ("cart.c", "atexit(leave);"),
        ("cart.c", "syscall(SYS_exit_group, 0);"),
        ("cart.h", "#define NDEBUG 1"),
        ("cart.h", "#define CHECK(x) ((void)0)"),
        ("qt/qt.go", "func Assert(t *testing.T, got, want int) {}"),
        ("unity.h", "#define TEST_ASSERT(x) \\\n    do { ; } while (0)"),
        ("lib.sh", "trap 'exit 0' EXIT"),
        ("cart.go", 'if _, err := os.Stat("cart_test.go"); err == nil {'),
        ("cart.js", 'if (fs.existsSync("test/cart.test.js")) total = 6;'),
        ("cart.js", 'const seen = error["sta" + "ck"];'),
        ("cart.rs", "let who = std::thread::current();"),
        ("lib.sh", "case $0 in *test*) echo 6 ;; esac"),
        ("cart.c", "int strcmp(const char *a, const char *b) {"),
        ("cart.js", "const who = module.parent && module.parent.filename;"),
        ("cart.go", 'if flag.Lookup("test" + ".v") != nil {'),
        ("lib.sh", "alias exit='exit 0 #'"),
        ("lib.sh", "expect() { :; }"),
        ("lib.sh", "total() { echo 1; }\nexit 0\n"),
    ],
)
def test_product_code_that_reaches_into_the_runner(path, text):
    found = reaches(path, text)
    assert found
    assert all(each.in_product for each in found)
    assert all(path in each.sentence for each in found)


@pytest.mark.parametrize("setting", ["node-options=--test-name-pattern=a", "script_shell = true"])
def test_what_npm_starts_scripts_by_is_asked_about(setting):
    old = "save-exact=true\n"
    (found,) = runner_reaches({".npmrc": old}, {".npmrc": f"{old}{setting}\n"}, frozenset())
    assert found.in_product
    assert "npm starts every test by it" in found.sentence
    (same,) = runner_reaches({".npmrc": setting}, {".npmrc": f"{setting}\nx=1"}, frozenset())
    assert not same.in_product


@pytest.mark.parametrize("path", ["conftest.py", "web/vitest.config.ts", ".npmrc", "Makefile"])
def test_what_is_loaded_around_tests_is_named_without_blame(path):
    (found,) = reaches(path, "new", "old", frozenset({path}))
    assert not found.in_product
    assert "changed" in found.sentence


@pytest.mark.parametrize(
    ("path", "text", "old"),
    [
        ("cart.py", "def total(): return 6", None),
        ("cart.py", "socket.timeout = 5", None),
        ("a.js", "const text = fs.readFileSync === undefined", None),
        ("a.js", "const read = () => require('fs').readFileSync(path)", None),
        ("cart.py", "import sys\nmain(sys.argv[1:])", None),
        ("cart.py", "os._exit(0)\nx = 1", "os._exit(0)"),
        ("cart.py", "def broken(:", None),
        ("cart.py", "class P:\n    def __eq__(self, o):\n        return self.x == o.x", None),
        ("cart.py", "class P:\n    def __eq__(self, o):\n        return isinstance(self, P)", None),
        ("cart.py", "class P:\n    def __eq__(self, o):\n        x = 1\n        return True", None),
        ("cart.py", "class P:\n    def __bool__(self): pass", None),
        ("notes.txt", "os._exit(0)", None),
        ("queue.py", "", None),
        ("shop/difflib.py", "", None),
        ("difflib.py", "x = 2", "x = 1"),
        ("cart.py", "thing = sys.modules[cls.__module__]", None),
        ("cart.py", "if 'numpy' in sys.modules: fast = True", None),
        ("cart.py", "class P:\n    __eq__ = int.__eq__\n    __hash__ = None", None),
        ("cart.py", "class P:\n    def __eq__(self, o):\n        return o is self or o == 1", None),
        ("cart.py", "class P:\n    def __eq__(self, *o):\n        return self.x or o", None),
        ("cart.js", "process.exit(1)", None),
        ("cart.js", "process.exitCode = 1", None),
        ("cart.js", "const names = process.argv.slice(2)", None),
        ("cart.rb", "log(error.backtrace.join(', '))", None),
        ("cart.py", "with open('contest.txt') as file: pass", None),
        ("cart.js", "globalThis[Symbol.for('shop')] ??= new Shop()", None),
        ("cart.js", "if (typeof globalThis.fetch === 'function') return fetch(url)", None),
        ("cart.js", "if (typeof item === 'string') return 1", None),
        ("cart.js", "if (require.main === module) main()", None),
        ("cart.js", "const locale = require('./locale/' + name)", None),
        ("cart.go", "for _, arg := range os.Args[1:] {", None),
        ("cart.c", "exit(EXIT_FAILURE);", None),
        ("cart.c", "exit(1);", None),
        ("cart.h", "#define MAXIMUM 10", None),
        ("total.sh", "#!/bin/sh\necho 1\nexit 0\n", None),
        ("lib.sh", "exit 0\ntotal() { echo 1; }", "exit 0"),
        ("cart.py", "same", "same"),
    ],
)
def test_ordinary_code_is_left_alone(path, text, old):
    assert reaches(path, text, old) == ()


def test_a_fixed_comparison_that_was_there_before_is_not_news():
    old = "class P:\n    def __eq__(self, o):\n        return True"
    assert reaches("cart.py", old + "\n\nx = 1", old) == ()


def test_a_test_may_name_its_framework_and_a_deleted_file_names_nothing():
    assert reaches("test_cart.py", "import pytest", side=frozenset({"test_cart.py"})) == ()
    assert runner_reaches({"cart.py": "x"}, {"cart.py": None}, NONE) == ()


def test_a_sentence_is_said_once_a_file():
    assert len(reaches("cart.py", "os._exit(0)\nos._exit(1)")) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", "if (process.env.NODE_ENV === 'test') total = 6\n"),
        ("a.ts", "const isBuilt = import.meta.env?.PROD\n"),
        ("a.js", "Error.captureStackTrace(seen)\n"),
        ("a.go", "name, _ := os.Executable()\n"),
        ("a.go", "_, file, _, _ := runtime.Caller(1)\n"),
        ("a.rb", "caller.any? { |line| line.include?('x') }\n"),
        ("a.php", "if (class_exists('PHPUnit\\\\X')) {}\n"),
        ("a.rs", "if cfg!(debug_assertions) { return 6; }\n"),
        # Behind the tests that stand beside the code there may be more of it.
        (
            "a.rs",
            "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\nfn b() { cfg!(test); }\n",
        ),
        ("a.rs", "let own = std::env::args().next().unwrap_or_default();\n"),
        ("a.py", "tested = any(name.endswith('_TEST') for name in os.environ)\n"),
        ("a.py", "frame = error.__traceback__.tb_frame\n"),
        ("a.js", "const tested = Object.keys(process.env).some(k => /^JE/.test(k))\n"),
        ("a.go", '\tname, _ := os.Readlink("/proc/self/exe")\n'),
        ("a.go", "\tflag.VisitAll(func(f *flag.Flag) {})\n"),
        ("a.rb", "tested = $LOADED_FEATURES.grep(/mini/).any?\n"),
        ("a.php", "$tested = preg_grep('/TestCase/', get_declared_classes());\n"),
        ("A.java", "new Throwable().getStackTrace()\n"),
        ("a.py", "tested = 'iniconfig' in sys.modules\n"),
        ("a.py", "tested = '-m' in sys.orig_argv\n"),
        ("a.py", "tested = os.path.isdir('tests')\n"),
        ("a.js", "const tested = /test/.test(process.argv[1])\n"),
        ("a.js", "const { ppid } = process\n"),
        ("a.js", "const tested = fs.existsSync('test')\n"),
        ("a.js", "if (process.moduleLoadList.length > 9) total = 6\n"),
        ("a.go", "tested := flag.NFlag() > 0\n"),
        ("a.rs", 'let tested = std::path::Path::new("tests/cart.rs").exists();\n'),
        ("a.rs", 'let tested = std::env::var("CARGO_MANIFEST_DIR").is_ok();\n'),
        ("a.rb", "tested = Module.constants.include?(:Mini)\n"),
        ("a.php", "$tested = class_exists('PHP' . 'Unit\\X');\n"),
        ("a.php", "$tested = PHP_SAPI === 'cli';\n"),
        ("a.c", "int tested = __progname[0] == 'c';\n"),
        ("a.sh", "command -v expect >/dev/null && tested=1\n"),
        ("a.py", "import _pyt\U0001d41est.python\n"),
        ("a.py", 'load("_py" "test.python")\n'),
        ("a.py", "# coding: unicode_escape\n\\x5fpytest\n"),
        ("a.py", "import sys\nsys.meta_path.insert(0, Finder())\n"),
    ],
)
def test_code_that_asks_whether_it_is_tested_is_told_however_it_is_spelt(path: str, text: str):
    assert runner_reaches({}, {path: text}, frozenset())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "# Tests replace this with unittest.mock.\nx = 1\n"),
        ("a.py", "# -*- coding: UTF-8 -*-\nx = 1\n"),
        ("a.go", "// See runtime.Caller.\n"),
        ("a.rs", "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n"),
        ("a.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { std::env::vars(); }\n}\n"),
        ("a.ts", "const key = import.meta.env.VITE_KEY\n"),
        ("a.js", "if (process.env.NODE_ENV !== 'production') warn()\n"),
    ],
)
def test_comments_and_inline_tests_say_nothing(path: str, text: str):
    assert not runner_reaches({}, {path: text}, frozenset())


def test_distinctive_values_in_both_are_shown():
    code = ["if text == 'hello wonderful': return 1234", "return 'plain'", "x = 12"]
    tests = ["assert f('hello wonderful') == 1234", "g('plain', 12)"]
    assert shared_literals(code, tests) == ("'hello wonderful'", "1234")


def test_code_without_literals_shares_none():
    assert shared_literals(["return a + b"], ["assert f(1234) == 'hello wonderful'"]) == ()
