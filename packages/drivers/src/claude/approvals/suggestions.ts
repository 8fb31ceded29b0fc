/** Converts the CLI's permission suggestions ("always allow …") to choices with a scope, and the chosen suggestion back to a permission update of the CLI. */
import type { PermissionUpdate, PermissionUpdateDestination } from '@anthropic-ai/claude-agent-sdk'
import { type ApprovalAsk, limits } from '@holdpoint/protocol'
import type { PermissionContext } from './permission.ts'

type Suggestion = NonNullable<ApprovalAsk['suggestions']>[number]

const scopeLabels: Readonly<Record<PermissionUpdateDestination, string>> = {
  session: 'for this session',
  cliArg: 'for this session',
  localSettings: 'in this folder, for you',
  projectSettings: 'in this folder, for everyone',
  userSettings: 'everywhere, for you',
}

/** Offers each suggestion with the scope that the CLI proposes and, as a second choice, for this session only. */
export function suggestionsOf({ suggestions, suppressAlwaysAllowRule }: PermissionContext): Suggestion[] {
  if (suppressAlwaysAllowRule) return []
  return (suggestions ?? [])
    .flatMap((update, index) => {
      const scopes = new Set<PermissionUpdateDestination>([update.destination, 'session'])
      return [...scopes].map(scope => ({
        id: `${index}:${scope}`,
        label: `${describeUpdate(update)} ${scopeLabels[scope]}`.slice(0, limits.labelMax),
        scope,
        ...(update.type === 'setMode' ? { mode: update.mode } : {}),
      }))
    })
    .slice(0, limits.suggestionsMax)
}

/** Returns the CLI's permission update for the chosen suggestion, with the chosen scope. */
export function updateForSuggestion(updates: readonly PermissionUpdate[], id: string): PermissionUpdate[] {
  const [index, scope] = id.split(':')
  const update = updates[Number(index)]
  return update ? [{ ...update, destination: scope as PermissionUpdateDestination }] : [] // `suggestionsOf` put the scope into the id
}

/** Returns whether the updates contain a rule that allows the call from now on. A change of mode or an added folder does not count, because neither allows the call permanently. */
export function allowsPermanently(updates: readonly PermissionUpdate[]): boolean {
  return updates.some(update => update.type === 'addRules' && update.behavior === 'allow')
}

function describeUpdate(update: PermissionUpdate): string {
  switch (update.type) {
    case 'addRules':
    case 'replaceRules':
    case 'removeRules': {
      const verb = update.type === 'removeRules' ? `No longer ${update.behavior}` : capitalize(update.behavior)
      const rules = update.rules.map(rule =>
        rule.ruleContent ? `${rule.toolName}(${rule.ruleContent})` : rule.toolName,
      )
      return `${verb} ${rules.join(', ')}`
    }
    case 'setMode':
      return `Continue in mode ${update.mode}`
    case 'addDirectories':
      return `Allow access to the folder ${update.directories.join(', ')}`
    case 'removeDirectories':
      return `No longer allow access to the folder ${update.directories.join(', ')}`
  }
}
function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
