// Plays opencode: loads a plugin, sends it what it is told on stdin, and prints what came of it.
import { readFileSync } from "node:fs"

const [plugin, directory] = process.argv.slice(2)
const calls = []
const noted = (name) => async (options) => { calls.push([name, options]) }
const parents = { ses_child: "ses_root", ses_grandchild: "ses_child" }
const client = {
  session: {
    promptAsync: noted("promptAsync"),
    get: async ({ path }) => ({ data: { id: path.id, parentID: parents[path.id] } }),
  },
  app: { log: noted("log") },
  tui: { showToast: async () => { throw new Error("there is no terminal") } },
}
const module = await import(plugin)
const hooks = await module.Flyball({ client, directory })
const results = []
for (const [name, ...args] of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    await hooks[name](...args)
    results.push({ output: args[1] ?? null })
  } catch (error) {
    results.push({ thrown: error.message })
  }
}
console.log(JSON.stringify({ exports: Object.keys(module), results, calls }))
