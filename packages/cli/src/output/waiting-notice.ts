/** Tells a person what a command is waiting for if it takes long, so that nobody takes a slow command for a stuck one. */
import type { Call, CallOptions, OperationName } from '@holdpoint/protocol'
import { printNotice } from './notice.ts'
import { waitingTexts } from './texts.ts'

/** A person expects a sign of progress after a second. In a script, only a long wait is worth a line in its log. */
const noticeAfterMs = { terminal: 1000, script: 5000 } as const

/** Prints one line on stderr if `work` takes long. */
export async function withNotice<T>(what: keyof typeof waitingTexts, work: Promise<T>): Promise<T> {
  const ms = process.stderr.isTTY ? noticeAfterMs.terminal : noticeAfterMs.script
  const timer = setTimeout(() => printNotice(waitingTexts[what]), ms)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}

/** Returns a function that makes the same calls, and prints a line if the gateway takes long to reply. Prints nothing for calls that wait for a person. */
export function callWithNotice(call: Call): Call {
  const noticing = (op: OperationName, input: object, options?: CallOptions) => {
    const answer = call(op, input as never, options) // the caller passes an operation with its input
    return 'wait' in input ? answer : withNotice('gateway', answer)
  }
  return noticing as Call // returns what `call` returns
}
