"""Start unittest by a program for the project's own interpreter, whatever its version.

`python -m unittest` searches only packages, so it misses tests in plain directories, and it writes
no machine-readable report. This program searches every given directory and records the result of
each test.
"""

PROGRAM = r"""
import json, os, sys, time, unittest

report, tops, words = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
began = {}
lines = open(report, "w", encoding="utf-8")


def name_of(test):
    return test.id().replace("unittest.loader._FailedTest.", "")


def file_of(test):
    module = sys.modules.get(type(test).__module__)
    is_own = module is not None and not module.__name__.startswith("unittest")
    return getattr(module, "__file__", None) or "" if is_own else ""


def note(test, outcome, message=""):
    dotted, file, module = name_of(test), file_of(test), type(test).__module__ + "."
    owner, _, name = dotted.rpartition(".")
    if file and owner.startswith(module):
        owner = owner[len(module):]
    spent = time.monotonic() - began.get(id(test), time.monotonic())
    line = {"name": name, "suite": owner.split(".") if owner else [], "file": file,
            "outcome": outcome, "seconds": round(spent, 6), "message": message, "spelling": dotted}
    # At once: a run that is stopped has reported how its tests ended so far.
    lines.write(json.dumps(line) + "\n")
    lines.flush()


class Result(unittest.TextTestResult):
    def startTest(self, test):
        began[id(test)] = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        super().addSuccess(test)
        note(test, "passed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        note(test, "skipped")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        note(test, "skipped")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        note(test, "failed", self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        note(test, "error", self.errors[-1][1])

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        note(test, "failed", "it was expected to fail, and passed")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            said = self._exc_info_to_string(err, test)
            note(test, "failed", str(subtest) + "\n" + said)


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def fits(test, word):
    # By its dotted name, or by its file or directory with `::` and a name behind it.
    dotted = "." + name_of(test) + "."
    path, _, inner = word.partition("::")
    if dotted.startswith("." + word + "."):
        return True
    if not (path.endswith(".py") or os.path.isdir(path)):
        return False
    place, file = os.path.realpath(path), os.path.realpath(file_of(test) or os.devnull)
    is_inside = file == place or file.startswith(os.path.join(place, ""))
    return is_inside and (not inner or "." + inner.replace("::", ".") + "." in dotted)


def named(found):
    # Discovered tests that fit a word: what a directory without __init__.py holds cannot be
    # imported by the name that it has here.
    kept = []
    left = set(words)
    for test in each(found):
        hits = [word for word in words if fits(test, word)]
        left -= set(hits)
        if hits:
            kept.append((words.index(hits[0]), test))
    # In the order of the words: the tests of a word stay in their own.
    kept.sort(key=lambda pair: pair[0])
    return None if left else unittest.TestSuite(test for _, test in kept)


runner = unittest.TextTestRunner(verbosity=2, resultclass=Result)
suite = unittest.TestSuite()
for top, pattern in tops:
    suite.addTests(unittest.TestLoader().discover(top, pattern, top))
chosen = named(suite) if words and not any(word[:1] == "-" for word in words) else None
if words and chosen is None:
    argv = ["unittest"] + words
    outcome = unittest.main(module=None, argv=argv, testRunner=runner, exit=False).result
else:
    outcome = runner.run(chosen if words else suite)
lines.close()
sys.exit(0 if outcome.wasSuccessful() and outcome.testsRun else 1 if outcome.testsRun else 5)
"""
