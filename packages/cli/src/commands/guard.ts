/** `holdpoint guard -- COMMAND…`: shows a command and its folder to people, and runs exactly that command if they allow it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import type { ExternalAgent, HandedAnswer } from '@holdpoint/client'
import { withoutHoldpointVariables } from '@holdpoint/drivers'
import type { ApprovalAsk } from '@holdpoint/protocol'
import type { GatewayAddress } from '../gateway-client/gateway-client.ts'
import { err } from '../output/output.ts'
import { shellQuote } from '../output/shell-quote.ts'
import { row, trusted, untrusted } from '../output/span.ts'
import { parseDeadline } from './ask.ts'
import { askAndWait, reportRefusal, reportTaken, waitAtMost } from './ask-and-wait.ts'
import { scriptTexts } from './texts.ts'

export interface GuardOptions extends GatewayAddress {
  readonly deadline?: string
  readonly as: string
}

const reportMaxMs = 3000
/** The exit codes that shells use; the number of the signal is added to `signalled`. */
const shellCodes = { notFound: 127, notRunnable: 126, signalled: 128 } as const

export async function guard(argv: readonly string[], { deadline, as, ...address }: GuardOptions): Promise<number> {
  const ask: ApprovalAsk = {
    kind: 'approval',
    tool: 'Bash',
    // `argv` is what runs. `command` is the same command, quoted for people to read.
    input: { command: argv.map(shellQuote).join(' '), argv: [...argv] },
    title: 'Run a command',
    cwd: process.cwd(),
    // An edited command line would have to be split into words again, and might then differ from what the person read.
    editable: false,
  }
  return askAndWait({ address, as, ask, deadlineMs: parseDeadline(deadline) }, (handed, agent) => {
    const isAllowed = handed.kind === 'answer' && handed.answer.kind === 'allow'
    return isAllowed ? run(argv, ask, handed, agent) : reportNotAllowed(handed)
  })
}

async function reportNotAllowed(handed: HandedAnswer): Promise<number> {
  const code = reportRefusal(handed)
  await reportTaken(handed)
  return code
}

async function run(
  argv: readonly string[],
  { tool, input, cwd }: ApprovalAsk,
  handed: HandedAnswer,
  agent: ExternalAgent,
): Promise<number> {
  const [program = '', ...words] = argv
  const block = handed.request.id
  const report = (work: Promise<void>) => waitAtMost(reportMaxMs, work)
  const child = spawn(program, words, { stdio: 'inherit', cwd, env: withoutHoldpointVariables(process.env) })
  const forward = (signal: NodeJS.Signals) => {
    // On Ctrl+C, the terminal sends SIGINT to the command too, so forwarding the signal would deliver it twice.
    if (signal !== 'SIGINT' || !hasTerminal()) child.kill(signal)
  }
  for (const signal of forwardedSignals) process.on(signal, forward)
  let taken: Promise<void> | undefined
  child.once('spawn', () => {
    taken = report(handed.taken().then(() => agent.say({ type: 'tool.started', block, tool, input })))
  })
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null] // Node documents these arguments of the event
    await taken
    await report(agent.say({ type: 'tool.finished', block, ok: code === 0, output: signal ?? `exit ${code}` }))
    return code ?? shellCodes.signalled + constants.signals[signal ?? 'SIGKILL']
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException // errors of `spawn` have this type
    err.print(row(trusted(scriptTexts.cannotRun), untrusted(message)))
    await reportTaken(handed)
    return code === 'ENOENT' ? shellCodes.notFound : shellCodes.notRunnable
  } finally {
    for (const signal of forwardedSignals) process.off(signal, forward)
  }
}

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Returns whether this process has a controlling terminal, even if stdin and stdout are redirected. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
