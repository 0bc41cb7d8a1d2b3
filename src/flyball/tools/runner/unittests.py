"""How unittest is started: a program for the project's own interpreter, whatever its version.

`python -m unittest` looks only into packages, so tests in plain directories are not found, and it
leaves nothing for machines. This looks everywhere it is told and writes down how each test ended.
"""

PROGRAM = r"""
import json, sys, unittest

report, tops, words = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
ends = {"passed": [], "skipped": [], "bad": []}


def name_of(test):
    return test.id().replace("unittest.loader._FailedTest.", "")


class Result(unittest.TextTestResult):
    def addSuccess(self, test):
        super().addSuccess(test)
        ends["passed"].append(name_of(test))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        ends["skipped"].append(name_of(test))

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        ends["skipped"].append(name_of(test))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        ends["bad"].append([name_of(test), self.failures[-1][1]])

    def addError(self, test, err):
        super().addError(test, err)
        ends["bad"].append([name_of(test), self.errors[-1][1]])

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        ends["bad"].append([name_of(test), "it was expected to fail, and passed"])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            said = self._exc_info_to_string(err, test)
            ends["bad"].append([name_of(test), str(subtest) + "\n" + said])


runner = unittest.TextTestRunner(verbosity=2, resultclass=Result)
if words:
    argv = ["unittest"] + words
    outcome = unittest.main(module=None, argv=argv, testRunner=runner, exit=False).result
else:
    suite = unittest.TestSuite()
    for top, pattern in tops:
        suite.addTests(unittest.TestLoader().discover(top, pattern, top))
    outcome = runner.run(suite)
with open(report, "w", encoding="utf-8") as file:
    json.dump(ends, file)
sys.exit(0 if outcome.wasSuccessful() and outcome.testsRun else 1 if outcome.testsRun else 5)
"""
