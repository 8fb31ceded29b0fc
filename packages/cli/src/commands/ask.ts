/** `holdpoint ask`: asks people a question from a script. Prints the answer on stdout and returns an exit code for yes, no or no answer. */
import type { HandedAnswer } from '@holdpoint/drivers'
import { type Ask, Fault, limits, truncateTitle } from '@holdpoint/protocol'
import type { GatewayAddress } from '../gateway-client/gateway-client.ts'
import { err, out } from '../output/output.ts'
import { row, trusted, untrusted, untrustedLine } from '../output/span.ts'
import { askAndWait, askExitCodes, reportRefusal, reportTaken } from './ask-and-wait.ts'
import { parseDuration } from './durations.ts'
import { scriptTexts } from './texts.ts'

export interface AskOptions extends GatewayAddress {
  readonly choice?: readonly string[]
  readonly text?: boolean
  readonly deadline?: string
  readonly as: string
  readonly json?: boolean
}

export async function ask(
  question: string,
  { choice = [], text, deadline, as, json, ...address }: AskOptions,
): Promise<number> {
  const built = buildAsk(question, choice, text === true)
  return askAndWait({ address, as, ask: built, deadlineMs: parseDeadline(deadline) }, async handed => {
    const code = json ? exitCodeFor(handed) : printAnswer(handed)
    if (json) out.json(handed.request)
    await reportTaken(handed)
    return code
  })
}

/** Builds an approval, which people allow or deny, if there are neither choices nor --text; otherwise a question. */
function buildAsk(question: string, choices: readonly string[], text: boolean): Ask {
  if (question.trim() === '') throw new Fault('bad_input', scriptTexts.emptyQuestion)
  if (choices.length === 0 && !text) {
    return {
      kind: 'approval',
      tool: 'confirm',
      input: { prompt: question },
      title: truncateTitle(question),
      cwd: process.cwd(),
      editable: false,
    }
  }
  if (new Set(choices).size < choices.length) throw new Fault('bad_input', scriptTexts.choiceTwice)
  const options = choices.map(label => ({ label }))
  const only = { id: 'answer', header: '', question, options, multiSelect: false, allowOther: text, secret: false }
  return { kind: 'questions', questions: [only] }
}

export function parseDeadline(typed: string | undefined): number | undefined {
  if (typed === undefined) return undefined
  const ms = parseDuration(typed)
  if (ms !== null && ms >= limits.deadlineMinMs && ms <= limits.deadlineMaxMs) return ms
  throw new Fault('bad_input', scriptTexts.badDeadline(typed))
}

function exitCodeFor(handed: HandedAnswer): number {
  if (handed.kind === 'nobody') return askExitCodes.nobody
  const isYes = handed.kind === 'answer' && (handed.answer.kind === 'allow' || handed.answer.kind === 'answers')
  return isYes ? askExitCodes.yes : askExitCodes.no
}

function printAnswer(handed: HandedAnswer): number {
  const answer = handed.kind === 'answer' ? handed.answer : null
  if (answer?.kind === 'answers') {
    const { chosen = [], other } = answer.answers[0] ?? {}
    const text = [...chosen, ...(other === undefined ? [] : [other])].join('\n')
    out.printAnswer(
      text,
      text.split('\n').map(line => row(untrusted(line))),
    )
    return askExitCodes.yes
  }
  if (answer?.kind === 'allow') {
    out.print(row(trusted('allow')))
    if (answer.note !== undefined) err.print(row(trusted(scriptTexts.note, 'quiet'), untrustedLine(answer.note)))
    return askExitCodes.yes
  }
  if (answer) out.print(row(trusted(answer.kind)))
  return reportRefusal(handed)
}
