// flyball: put here by `flyball init --host opencode`, taken away by `flyball init --host opencode --remove`.
// Asks the same governor as the hooks of other agents: exit 0 is a yes, with words for the model and the person as JSON
// on stdout if there are any; exit 2 is a no with its reason on stderr.
import { spawn } from "node:child_process"

const HOOK = "@HOOK@"
// How much is held; empty: as the settings say. With `observe` only the journal has what would have been.
const LEVEL = ""
const OBSERVES = LEVEL === "observe"
const SECONDS = 30
const SECONDS_TO_STOP = 600
// Whatever is not in this list may write, and is refused when nobody can be asked.
const READS = new Set(["read", "grep", "glob", "list", "lsp", "todoread", "todowrite", "webfetch", "websearch", "codesearch", "question"])

/** What the hook printed beside a yes: `context` for the model, `notice` for the person, other `args` for the call. */
function told(text) {
  try {
    const found = JSON.parse(text), own = found.hookSpecificOutput ?? {}
    return { context: own.additionalContext ?? "", notice: found.systemMessage ?? "", args: own.updatedInput ?? {} }
  } catch {
    return { context: "", notice: "", args: {} }
  }
}

/** Runs the hook once: its exit code and what it said; an exit code of null means that it gave no answer. */
function run(payload, seconds) {
  return new Promise((resolve) => {
    let said = "", printed = "", child
    const end = (code, why) => { clearTimeout(timer); resolve({ code, text: (why ?? said).trim(), ...told(printed) }) }
    const timer = setTimeout(() => { child?.kill("SIGKILL"); end(null, `${HOOK} gave no answer within ${seconds} s`) }, seconds * 1000)
    try {
      child = spawn(HOOK, LEVEL ? ["opencode", LEVEL] : ["opencode"], { cwd: payload.cwd, stdio: ["pipe", "pipe", "pipe"] })
    } catch (error) {
      return end(null, `${HOOK} could not be started: ${error.message}`)
    }
    child.on("error", (error) => end(null, `${HOOK} could not be started: ${error.message}`))
    child.stdin.on("error", () => {}) // It may answer without having read everything.
    child.stderr.setEncoding("utf8")
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (chunk) => { printed += chunk })
    child.stderr.on("data", (chunk) => { said += chunk })
    child.on("close", (code) => {
      if (code === 0 || code === 2) end(code)
      else end(null, `${HOOK} failed (exit ${code}): ${said}`)
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Flyball = async ({ client, directory }) => {
  const parents = new Map() // session -> the session that started it, or null
  const prompts = new Map() // session -> the reason that we sent as a prompt ourselves

  const greetings = new Map() // session -> words for the model that wait for a prompt to go with

  /** Tells the person, above all what failed: what is not governed must not look governed. */
  async function tell(message, level) {
    await client.app?.log?.({ body: { service: "flyball", level, message } })?.catch?.(() => {})
    await client.tui?.showToast?.({ body: { title: "flyball", message, variant: level } })?.catch?.(() => {})
  }

  async function parentOf(session) {
    if (!parents.has(session)) {
      const found = await client.session.get({ path: { id: session } }).catch(() => null)
      parents.set(session, found?.data?.parentID ?? null)
    }
    return parents.get(session)
  }

  /** The first session of a chain of sub-agents: they spend its budget and stand in its phase. */
  async function whose(session) {
    let root = session
    for (let next; (next = await parentOf(root)); ) root = next
    return root === session ? { session_id: root } : { session_id: root, agent_id: session }
  }

  async function ask(hook_event_name, session, more, seconds = SECONDS) {
    const payload = { hook_event_name, ...(await whose(session)), cwd: directory, ...more }
    const answer = await run(payload, seconds)
    if (OBSERVES) return { code: 0, text: "", context: "", notice: "", args: {} }
    if (answer.code === null) await tell(answer.text, "error")
    if (answer.notice) await tell(answer.notice, "info")
    return answer
  }

  async function stopped(session) {
    const active = prompts.has(session)
    const answer = await ask("Stop", session, { stop_hook_active: active }, SECONDS_TO_STOP)
    if (answer.code !== 2) return prompts.delete(session)
    prompts.set(session, answer.text)
    await client.session.promptAsync({ path: { id: session }, body: { parts: [{ type: "text", text: answer.text }] } })
  }

  return {
    "chat.message": async (input, output) => {
      const session = input.sessionID
      const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")
      if (prompts.get(session) === prompt) return // Our own reason, coming back as a prompt.
      const event = (await parentOf(session)) ? "SubagentStart" : "UserPromptSubmit"
      const answer = await ask(event, session, { prompt })
      if (answer.code === 2) throw new Error(answer.text)
      prompts.delete(session)
      const words = [greetings.get(session), answer.context].filter(Boolean)
      greetings.delete(session)
      const last = output.parts.findLast((part) => part.type === "text")
      if (last && words.length) last.text = [last.text, ...words].join("\n\n")
    },
    "tool.execute.before": async (input, output) => {
      const more = { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID }
      const answer = await ask("PreToolUse", input.sessionID, more)
      if (answer.code === 2) throw new Error(answer.text || `flyball refused ${input.tool}.`)
      if (answer.code === null && !READS.has(input.tool))
        throw new Error(`flyball could not be asked, so ${input.tool} is refused: ${answer.text}`)
      Object.assign(output.args, answer.args) // A command that its text does not explain runs confined.
    },
    "tool.execute.after": async (input, output) => {
      const more = { tool_name: input.tool, tool_input: input.args, tool_use_id: input.callID, tool_response: output }
      const answer = await ask("PostToolUse", input.sessionID, more)
      const words = answer.code === 2 ? answer.text : answer.context
      if (!words) return
      if (typeof output.output === "string") output.output += `\n\n${words}`
      else if (Array.isArray(output.content)) output.content.push({ type: "text", text: words })
    },
    event: async ({ event }) => {
      const about = event.properties ?? {}
      if (event.type === "session.created") {
        parents.set(about.info.id, about.info.parentID ?? null)
        if (about.info.parentID) return
        const answer = await ask("SessionStart", about.info.id, { source: "startup" })
        if (answer.context) greetings.set(about.info.id, answer.context)
      } else if (event.type === "session.idle") {
        if (await parentOf(about.sessionID)) await ask("SubagentStop", about.sessionID, {})
        else await stopped(about.sessionID)
      } else if (event.type === "session.deleted" && !about.info.parentID) {
        await ask("SessionEnd", about.info.id, { reason: "deleted" })
      }
    },
  }
}
