/** `holdpoint guard -- CMD…`: shows a command and its folder to people, and runs exactly that, only if they allow it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { ExternalAgent, Settled } from '@holdpoint/drivers'
import type { ApprovalAsk } from '@holdpoint/protocol'
import type { Place } from '../remote.ts'
import { err } from '../text/screen.ts'
import { ours, row, theirs } from '../text/span.ts'
import { deadlineFrom } from './ask.ts'
import { petition, refused, within } from './petition.ts'

export interface GuardOptions extends Place {
  readonly deadline?: string
  readonly as: string
}

const reportMaxMs = 3000
/** As shells say it. */
const codes = { notFound: 127, notRunnable: 126, signalled: 128 } as const

export async function guard(argv: readonly string[], { deadline, as, ...place }: GuardOptions): Promise<number> {
  const ask: ApprovalAsk = {
    kind: 'approval',
    tool: 'Bash',
    // The words are what runs; the line is how people read them.
    input: { command: argv.map(quoted).join(' '), argv: [...argv] },
    title: 'Run a command',
    cwd: process.cwd(),
    // An edited line would have to be taken apart again, and might then not be what was read.
    editable: false,
  }
  return petition({ place, as, ask, deadlineMs: deadlineFrom(deadline) }, (settled, agent) => {
    const allowed = settled.kind === 'answer' && settled.answer.kind === 'allow'
    return allowed ? run(argv, ask, settled, agent) : drop(settled)
  })
}

async function drop(settled: Settled): Promise<number> {
  const code = refused(settled)
  await settled.taken()
  return code
}

async function run(
  argv: readonly string[],
  { tool, input, cwd }: ApprovalAsk,
  settled: Settled,
  agent: ExternalAgent,
): Promise<number> {
  const [program = '', ...words] = argv
  const block = settled.request.id
  const report = (doing: Promise<void>) => within(reportMaxMs, doing)
  const child = spawn(program, words, { stdio: 'inherit', cwd })
  // A terminal gives Ctrl+C to the command as well: it is the command's to decide what that means.
  const ignore = () => {}
  const pass = (signal: NodeJS.Signals) => child.kill(signal)
  process.on('SIGINT', ignore)
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, pass)
  let taken: Promise<void> | undefined
  child.once('spawn', () => {
    taken = report(settled.taken().then(() => agent.say({ type: 'tool.started', block, tool, input })))
  })
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null] // as node documents the event
    await taken
    await report(agent.say({ type: 'tool.finished', block, ok: code === 0, output: signal ?? `exit ${code}` }))
    return code ?? codes.signalled + constants.signals[signal ?? 'SIGKILL']
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException // what spawn fails with
    err.print(row(ours('It was allowed, but cannot be run: '), theirs(message)))
    await report(settled.taken())
    return code === 'ENOENT' ? codes.notFound : codes.notRunnable
  } finally {
    process.off('SIGINT', ignore)
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.off(signal, pass)
  }
}

/** For reading, in the words of a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
