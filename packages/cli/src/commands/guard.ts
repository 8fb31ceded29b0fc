/** `holdpoint guard -- CMD…`: shows a command and its folder to people, and runs exactly that, only if they allow it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import type { ExternalAgent, HandedAnswer } from '@holdpoint/drivers'
import type { ApprovalAsk } from '@holdpoint/protocol'
import type { GatewayAddress } from '../gateway-client/gateway-client.ts'
import { err } from '../output/output.ts'
import { shellQuote } from '../output/shell-quote.ts'
import { row, trusted, untrusted } from '../output/span.ts'
import { parseDeadline } from './ask.ts'
import { askAndWait, reportRefusal, reportTaken, waitAtMost } from './ask-and-wait.ts'

export interface GuardOptions extends GatewayAddress {
  readonly deadline?: string
  readonly as: string
}

const reportMaxMs = 3000
/** As shells say it. */
const shellCodes = { notFound: 127, notRunnable: 126, signalled: 128 } as const

export async function guard(argv: readonly string[], { deadline, as, ...place }: GuardOptions): Promise<number> {
  const ask: ApprovalAsk = {
    kind: 'approval',
    tool: 'Bash',
    // The words are what runs; the line is how people read them.
    input: { command: argv.map(shellQuote).join(' '), argv: [...argv] },
    title: 'Run a command',
    cwd: process.cwd(),
    // An edited line would have to be taken apart again, and might then not be what was read.
    editable: false,
  }
  return askAndWait({ address: place, as, ask, deadlineMs: parseDeadline(deadline) }, (settled, agent) => {
    const allowed = settled.kind === 'answer' && settled.answer.kind === 'allow'
    return allowed ? run(argv, ask, settled, agent) : reportNotAllowed(settled)
  })
}

async function reportNotAllowed(settled: HandedAnswer): Promise<number> {
  const code = reportRefusal(settled)
  await reportTaken(settled)
  return code
}

async function run(
  argv: readonly string[],
  { tool, input, cwd }: ApprovalAsk,
  settled: HandedAnswer,
  agent: ExternalAgent,
): Promise<number> {
  const [program = '', ...words] = argv
  const block = settled.request.id
  const report = (doing: Promise<void>) => waitAtMost(reportMaxMs, doing)
  const child = spawn(program, words, { stdio: 'inherit', cwd })
  const pass = (signal: NodeJS.Signals) => {
    // A terminal gives Ctrl+C to the command as well: to pass it on would be to press it twice.
    if (signal !== 'SIGINT' || !hasTerminal()) child.kill(signal)
  }
  for (const signal of forwardedSignals) process.on(signal, pass)
  let taken: Promise<void> | undefined
  child.once('spawn', () => {
    taken = report(settled.taken().then(() => agent.say({ type: 'tool.started', block, tool, input })))
  })
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null] // as node documents the event
    await taken
    await report(agent.say({ type: 'tool.finished', block, ok: code === 0, output: signal ?? `exit ${code}` }))
    return code ?? shellCodes.signalled + constants.signals[signal ?? 'SIGKILL']
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException // what spawn fails with
    err.print(row(trusted('It was allowed, but cannot be run: '), untrusted(message)))
    await reportTaken(settled)
    return code === 'ENOENT' ? shellCodes.notFound : shellCodes.notRunnable
  } finally {
    for (const signal of forwardedSignals) process.off(signal, pass)
  }
}

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Wherever stdin and stdout lead: keys are pressed at the terminal that controls this process. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
