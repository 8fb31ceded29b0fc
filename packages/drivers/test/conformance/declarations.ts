/** What each agent supports. The suite measures this with the real agent, and docs/agents.md shows it in two tables. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { JsonObject, SessionId } from '@holdpoint/protocol'
import { expect } from 'vitest'
import { z } from 'zod'
import { RpcClient, type RpcMessage } from '../../src/codex/rpc-client.ts'
import type { AgentFixture } from './agent-fixture.ts'
import { readAttachScript } from './attach-script.ts'
import type { RuleScenarioName } from './rule-scenarios.ts'
import type { ScenarioName } from './scenarios.ts'
import type { WatchScenarioName } from './watch-scenarios.ts'

export interface AgentDeclaration {
  readonly shellTool: string
  readonly shellTitle: (command: string) => string
  readonly shellInput: (command: string) => JsonObject
  /** What the log shows of the command `echo ran >> allowed.txt`, in addition to the fact that it ran. */
  readonly toolStarted?: { readonly tool: string; readonly title: string }
  /** Two modes in which the agent asks, if it has modes. */
  readonly modes?: readonly [string, string]
  /** Allows the call that waits in the agent's own terminal. */
  readonly allowElsewhere?: (agent: AgentFixture, session: SessionId) => Promise<void>
  /** Resolves when the agent has stored the call, so that it can continue there after a loss. By default, resolves at once. */
  readonly untilStored?: (agent: AgentFixture, session: SessionId, call: string) => Promise<void>
  /** Resolves when the agent can load a conversation that it has just begun. By default, resolves at once. */
  readonly untilLoadable?: () => Promise<void>
  readonly outcomes: Readonly<Record<ScenarioName, string>>
  readonly ruleOutcomes: Readonly<Record<RuleScenarioName, string>>
  /** Missing if nobody has measured yet what watchers can do with the agent. */
  readonly watchOutcomes?: Readonly<Record<WatchScenarioName, string>>
}

const shellAsk = {
  shellTitle: (command: string) => `Run: ${command}`,
  shellInput: (command: string) => ({ command }),
}
const outcomes = {
  stream: 'yes',
  allow: 'yes',
  deny: 'next message',
  denyAndStop: 'interrupted',
  edit: 'no',
  note: 'next message',
  createFile: 'yes',
  question: 'no',
  several: 'one by one',
  elsewhere: '–',
  interruptWaiting: 'withdrawn',
  interruptWriting: 'stops the model',
  killed: 'told and matched',
  killedAtAnyMoment: 'nothing stays open',
  gatewayRestarted: 'resumed',
  bothRestarted: 'told and matched',
  changeMode: 'yes',
} as const
const ruleOutcomes = {
  allowRule: 'runs without a person',
  denyRule: 'never runs',
  unaskedCommand: 'is asked',
  dangerousCommand: 'dangerous: deletes',
} as const
const watchOutcomes = {
  start: 'yes',
  prompt: 'yes',
  denyBefore: 'next message',
  denyUnasked: 'yes',
  sayBefore: 'next message',
  denyQuestion: '–',
  resultAfter: 'ok',
  sayAfter: 'next message',
  stop: 'sent back',
  limit: 'turns, minutes',
} as const

