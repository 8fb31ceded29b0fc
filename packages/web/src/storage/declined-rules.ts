/** Remembers which rules the person does not want to be offered again. The list stays in this browser until the person signs out. */
import type { RuleDraft } from '@holdpoint/protocol'

const storageKey = 'holdpoint.declined-rules'
const declinedMax = 200

function keyOf({ command, scope }: RuleDraft): string {
  return JSON.stringify([command, scope?.cwd])
}

function readDeclined(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]')
    return Array.isArray(stored) ? stored.filter(key => typeof key === 'string') : []
  } catch {
    return [] // the browser blocks storage, or something else wrote the entry
  }
}

export function isRuleDeclined(rule: RuleDraft): boolean {
  return readDeclined().includes(keyOf(rule))
}

export function declineRule(rule: RuleDraft): void {
  try {
    const others = readDeclined().filter(key => key !== keyOf(rule))
    localStorage.setItem(storageKey, JSON.stringify([...others, keyOf(rule)].slice(-declinedMax)))
  } catch {
    // The browser blocks storage, so the rule may be offered again.
  }
}

export function clearDeclinedRules(): void {
  try {
    localStorage.removeItem(storageKey)
  } catch {
    // The browser blocks storage, so there is nothing to remove.
  }
}
