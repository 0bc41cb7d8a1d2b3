"""Our own reporters, for runners whose reports leave out files or suites."""

MOCHA = r"""
'use strict';
const fs = require('fs');
const report = __REPORT__;

// Releases before 5 have no `titlePath`, and those before 6 no `--no-bail`.
function titles(test) {
  return test ? [...titles(test.parent), test.title] : [];
}

function goOn(suite) {
  suite.bail(false);
  suite.suites.forEach(goOn);
}

function write(test, outcome, err) {
  const path = titles(test);
  const isHook = test.type === 'hook';
  fs.appendFileSync(report, JSON.stringify({
    name: path[path.length - 1] || '',
    suite: path.slice(0, -1).filter(Boolean),
    file: test.file || (test.parent && test.parent.file) || '',
    outcome: isHook && outcome === 'failed' ? 'error' : outcome,
    seconds: (test.duration || 0) / 1000,
    message: err ? String((err && err.stack) || err) : '',
  }) + '\n');
}

module.exports = function (runner, options) {
  const mocha = require(require.resolve('mocha', { paths: [process.cwd()] }));
  new mocha.reporters.Spec(runner, options);
  fs.writeFileSync(report, '');
  // Stopping at the first failure would hide how the other tests end.
  goOn(runner.suite);
  if (options) options.bail = false;
  runner.on('pass', (test) => write(test, 'passed'));
  runner.on('fail', (test, err) => write(test, 'failed', err));
  runner.on('pending', (test) => write(test, 'skipped'));
};
"""

NODE = r"""
const KINDS = { 'test:pass': 'passed', 'test:fail': 'failed' };

export default async function* (source) {
  const stacks = new Map();
  const parents = new Map();
  for await (const { type, data } of source) {
    const file = (data && data.file) || '';
    if (type === 'test:start') {
      const stack = stacks.get(file) || [];
      stack.length = data.nesting;
      stack.push(data.name);
      stacks.set(file, stack);
      const around = parents.get(file) || [];
      around.length = data.nesting;
      around.push(false);
      if (data.nesting) around[data.nesting - 1] = true;
      parents.set(file, around);
    }
    if (!(type in KINDS)) continue;
    const stack = stacks.get(file) || [];
    const holdsOthers = (parents.get(file) || [])[data.nesting];
    const error = data.details && data.details.error;
    const isSum = !error || error.failureType === 'subtestsFailed';
    if ((holdsOthers || data.details.type === 'suite') && isSum) continue;
    const isFile = data.nesting === 0 && data.name === data.file;
    const cause = error && (error.cause || error);
    const isSkipped = data.skip !== undefined || data.todo !== undefined;
    yield JSON.stringify({
      name: isFile ? '(file)' : data.name,
      suite: stack.slice(0, data.nesting),
      file,
      outcome: isSkipped ? 'skipped' : isFile && error ? 'error' : KINDS[type],
      seconds: ((data.details && data.details.duration_ms) || 0) / 1000,
      message: error ? String((cause && cause.stack) || cause) : '',
    }) + '\n';
  }
}
"""
