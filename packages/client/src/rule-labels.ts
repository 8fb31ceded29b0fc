/** Labels that page and terminal share, for rules. All returned texts are escaped for display. */
import { type CommandGroup, limits, type Rule, type RuleDraft, type RulePreview } from '@holdpoint/protocol'
import { exactText, labelText } from './display-text.ts'

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

/** Returns whether every gateway has this rule and nobody can change it. */
export function isBuiltIn({ madeAt, source }: Pick<Rule, 'madeAt' | 'source'>): boolean {
  return madeAt === 0 && source === undefined
}

/** Explains in one sentence how much an allow rule covers. The sentence contains nothing that an agent chose. */
export function ruleExplanation({ command, args, group, path, host, mcp, action }: RuleDraft): string {
  if (command !== undefined)
    return args === 'grammar'
      ? 'This command, with any arguments that Holdpoint knows to be harmless.'
      : 'Only this command, with exactly these arguments.'
  if (group !== undefined) return groupExplanations[group]
  if (path !== undefined)
    return path.endsWith('/**')
      ? `${action === 'write' ? 'Change' : 'Read'} every file in this folder and below, except settings and secrets.`
      : `${action === 'write' ? 'Change' : 'Read'} exactly this file, whatever its content.`
  if (host !== undefined) return 'Fetch anything from exactly this host.'
  return mcp === undefined ? 'Every call that the rule matches.' : 'Use this tool with any input.'
}
const groupExplanations: Readonly<Record<CommandGroup, string>> = {
  'only-reads': 'Every command that only reads files in the folder.',
  'project-code': 'Every command that tests, checks or builds the project.',
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
  const { effect, paused, expiresAt, usesLeft, until, source } = rule
  const minutes = expiresAt === undefined ? 0 : Math.ceil((expiresAt - now) / 60_000)
  return [
    ...(paused ? ['paused'] : []),
    ...(source?.problem === undefined ? [] : ['until the mistake in its file is corrected']),
    // Rules that deny or ask apply although nobody has trusted their file.
    ...(source && !source.trusted && effect === 'allow' ? ['no effect, because its file is not trusted'] : []),
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

/** Returns what a rule would have matched, such as “It would have matched 12 requests since Monday: 11 allowed by you, 1 denied by others.” */
export function previewLabel(preview: RulePreview, now: number): string {
  const { matched, allowed, denied, allowedByYou, deniedByYou, since, complete } = preview
  if (since === null) return 'There are no earlier requests to compare it with.'
  const span = complete ? sinceLabel(since, now) : `among the latest ${limits.previewRequestsMax.toLocaleString('en')}`
  if (matched === 0) return `It would have matched no request ${span}.`
  const others = matched - allowed - denied
  const answers = [
    ...(allowed > 0 ? [answersLabel('allowed', allowed, allowedByYou, matched)] : []),
    ...(denied > 0 ? [answersLabel('denied', denied, deniedByYou, matched)] : []),
    ...(others > 0 ? [matched === 1 ? 'with another outcome' : `${others} with another outcome`] : []),
  ]
  return `It would have matched ${matched} ${matched === 1 ? 'request' : 'requests'} ${span}: ${answers.join(', ')}.`
}

function answersLabel(verb: string, count: number, byYou: number, matched: number): string {
  const how = matched === 1 ? verb : `${count === matched ? 'all' : count} ${verb}`
  if (byYou === count) return `${how} by you`
  return byYou === 0 ? `${how} by others` : `${how} (${byYou} by you, ${count - byYou} by others)`
}

const dayMs = 24 * 3600_000

function sinceLabel(at: number, now: number): string {
  if (new Date(at).toDateString() === new Date(now).toDateString()) return 'today'
  return now - at < 6 * dayMs
    ? `since ${new Date(at).toLocaleDateString('en', { weekday: 'long' })}`
    : `since ${new Date(at).toLocaleDateString('en', { day: 'numeric', month: 'long', year: 'numeric' })}`
}
