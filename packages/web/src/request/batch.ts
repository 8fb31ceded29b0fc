/** Which requests may be answered together with others: those whose whole content one sees at a glance. */
import { canonicalJson, type Request } from '@holdpoint/protocol'

/** About as much as a card shows without a window that scrolls, on a phone too. */
const charsMax = 600
const linesMax = 12

export function batchable({ ask, status }: Request): boolean {
  if (status !== 'pending' || ask.kind !== 'approval') return false
  if (ask.plan !== undefined || ask.caution?.defaultToNo) return false
  const input = canonicalJson(ask.input)
  return input.length <= charsMax && input.split('\\n').length <= linesMax
}
