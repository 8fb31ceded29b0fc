/** `holdpoint ask`: any script stops and asks people; the answer on stdout, what it means as exit code. */
import type { HandedAnswer } from '@holdpoint/drivers'
import { type Ask, Fault, limits } from '@holdpoint/protocol'
import type { GatewayAddress } from '../gateway-client/gateway-client.ts'
import { err, out } from '../output/output.ts'
import { row, trusted, untrusted, untrustedLine } from '../output/span.ts'
import { askAndWait, exitCodes, reportRefusal, reportTaken } from './ask-and-wait.ts'

export interface AskOptions extends GatewayAddress {
  readonly choice?: readonly string[]
  readonly text?: boolean
  readonly deadline?: string
  readonly as: string
  readonly json?: boolean
}

export async function ask(
  question: string,
  { choice = [], text, deadline, as, json, ...place }: AskOptions,
): Promise<number> {
  const asking = buildAsk(question, choice, text === true)
  return askAndWait({ address: place, as, ask: asking, deadlineMs: parseDeadline(deadline) }, async settled => {
    const code = json ? exitCodeFor(settled) : printAnswer(settled)
    if (json) out.json(settled.request)
    await reportTaken(settled)
    return code
  })
}

/** Without anything to choose or to write, people say yes or no. */
function buildAsk(question: string, choices: readonly string[], text: boolean): Ask {
  if (question.trim() === '') throw new Fault('bad_input', 'There is nothing to ask; give the question')
  if (choices.length === 0 && !text) {
    const short = question.length <= limits.titleMax
    return {
      kind: 'approval',
      tool: 'confirm',
      input: { prompt: question },
      title: short ? question : `${question.slice(0, limits.titleMax - 1)}…`,
      cwd: process.cwd(),
      editable: false,
    }
  }
  if (new Set(choices).size < choices.length) throw new Fault('bad_input', 'A --choice is given twice')
  const options = choices.map(label => ({ label }))
  const only = { id: 'answer', header: '', question, options, multiSelect: false, allowOther: text, secret: false }
  return { kind: 'questions', questions: [only] }
}

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export function parseDeadline(spelled: string | undefined): number | undefined {
  if (spelled === undefined) return undefined
  const [, count, unit = ''] = /^(\d+)(s|m|h|d)$/.exec(spelled) ?? []
  const ms = Number(count) * (units[unit] ?? Number.NaN)
  if (Number.isInteger(ms) && ms >= limits.deadlineMinMs && ms <= limits.deadlineMaxMs) return ms
  throw new Fault('bad_input', `--deadline must be like 90s, 15m, 1h or 2d, and at most 366d; not "${spelled}"`)
}

function exitCodeFor(settled: HandedAnswer): number {
  if (settled.kind === 'nobody') return exitCodes.nobody
  const yes = settled.kind === 'answer' && (settled.answer.kind === 'allow' || settled.answer.kind === 'answers')
  return yes ? exitCodes.yes : exitCodes.no
}

function printAnswer(settled: HandedAnswer): number {
  const answer = settled.kind === 'answer' ? settled.answer : null
  if (answer?.kind === 'answers') {
    const { chosen = [], other } = answer.answers[0] ?? {}
    const said = [...chosen, ...(other === undefined ? [] : [other])].join('\n')
    out.printAnswer(
      said,
      said.split('\n').map(line => row(untrusted(line))),
    )
    return exitCodes.yes
  }
  if (answer?.kind === 'allow') {
    out.print(row(trusted('allow')))
    if (answer.note !== undefined) err.print(row(trusted('Note: ', 'quiet'), untrustedLine(answer.note)))
    return exitCodes.yes
  }
  if (answer) out.print(row(trusted(answer.kind)))
  return reportRefusal(settled)
}
