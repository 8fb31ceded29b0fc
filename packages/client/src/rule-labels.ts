/** Labels that page and terminal share, for rules and for the risk of a request. All returned texts are escaped for display. */
import type { Risk, RiskLevel, Rule, RuleDraft, Touch } from '@holdpoint/protocol'
import { exactText, labelText } from './display-text.ts'

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
  unreadable: 'cannot be read completely',
}

/** Returns what an action touches, such as “deletes files, uses the network”; an empty text if it touches nothing. */
export function touchesLabel({ touches }: Risk): string {
  return touches.map(touch => touchLabels[touch]).join(', ')
}

const effectLabels = { allow: 'Allow', ask: 'Always ask about', deny: 'Deny' } as const

/** Returns what a rule says, such as “Allow npm test”. The folder and the limits are separate labels. */
export function ruleLabel(rule: RuleDraft): string {
  return `${effectLabels[rule.effect]} ${targetLabel(rule)}`
}

function targetLabel({ command, args, group, path, host, mcp, action, tool }: RuleDraft): string {
  if (command !== undefined) return `${exactText(command)}${args === 'grammar' ? ' with harmless arguments' : ''}`
  if (group !== undefined)
    return group === 'only-reads' ? 'commands that only read' : 'commands that test, check or build the project'
  if (path !== undefined)
    return `${action === 'write' ? 'writing' : action === 'read' ? 'reading' : 'access to'} ${exactText(path)}`
  if (host !== undefined) return `fetching from ${exactText(host)}`
  if (mcp !== undefined)
    return `${mcp.tool === undefined ? 'every tool' : labelText(mcp.tool)} of MCP server ${labelText(mcp.server)}`
  if (action !== undefined) return `every action of the kind ${action}`
  return tool === undefined ? 'every call' : `every use of ${labelText(tool)}`
}

/** Returns where a rule applies, such as “in /srv/app”. */
export function ruleScopeLabel({ scope }: RuleDraft): string {
  const parts = [
    ...(scope?.cwd === undefined ? [] : [`in ${exactText(scope.cwd)}`]),
    ...(scope?.session === undefined ? [] : [`in session ${scope.session}`]),
    ...(scope?.driver === undefined ? [] : [`for ${labelText(scope.driver)}`]),
    ...(scope?.agentPath?.length ? [`for subagent ${labelText(scope.agentPath.join(' › '))}`] : []),
  ]
  return parts.length === 0 ? 'everywhere' : parts.join(', ')
}

/** Returns what limits a rule now, such as “paused” or “2 uses left”; an empty text if nothing does. */
export function ruleLimitsLabel(rule: Rule, now: number): string {
  const { paused, expiresAt, usesLeft, until, source } = rule
  const minutes = expiresAt === undefined ? 0 : Math.ceil((expiresAt - now) / 60_000)
  return [
    ...(paused ? ['paused'] : []),
    ...(source && !source.trusted ? ['file not trusted'] : []),
    ...(expiresAt === undefined ? [] : [expiresAt <= now ? 'expired' : `expires in ${durationLabel(minutes)}`]),
    ...(usesLeft === undefined
      ? []
      : [usesLeft === 0 ? 'used up' : `${usesLeft} ${usesLeft === 1 ? 'use' : 'uses'} left`]),
    ...(until === undefined ? [] : [`until the ${until} ends`]),
  ].join(', ')
}

function durationLabel(minutes: number): string {
  if (minutes < 120) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 1440)} days`
}
