/** Tests with the real CLI, once per version, whether a call can be resumed after its process was stopped. The marker row is a private format of the CLI, so a new version may not support it. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CanUseTool, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import { z } from 'zod'
import { CliProcess } from '../cli/cli-process.ts'
import { InputQueue } from '../cli/input-queue.ts'
import { toAgent } from '../messages.ts'
import { askRuleFor } from '../resuming/ask-rule.ts'
import { type ModelResponder, scriptedEnvironment, startScriptedModel } from '../setup/scripted-model.ts'
import { type ClaudeLocation, configFolder, type Installation } from '../setup/sdk.ts'
import { TranscriptStore } from '../transcript/transcript-store.ts'

const toolUseId = 'toolu_selftest'
const runMaxMs = 20_000
const Result = z.object({ version: z.string() })

/** Runs the self-test and returns whether it passed. Stores a pass in the folder, so that the test runs once per version. */
export async function canPark(installation: Installation, folder: string): Promise<boolean> {
  if (isKnownToPark(installation, folder)) return true
  // Do not store a failure: a busy machine can make the test fail, and the next runner should test again.
  if (!(await runSelfTest(installation).catch(() => false))) return false
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(resultFile(folder), JSON.stringify({ version: installation.version }), { mode: 0o600 })
  return true
}

/** Returns whether this version has already passed the self-test. */
export function isKnownToPark({ version }: ClaudeLocation, folder: string): boolean {
  try {
    return Result.parse(JSON.parse(readFileSync(resultFile(folder), 'utf8'))).version === version
  } catch {
    return false
  }
}
const resultFile = (folder: string) => join(folder, 'parkable.json')

/** Stops a process while a call is pending, resumes the call in a second process, and denies it there. Passes if the second process asks for the same call and the call never runs. */
async function runSelfTest(installation: Installation): Promise<boolean> {
  const home = mkdtempSync(join(tmpdir(), 'holdpoint-claude-'))
  const cwd = join(home, 'cwd')
  mkdirSync(cwd)
  const createdFile = join(cwd, 'ran')
  const respond: ModelResponder = ({ messages, tools }) =>
    tools?.some(tool => tool.name === 'Bash') && !JSON.stringify(messages).includes('"tool_result"')
      ? [
          {
            type: 'tool_use',
            id: toolUseId,
            name: 'Bash',
            input: { command: `touch ${createdFile}`, description: 'try' },
          },
        ]
      : [{ type: 'text', text: 'done' }]
  const model = await startScriptedModel(respond)
  try {
    const env = scriptedEnvironment(model.url, home)
    const transcript = new TranscriptStore(join(home, 'rows'), configFolder(env))
    const setup = { installation, home, cwd, env, transcript }
    const asked = await runUntilAsked(setup, null)
    const [call] = transcript.index.openCalls
    if (!asked || call?.id !== toolUseId) return false
    transcript.resumeAtCall(call, 'default')
    const askedAgain = await runUntilAsked(setup, askRuleFor(call))
    return askedAgain && transcript.index.openCalls.length === 0 && !existsSync(createdFile)
  } finally {
    await model.close()
    rmSync(home, { recursive: true, force: true })
  }
}

interface TestSetup {
  readonly installation: Installation
  readonly home: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly transcript: TranscriptStore
}

/** Runs the CLI and returns whether the CLI asked for the call. The first run has no ask rule, and its process is stopped as soon as the call is in the transcript. The second run has an ask rule, and its call is denied. */
async function runUntilAsked(
  { installation, home, cwd, env, transcript }: TestSetup,
  askRule: string | null,
): Promise<boolean> {
  const input = new InputQueue<SDKUserMessage>()
  let cli: CliProcess | undefined
  let asked = false
  const canUseTool: CanUseTool = async (_tool, _input, { toolUseID }) => {
    asked = toolUseID === toolUseId
    if (askRule) return { behavior: 'deny', message: toAgent.selfTest }
    const endOnceRecorded = () => void (transcript.index.openCalls.length > 0 && cli?.end())
    transcript.onAppend = endOnceRecorded
    endOnceRecorded()
    return new Promise(() => {})
  }
  const query = installation.sdk.query({
    prompt: input,
    options: {
      ...{ cwd, env: { ...env }, canUseTool, permissionMode: 'default', settingSources: [] },
      ...{ sessionStore: transcript.sdkStore, sessionStoreFlush: 'eager' },
      ...(transcript.sessionId === undefined ? {} : { resume: transcript.sessionId }),
      ...(askRule === null ? {} : { settings: { permissions: { ask: [askRule] } } }),
      ...(installation.executable ? { pathToClaudeCodeExecutable: installation.executable } : {}),
      spawnClaudeCodeProcess: spawnOptions => {
        cli = new CliProcess(spawnOptions, home)
        return cli.spawned
      },
    },
  })
  if (!askRule) input.push({ type: 'user', message: { role: 'user', content: 'try' }, parent_tool_use_id: null })
  const timer = setTimeout(() => void cli?.end(), runMaxMs)
  try {
    for await (const message of query) if (message.type === 'result') input.close()
  } catch {
    // The first process is stopped in the middle of its turn, so reading its messages fails.
  } finally {
    clearTimeout(timer)
    await cli?.end()
  }
  return asked
}
