import { type Rule, RuleDraft, type RulePreview } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { riskLabel } from '../src/risk-labels.ts'
import { previewLabel, ruleExplanation, ruleLabel, ruleLimitsLabel } from '../src/rule-labels.ts'

describe('labels of risk and rules', () => {
  it('a risk names its level and everything that it touches', () => {
    expect(riskLabel({ level: 'dangerous', touches: ['deletes', 'network'] })).toBe(
      'Dangerous: deletes files, uses the network',
    )
    expect(riskLabel({ level: 'low', touches: [] })).toBe('Low risk')
    expect(riskLabel({ level: 'notable', touches: [] })).toBe('Notable: not proven to be harmless')
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
  it('a preview says how many requests the rule would have matched, since when, and what people answered', () => {
    const now = new Date(2026, 4, 15, 12).getTime()
    const monday = new Date(2026, 4, 11, 12).getTime()
    const preview = { matched: 12, allowed: 12, denied: 0, since: monday, complete: true, examples: [], pending: [] }
    const label = (change: Partial<RulePreview>) => previewLabel({ ...preview, ...change }, now)
    expect(label({})).toBe('It would have matched 12 requests since Monday: all allowed by people.')
    expect(label({ allowed: 9, denied: 1 })).toBe(
      'It would have matched 12 requests since Monday: 9 allowed by people, 1 denied by people, 2 that no person answered.',
    )
    expect(label({ matched: 0, allowed: 0, since: now })).toBe('It would have matched no request since today.')
    expect(label({ matched: 1, allowed: 1, complete: false })).toBe(
      'It would have matched 1 request among the latest 1,000: all allowed by people.',
    )
    expect(label({ matched: 0, since: null })).toBe('There are no earlier requests to compare it with.')
  })
  it('a rule from a file says that it has no effect if it allows and the file is not trusted, or that the file has a mistake', () => {
    const source = { file: '/srv/holdpoint.rules.json', trusted: false, project: true, runner: 'run_1' }
    const limits = (effect: string, more = {}) =>
      ruleLimitsLabel({ effect, source: { ...source, ...more } } as unknown as Rule, 0) // the label uses no other fields
    expect(limits('allow')).toBe('no effect, because its file is not trusted')
    expect(limits('allow', { trusted: true })).toBe('')
    expect(limits('deny')).toBe('')
    expect(limits('ask', { problem: 'line 1, column 2' })).toBe('until the mistake in its file is corrected')
  })
  it('the label of a rule escapes what an agent chose', () => {
    expect(ruleLabel(RuleDraft.parse({ effect: 'deny', command: 'rm\u200b -rf' }))).toBe('Deny rm\\u{200b} -rf')
  })
})
