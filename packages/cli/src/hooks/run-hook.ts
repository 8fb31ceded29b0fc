/** `holdpoint hook run AGENT`: runs as a hook of an agent. It prints a decision if there is one, and otherwise nothing, so that the agent continues as usual. */
import { basename } from 'node:path'
import { text } from 'node:stream/consumers'
import {
  AgentSession,
  answerHook,
  failedReply,
  type HookOptions,
  hookNameOf,
  parseHook,
  type TerminalAgent,
  type TerminalAgentName,
  type TerminalEvent,
  type TerminalReply,
  tagVariable,
  terminalAgents,
} from '@holdpoint/drivers'
import { type Call, Fault, messageOf, truncateTitle } from '@holdpoint/protocol'
import { dataFolderAt, isRunning } from '../config/data-folder.ts'
import { findLocalGateway } from '../gateway-client/gateway-client.ts'
import { printNotice } from '../output/notice.ts'
import { abortOnSignal } from '../signals.ts'
import { agentProcess, TerminalFolder, type TerminalSession } from './terminal-folder.ts'
import { hookTexts } from './texts.ts'

/** If the gateway has not accepted what the hook reports within this time, the agent continues without the gateway. */
const acceptMaxMs = 2000
/** The longest time to withdraw a request after the person has answered in the terminal. */
const withdrawMaxMs = 3000
/** How often a waiting hook checks whether its agent still runs. An agent that was killed has not ended its hooks. */
const agentCheckMs = 2000
/** The events that need a session: if somebody has ended the session of the terminal, they start a new one. The other events only report. */
const needsSession: ReadonlySet<TerminalEvent['kind']> = new Set(['prompt', 'before', 'permission'])

interface RunningHook extends Omit<HookOptions, 'session' | 'calls'> {
  readonly event: TerminalEvent
  readonly folder: TerminalFolder
}

export async function runHook(name: TerminalAgentName, { home }: { readonly home?: string }): Promise<void> {
  const answeredInTerminal = abortOnSignal('SIGTERM', 'SIGINT', 'SIGHUP')
  exitAfterAgent()
  const agent = terminalAgents[name]
  const input = await text(process.stdin)
  // A runner of Holdpoint has started this agent, so its driver already asks.
  if (process.env[tagVariable] !== undefined) return
  const dataFolder = dataFolderAt(home)
  const client = findLocalGateway(dataFolder, { attempts: 1 })
  if (!client) return
  const event = parseHook(agent, input)
  if (!event) {
    if (hookNameOf(input) === agent.beforeHook) print(agent, failedReply(agent, hookTexts.unreadable(agent.title)))
    return
  }
  const folder = TerminalFolder.of(dataFolder, event.conversation, agentProcess())
  let fallback: TerminalReply | null = null
  let onAccepted = () => {}
  const accepted = new Promise<void>(resolve => {
    onAccepted = resolve
  })
  const onFallback = (reply: TerminalReply) => {
    fallback = reply
  }
  const hook = { event, folder, agent, call: client.call, onAccepted, onFallback, answeredInTerminal }
  const reply = answerInSession(hook).catch((error: unknown) => {
    printNotice(messageOf(error))
    // The rules may deny the call, so a person must decide; an agent could otherwise avoid the rules with an input that nobody can check. A gateway that is away has no rules.
    const isUnchecked = event.kind === 'before' && !isUnreachable(error)
    return fallback ?? (isUnchecked ? failedReply(agent, messageOf(error)) : null)
  })
  const isInTime = await Promise.race([reply.then(() => true), accepted.then(() => true), wait(acceptMaxMs, false)])
  if (!isInTime) return print(agent, fallback)
  const stopped = new Promise<TerminalReply | null>(resolve => {
    answeredInTerminal.addEventListener('abort', () => setTimeout(() => resolve(fallback), withdrawMaxMs))
  })
  const output = await Promise.race([reply, stopped])
  // Without a reply to the hook before a call, the agent may run the call.
  if (!answeredInTerminal.aborted || event.kind === 'before') print(agent, output)
}

function print(agent: TerminalAgent, reply: TerminalReply | null): void {
  if (reply !== null) process.stdout.write(JSON.stringify(agent.format(reply)))
}

/** The error of a connection that failed, as every command reports it. */
function isUnreachable(error: unknown): boolean {
  return error instanceof Error && error.name === 'Unreachable'
}

/** Answers the hook. If a person has ended or deleted the session while the agent continues, a new session replaces it, so that the rules still apply. */
async function answerInSession(hook: RunningHook): Promise<TerminalReply | null> {
  const { folder, event } = hook
  const terminal = folder.read()
  try {
    return await answerOnce(hook)
  } catch (error) {
    if (!terminal || !isGone(error)) throw error
    folder.end(terminal)
    return needsSession.has(event.kind) ? answerOnce(hook) : null
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Fault && (error.code === 'session_ended' || error.code === 'not_found')
}

async function answerOnce({ event, folder, ...hook }: RunningHook): Promise<TerminalReply | null> {
  const { call } = hook
  const isEnd = event.kind === 'end'
  // A terminal in which nobody wrote anything has no session.
  const terminal = folder.read() ?? (isEnd ? null : await startSession(event, hook.agent, folder, call))
  if (!terminal) return null
  const session = new AgentSession({ call, session: terminal.session })
  if (event.kind === 'prompt' && !terminal.hasTitle) await setTitle(event.text, terminal, folder, call)
  const reply = await answerHook(event, { ...hook, session, calls: folder.calls })
  if (isEnd) folder.end(terminal)
  return reply
}

async function startSession(
  event: TerminalEvent,
  agent: TerminalAgent,
  folder: TerminalFolder,
  call: Call,
): Promise<TerminalSession> {
  // A command of the agent can have changed the folder of the hook, but not that of the project.
  const cwd = process.env.CLAUDE_PROJECT_DIR || event.cwd
  const title = truncateTitle(`${agent.title} in ${basename(cwd)}`)
  const input = { driver: 'external', cwd, title, capabilities: [...agent.capabilities] }
  const session = await call('startSession', input, { idempotencyKey: folder.sessionKey })
  const terminal = { session, process: agentProcess() }
  folder.write(terminal)
  return terminal
}

async function setTitle(prompt: string, terminal: TerminalSession, folder: TerminalFolder, call: Call): Promise<void> {
  const title = truncateTitle(prompt.trim().split('\n')[0]?.toWellFormed() ?? '')
  if (title === '') return
  await call('patchSession', { id: terminal.session.id, title })
  folder.write({ ...terminal, hasTitle: true })
}

/** Ends this hook once its agent has ended. It withdraws nothing, because the gateway ends the session of such an agent with its requests. */
function exitAfterAgent(): void {
  const agent = agentProcess()
  setInterval(() => {
    if (!isRunning(agent)) process.exit()
  }, agentCheckMs).unref()
}

function wait<T>(ms: number, value: T): Promise<T> {
  return new Promise(resolve => setTimeout(() => resolve(value), ms).unref())
}
