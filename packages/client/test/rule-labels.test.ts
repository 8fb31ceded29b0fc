import { type Rule, RuleDraft, type RulePreview } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { riskLabel, shortRiskLabel } from '../src/risk-labels.ts'
import { previewLabel, ruleExplanation, ruleLabel, ruleLimitsLabel } from '../src/rule-labels.ts'

describe('labels of risk and rules', () => {
  it('the label of a risk names its level and everything that the call touches', () => {
    expect(riskLabel({ level: 'dangerous', touches: ['deletes', 'network'] })).toBe(
      'Dangerous: deletes files, uses the network',
    )
    expect(riskLabel({ level: 'low', touches: [] })).toBe('Low risk')
    expect(riskLabel({ level: 'notable', touches: [] })).toBe('Notable: not proven to be harmless')
  })
  it('the short label of a notable risk says what the action touches, and other short labels name the level', () => {
    expect(shortRiskLabel({ level: 'notable', touches: ['project-code', 'network'] })).toBe(
      'runs project code, uses the network',
    )
    expect(shortRiskLabel({ level: 'notable', touches: [] })).toBe('not proven to be harmless')
    expect(shortRiskLabel({ level: 'dangerous', touches: ['deletes'] })).toBe('Dangerous')
    expect(shortRiskLabel({ level: 'low', touches: [] })).toBe('Low risk')
  })
  it('the explanation of a rule never repeats text of an agent', () => {
    const targets = [
      { command: 'marker' },
      { command: 'marker', args: 'grammar' },
      { group: 'only-reads' },
      { action: 'write', path: '/marker' },
      { action: 'read', path: '/marker/**' },
      { host: 'marker' },
      { mcp: { server: 'marker', tool: 'marker' } },
    ]
    const sentences = targets.map(target => ruleExplanation(RuleDraft.parse({ effect: 'allow', ...target })))
    expect(sentences.join()).not.toContain('marker')
    expect(new Set(sentences).size).toBe(targets.length)
  })
  it('a preview says how many requests the rule would have matched, since when, and how the reader and other people answered them', () => {
    const now = new Date(2026, 4, 15, 12).getTime()
    const since = new Date(2026, 4, 11, 12).getTime()
    const none = { matched: 0, allowed: 0, denied: 0, allowedByYou: 0, deniedByYou: 0 }
    const label = (change: Partial<RulePreview>) =>
      previewLabel({ ...none, since, complete: true, examples: [], pending: [], pendingComplete: true, ...change }, now)
    const twelve = 'It would have matched 12 requests since Monday:'
    expect(label({ matched: 12, allowed: 12, allowedByYou: 12 })).toBe(`${twelve} all allowed by you.`)
    expect(label({ matched: 12, allowed: 12 })).toBe(`${twelve} all allowed by others.`)
    expect(label({ matched: 12, allowed: 12, allowedByYou: 9 })).toBe(`${twelve} all allowed (9 by you, 3 by others).`)
    expect(label({ matched: 12, allowed: 8, allowedByYou: 8, denied: 3, deniedByYou: 1 })).toBe(
      `${twelve} 8 allowed by you, 3 denied (1 by you, 2 by others), 1 with another outcome.`,
    )
    expect(label({ matched: 1, denied: 1, deniedByYou: 1, complete: false })).toBe(
      'It would have matched 1 request among the latest 1,000: denied by you.',
    )
    expect(label({ since: now })).toBe('It would have matched no request today.')
    expect(label({ since: null })).toBe('There are no earlier requests to compare it with.')
  })
  it('the label of a rule from a file says that an allow rule of an untrusted file has no effect, or that the file has a mistake', () => {
    const source = { file: '/srv/holdpoint.rules.json', trusted: false, project: true, runner: 'run_1' }
    const limits = (effect: string, more = {}) =>
      ruleLimitsLabel({ effect, source: { ...source, ...more } } as unknown as Rule, 0) // the label uses no other fields
    expect(limits('allow')).toBe('no effect, because its file is not trusted')
    expect(limits('allow', { trusted: true })).toBe('')
    expect(limits('deny')).toBe('')
    expect(limits('ask', { problem: 'line 1, column 2' })).toBe('until the mistake in its file is corrected')
  })
  it('the label of a rule escapes text that an agent chose', () => {
    expect(ruleLabel(RuleDraft.parse({ effect: 'deny', command: 'rm\u200b -rf' }))).toBe('Deny rm\\u{200b} -rf')
  })
})
