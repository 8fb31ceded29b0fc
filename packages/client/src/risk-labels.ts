/** Labels that page and terminal share, for the risk of a request. */
import type { Request, Risk, RiskLevel, Touch } from '@holdpoint/protocol'
import { knownAction } from './ask-view.ts'

export const riskLevelLabels: Readonly<Record<RiskLevel, string>> = {
  low: 'Low risk',
  notable: 'Notable',
  dangerous: 'Dangerous',
}

const touchLabels: Readonly<Record<Touch, string>> = {
  deletes: 'deletes files',
  'writes-outside': 'writes outside of its folder',
  network: 'uses the network',
  installs: 'installs packages',
  'project-code': 'runs project code',
  'rewrites-history': 'rewrites history',
  secrets: 'touches secrets',
  publishes: 'publishes or deploys',
  privileges: 'changes permissions or processes',
  settings: 'changes settings or scripts',
  unreadable: 'has unknown effects',
}

/** Returns what an action touches, such as “deletes files, uses the network”. A risk above low always has a text; a low one may have an empty text. */
export function touchesLabel({ level, touches }: Risk): string {
  if (touches.length === 0) return level === 'low' ? '' : 'not proven to be harmless'
  return touches.map(touch => touchLabels[touch]).join(', ')
}

/** Returns the words that stand beside the icon of a risk. Most risks are notable, so they say what the action touches: their level would not tell one from another. */
export function shortRiskLabel(risk: Risk): string {
  return risk.level === 'notable' ? touchesLabel(risk) : riskLevelLabels[risk.level]
}

/** Returns level and touches of a risk as one text, such as “Dangerous: deletes files, uses the network”. */
export function riskLabel(risk: Risk): string {
  const touches = touchesLabel(risk)
  return touches === '' ? riskLevelLabels[risk.level] : `${riskLevelLabels[risk.level]}: ${touches}`
}

/** Returns the risk to show. A plan runs nothing and its text says nothing that Holdpoint can check, so “has unknown effects” would stand beside every plan and warn of nothing. A call with a known action, or with any other risk, keeps its risk even if it comes with a plan. */
export function shownRisk({ ask, risk }: Pick<Request, 'ask' | 'risk'>): Risk | undefined {
  if (ask.kind !== 'approval' || ask.plan === undefined || knownAction(ask) !== null) return risk
  return risk?.level === 'notable' && risk.touches.every(touch => touch === 'unreadable') ? undefined : risk
}
