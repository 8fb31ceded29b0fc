/** What the CLI offers to remember with a permission, as choices with a scope; and the choice back as the CLI wrote it. */
import type { PermissionUpdate, PermissionUpdateDestination } from '@anthropic-ai/claude-agent-sdk'
import { type ApprovalAsk, limits } from '@holdpoint/protocol'
import type { PermissionContext } from './permission.ts'

type Suggestion = NonNullable<ApprovalAsk['suggestions']>[number]

const lasting: Readonly<Record<PermissionUpdateDestination, string>> = {
  session: 'for this session',
  cliArg: 'for this session',
  localSettings: 'in this folder, for you',
  projectSettings: 'in this folder, for everyone',
  userSettings: 'everywhere, for you',
}

/** Each offer as the CLI made it; what would be kept is also offered for this session only. */
export function suggestionsOf({ suggestions, suppressAlwaysAllowRule }: PermissionContext): Suggestion[] {
  if (suppressAlwaysAllowRule) return []
  return (suggestions ?? [])
    .flatMap((update, index) => {
      const scopes = new Set<PermissionUpdateDestination>([update.destination, 'session'])
      return [...scopes].map(scope => ({
        id: `${index}:${scope}`,
        label: `${describe(update)} ${lasting[scope]}`.slice(0, limits.labelMax),
        scope,
      }))
    })
    .slice(0, limits.suggestionsMax)
}

/** The update that a choice stands for, with the scope that was chosen. */
export function updateForSuggestion(updates: readonly PermissionUpdate[], id: string): PermissionUpdate[] {
  const [index, scope] = id.split(':')
  const update = updates[Number(index)]
  return update ? [{ ...update, destination: scope as PermissionUpdateDestination }] : [] // spelled above
}

/** Whether the calls that it was offered for are not to be asked for any more: a rule that allows them. A mode can be left again, and a folder is only a place. */
export function allowsPermanently(updates: readonly PermissionUpdate[]): boolean {
  return updates.some(update => update.type === 'addRules' && update.behavior === 'allow')
}

function describe(update: PermissionUpdate): string {
  switch (update.type) {
    case 'addRules':
    case 'replaceRules':
    case 'removeRules': {
      const verb = update.type === 'removeRules' ? `No longer ${update.behavior}` : capital(update.behavior)
      const rules = update.rules.map(rule =>
        rule.ruleContent ? `${rule.toolName}(${rule.ruleContent})` : rule.toolName,
      )
      return `${verb} ${rules.join(', ')}`
    }
    case 'setMode':
      return `Go on in mode ${update.mode}`
    case 'addDirectories':
      return `Allow the folder ${update.directories.join(', ')}`
    case 'removeDirectories':
      return `No longer allow the folder ${update.directories.join(', ')}`
  }
}
function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
