/** The order in which the inbox lists pending requests on the page and in the terminal, and which requests need more than one key press. */
import type { Request, Risk, RiskLevel } from '@holdpoint/protocol'

const riskOrder: Readonly<Record<RiskLevel, number>> = { dangerous: 0, notable: 1, low: 2 }

type Urgency = Pick<Request, 'id' | 'deadlineAt' | 'risk' | 'openedAt'>

/** Compares two pending requests: the nearest deadline first, then the highest risk, then the oldest. */
export function compareUrgency(a: Urgency, b: Urgency): number {
  return (
    compareDeadlines(a.deadlineAt, b.deadlineAt) ||
    riskRank(a) - riskRank(b) ||
    a.openedAt - b.openedAt ||
    (a.id < b.id ? -1 : 1)
  )
}

function compareDeadlines(a: number | null, b: number | null): number {
  if (a === b) return 0
  return (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY)
}

/** Questions and forms have no risk. They rank as notable, so that harmless commands do not hide them. */
function riskRank({ risk }: Urgency): number {
  return riskOrder[risk?.level ?? 'notable']
}

/** Returns whether a request must not be allowed with a single key press or in a batch: Holdpoint derives that it is dangerous, or the agent's program says so. */
export function isDangerous({ ask, risk }: Pick<Request, 'ask' | 'risk'>): boolean {
  return risk?.level === 'dangerous' || (ask.kind === 'approval' && ask.caution?.defaultToNo === true)
}

/** The risk of an input whose risk could not be determined. People confirm it like a dangerous one. */
export const unknownRisk: Risk = { level: 'dangerous', touches: ['unreadable'] }
