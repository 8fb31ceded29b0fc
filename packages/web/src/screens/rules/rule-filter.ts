/** Filters the rules and sorts them into the sections of the screen. */
import { isBuiltIn, ruleLabel, ruleScopeLabel } from '@holdpoint/client'
import type { Rule } from '@holdpoint/protocol'
import type { effectChoices } from './texts.ts'

export interface RuleFilter {
  readonly effect: (typeof effectChoices)[number]['value']
  readonly q: string
}
export const noRuleFilter: RuleFilter = { effect: 'all', q: '' }

export interface RuleSections {
  /** Rules that people added, newest first. */
  readonly own: readonly Rule[]
  readonly files: readonly Rule[]
  readonly builtIn: readonly Rule[]
}

export function matchingRules(rules: readonly Rule[], { effect, q }: RuleFilter): RuleSections {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  const found = rules.filter(
    rule => (effect === 'all' || rule.effect === effect) && words.every(word => searchText(rule).includes(word)),
  )
  const added = found.filter(rule => !isBuiltIn(rule) && rule.source === undefined)
  return {
    own: added.sort((a, b) => b.madeAt - a.madeAt || (a.id < b.id ? 1 : -1)),
    files: found.filter(({ source }) => source !== undefined),
    builtIn: found.filter(isBuiltIn),
  }
}

function searchText(rule: Rule): string {
  const { note, message, madeBy, source, id } = rule
  const texts = [ruleLabel(rule), ruleScopeLabel(rule), note, message, madeBy, source?.file, id]
  return texts.join(' ').toLowerCase()
}

/** Returns whether people can change the rule here. */
export function isEditable(rule: Rule): boolean {
  return !isBuiltIn(rule) && rule.source === undefined
}