export const declarations: Readonly<Record<string, AgentDeclaration>> = {
  claude: {
    ...shellAsk,
    shellTool: 'Bash',
    shellTitle: command => `Bash: ${command}`,
    modes: ['default', 'plan'],
    untilStored: untilInClaudeTranscript,
    outcomes: {
      ...outcomes,
      ...{ deny: 'same turn', note: 'same turn', edit: 'yes', question: 'questions' },
      ...{ denyAndStop: 'cancelled', killed: 'resumed', bothRestarted: 'resumed' },
    },
    ruleOutcomes: { ...ruleOutcomes, unaskedCommand: 'is checked' },
    watchOutcomes: {
      ...watchOutcomes,
      ...{ denyBefore: 'same turn', sayBefore: 'same turn', sayAfter: 'same turn', denyQuestion: 'same turn' },
      ...{ resultAfter: 'ok, exit code', limit: 'turns, minutes, tokens, cost' },
    },
  },
  codex: {
    ...shellAsk,
    shellTool: 'exec_command',
    shellInput: command => ({ command: `/bin/bash -lc '${command}'` }),
    modes: ['ask', 'auto'],
    allowElsewhere: allowInCodex,
    outcomes: {
      ...outcomes,
      ...{ deny: 'same turn', note: 'same turn', question: 'questions' },
      ...{ several: 'at once', elsewhere: 'withdrawn', denyAndStop: 'cancelled' },
    },
    ruleOutcomes,
    watchOutcomes: {
      ...watchOutcomes,
      ...{ denyBefore: 'same turn', denyQuestion: 'same turn' },
      ...{ resultAfter: 'ok, exit code', limit: 'turns, minutes, tokens' },
    },
  },
  opencode: {
    ...shellAsk,
    shellTool: 'bash',
    toolStarted: { tool: 'bash', title: 'Run: echo ran >> allowed.txt' },
    modes: ['build', 'plan'],
    allowElsewhere: allowInOpencode,
    outcomes: {
      ...outcomes,
      ...{ deny: 'same turn', question: 'questions', several: 'at once', elsewhere: 'withdrawn' },
    },
    ruleOutcomes,
    watchOutcomes: {
      ...watchOutcomes,
      ...{ denyBefore: 'same turn', denyQuestion: 'same turn' },
      ...{ resultAfter: 'ok, exit code', limit: 'turns, minutes, tokens' },
    },
  },
  gemini: {
    ...shellAsk,
    shellTool: 'execute',
    modes: ['default', 'plan'],
    untilLoadable: nextMinute,
    outcomes,
    ruleOutcomes: { ...ruleOutcomes, unaskedCommand: 'runs unasked' },
    watchOutcomes: { ...watchOutcomes, denyUnasked: 'runs unasked', resultAfter: 'failure not seen' },
  },
  goose: { ...shellAsk, shellTool: 'shell', modes: ['approve', 'smart_approve'], outcomes, ruleOutcomes },
  qwen: {
    ...shellAsk,
    shellTool: 'run_shell_command',
    modes: ['default', 'plan'],
    outcomes: { ...outcomes, question: 'questions' },
    ruleOutcomes: { ...ruleOutcomes, unaskedCommand: 'runs unasked' },
  },
  copilot: {
    ...shellAsk,
    shellTool: 'execute',
    outcomes: { ...outcomes, several: 'at once', changeMode: 'no' },
    ruleOutcomes,
  },
  'codex-acp': {
    ...shellAsk,
    shellTool: 'execute',
    outcomes: { ...outcomes, question: 'form', several: 'at once', changeMode: 'no' },
    ruleOutcomes,
  },
  'claude-agent-acp': {
    ...shellAsk,
    shellTool: 'Bash',
    modes: ['default', 'plan'],
    outcomes: { ...outcomes, question: 'form' },
    ruleOutcomes: { ...ruleOutcomes, unaskedCommand: 'runs unasked' },
  },
}

/** The watch outcomes of agents that have no process of their own in this suite. Other tests check them: generator-watchers.test.ts and terminal-watchers.test.ts. */
export const otherWatchOutcomes: Readonly<Record<string, Readonly<Record<WatchScenarioName, string>>>> = {
  'generator agents': {
    ...watchOutcomes,
    ...{ denyBefore: 'same turn', denyUnasked: 'runs unasked', denyQuestion: 'same turn' },
  },
  '`holdpoint hook`, Claude Code': {
    ...watchOutcomes,
    ...{ denyBefore: 'same turn', sayBefore: 'same turn', denyQuestion: 'same turn', sayAfter: 'same turn' },
    resultAfter: 'ok, exit code',
  },
}

/** Gemini cannot load a conversation in the minute of the clock in which it began. */
async function nextMinute(): Promise<void> {
  const minuteMs = 60_000
  await delay(minuteMs - (Date.now() % minuteMs) + 1000)
}

/** Answers as a second client of the app-server, which gets the same requests. */
async function allowInCodex(agent: AgentFixture, session: SessionId): Promise<void> {
  const { conversationId: threadId } = await agent.asPerson('getSession', { id: session })
  const terminal = await RpcClient.open(`${agent.driverFolder}/${session}/codex.sock`)
  const seen: RpcMessage[] = []
  terminal.onMessage = message => seen.push(message)
  const clientInfo = { name: 'terminal', title: 'Terminal', version: '1' }
  const capabilities = { experimentalApi: true, requestAttestation: false }
  await terminal.request('initialize', { clientInfo, capabilities }, z.unknown())
  terminal.notify('initialized')
  await terminal.request('thread/resume', { threadId }, z.unknown())
  const asked = () => seen.find(({ method }) => method === 'item/commandExecution/requestApproval')
  await expect.poll(() => asked() !== undefined).toBe(true)
  await terminal.reply(asked()?.id as number, { decision: 'accept' }) // a request has an id
  terminal.close()
}

/** Answers over the interface of the server, as `opencode attach` does. */
async function allowInOpencode(agent: AgentFixture, session: SessionId): Promise<void> {
  const { process } = await agent.asPerson('getSession', { id: session })
  const { url, headers } = readAttachScript(process?.attach ?? '')
  const [permission] = (await (await fetch(`${url}/permission`, { headers })).json()) as { id: string }[] // this is the API of the pinned version
  const body = JSON.stringify({ reply: 'once' })
  await fetch(`${url}/permission/${permission?.id}/reply`, { method: 'POST', headers, body })
}

/** Claude Code writes a call to its transcript while the request opens. If it is killed before, the message is sent again instead. */
async function untilInClaudeTranscript(agent: AgentFixture, session: SessionId, call: string): Promise<void> {
  const folder = join(agent.driverFolder, session)
  const contains = (name: string) => name.endsWith('.jsonl') && readFileSync(join(folder, name), 'utf8').includes(call)
  await expect.poll(() => existsSync(folder) && readdirSync(folder).some(contains)).toBe(true)
}
