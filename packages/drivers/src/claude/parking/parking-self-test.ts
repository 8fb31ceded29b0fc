/** Whether this Claude Code can be let go while a call waits and be brought back to it: tried for real, once per version, since the row that does it is the CLI's private form. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CanUseTool, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import { InputQueue } from '../cli/input-queue.ts'
import { ProcessGroup } from '../cli/os-process.ts'
import { type ModelResponder, scriptedEnvironment, startScriptedModel } from '../setup/scripted-model.ts'
import { configFolder, type Installation, type Location } from '../setup/sdk.ts'
import { TranscriptStore } from '../transcript/transcript-store.ts'
import { askRuleFor } from './ask-rule.ts'

const id = 'toolu_selftest'
const patienceMs = 20_000

/** Remembered in the folder, by version. */
export async function canPark(installation: Installation, folder: string): Promise<boolean> {
  if (isKnownToPark(installation, folder)) return true
  // A no may be the fault of a busy machine, and is not kept: the next runner tries again.
  if (!(await tryParking(installation).catch(() => false))) return false
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(noteIn(folder), JSON.stringify({ version: installation.version }), { mode: 0o600 })
  return true
}

/** Whether it has been shown of this version. */
export function isKnownToPark({ version }: Location, folder: string): boolean {
  try {
    return Object(JSON.parse(readFileSync(noteIn(folder), 'utf8'))).version === version
  } catch {
    return false
  }
}
const noteIn = (folder: string) => join(folder, 'parkable.json')

async function tryParking(installation: Installation): Promise<boolean> {
  const home = mkdtempSync(join(tmpdir(), 'holdpoint-claude-'))
  const cwd = join(home, 'cwd')
  mkdirSync(cwd)
  const ran = join(cwd, 'ran')
  const script: ModelResponder = ({ messages, tools }) =>
    tools?.some(tool => tool.name === 'Bash') && !JSON.stringify(messages).includes('"tool_result"')
      ? [{ type: 'tool_use', id, name: 'Bash', input: { command: `touch ${ran}`, description: 'try' } }]
      : [{ type: 'text', text: 'done' }]
  const model = await startScriptedModel(script)
  try {
    const env = scriptedEnvironment(model.url, home)
    const stage = { installation, home, cwd, env, rows: new TranscriptStore(join(home, 'rows'), configFolder(env)) }
    const asked = await play(stage, null)
    const [call] = stage.rows.index.open
    if (!asked || call?.id !== id) return false
    stage.rows.bringBack(call, 'default')
    const again = await play(stage, askRuleFor(call))
    return again && stage.rows.index.open.length === 0 && !existsSync(ran)
  } finally {
    await model.close()
    rmSync(home, { recursive: true, force: true })
  }
}

interface Stage {
  readonly installation: Installation
  readonly home: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly rows: TranscriptStore
}

/** The first time lets the process go once its call is on record; with a guard it is the second time, and the call is denied. Whether it asked for the call. */
async function play({ installation, home, cwd, env, rows }: Stage, guard: string | null): Promise<boolean> {
  const inbox = new InputQueue<SDKUserMessage>()
  let cli: ProcessGroup | undefined
  let asked = false
  const canUseTool: CanUseTool = async (_tool, _input, { toolUseID }) => {
    asked = toolUseID === id
    if (guard) return { behavior: 'deny', message: 'This was only a try.' }
    const letGo = () => void (rows.index.open.length > 0 && cli?.end())
    rows.onAppend = letGo
    letGo()
    return new Promise(() => {})
  }
  const query = installation.sdk.query({
    prompt: inbox,
    options: {
      ...{ cwd, env: { ...env }, canUseTool, permissionMode: 'default', settingSources: [] },
      ...{ sessionStore: rows.store, sessionStoreFlush: 'eager' },
      ...(rows.sessionId === undefined ? {} : { resume: rows.sessionId }),
      ...(guard === null ? {} : { settings: { permissions: { ask: [guard] } } }),
      ...(installation.executable ? { pathToClaudeCodeExecutable: installation.executable } : {}),
      spawnClaudeCodeProcess: spawning => {
        cli = new ProcessGroup(spawning, home)
        return cli.child
      },
    },
  })
  if (!guard) inbox.push({ type: 'user', message: { role: 'user', content: 'try' }, parent_tool_use_id: null })
  const timer = setTimeout(() => void cli?.end(), patienceMs)
  try {
    for await (const message of query) if (message.type === 'result') inbox.close()
  } catch {
    // It was let go in the middle, as intended.
  } finally {
    clearTimeout(timer)
    await cli?.end()
  }
  return asked
}
