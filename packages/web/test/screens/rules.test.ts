import { Rule, RuleDraft } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { matchingRules, noRuleFilter } from '../../src/screens/rules/rule-filter.ts'
import { draftOf, emptyForm, formOf, isOffered, needsFolder, targetKinds } from '../../src/screens/rules/rule-form.ts'

const session = 'ses_00000000000000000001'
const id = (n: number) => `rul_${String(n).padStart(20, '0')}`
const rule = (draft: object, more: object = {}) =>
  Rule.parse({ effect: 'allow', ...draft, id: id(1), madeBy: 'ada', madeAt: 5, version: 2, ...more })

describe('the form for a rule', () => {
  const drafts: readonly object[] = [
    { command: 'npm test', scope: { cwd: '/src' } },
    { command: 'git log', args: 'grammar', scope: { cwd: '/src', session, driver: 'claude', agentPath: ['a'] } },
    { group: 'project-code', scope: { cwd: '/src' }, note: 'why' },
    { action: 'write', path: '/src/**', expiresAt: 99 },
    { effect: 'ask', path: '/etc/**' },
    { effect: 'deny', tool: 'Bash', command: 'git push', message: 'No.' },
    { host: 'example.com', usesLeft: 3 },
    { mcp: { server: 's', tool: 't' }, scope: { session }, until: 'session' },
    { effect: 'deny', action: 'fetch' },
    { effect: 'ask', tool: 'WebFetch', paused: true },
  ]
  it.each(drafts)('the form for a rule keeps the rule %j if it is saved unchanged', draft => {
    const stored = rule(draft)
    expect(draftOf(formOf(stored), stored, 1000)).toEqual(RuleDraft.parse({ effect: 'allow', ...draft }))
  })
  it('the form for a rule can change and remove the driver and the subagent', () => {
    const stored = rule({ command: 'ls', scope: { cwd: '/src', driver: 'claude', agentPath: ['planner', 'tester'] } })
    const form = formOf(stored)
    expect(form).toMatchObject({ driver: 'claude', subagent: 'planner\ntester' })
    expect(draftOf({ ...form, driver: '', subagent: '' }, stored, 0)?.scope).toEqual({ cwd: '/src' })
    expect(draftOf({ ...form, driver: 'other', subagent: ' reviewer \n\n' }, stored, 0)?.scope).toEqual({
      cwd: '/src',
      driver: 'other',
      agentPath: ['reviewer'],
    })
    // A name may have a line break, although nobody can type it here.
    const strange = rule({ command: 'ls', scope: { agentPath: ['a\nb'] } })
    expect(draftOf(formOf(strange), strange, 0)?.scope).toEqual({ agentPath: ['a\nb'] })
  })
  it('the form for a rule returns no rule if it is incomplete or the number of uses is invalid', () => {
    expect(draftOf(emptyForm, null, 0)).toBeNull()
    expect(draftOf({ ...emptyForm, command: 'ls', uses: '0' }, null, 0)).toBeNull()
    expect(draftOf({ ...emptyForm, command: 'ls', uses: '' }, null, 0)).toEqual({ effect: 'allow', command: 'ls' })
  })
  it('the form for a rule counts the duration from the time at which the rule is saved', () => {
    const form = { ...emptyForm, command: 'ls', folder: ' /src ', duration: 'hour' } as const
    expect(draftOf(form, null, 5)).toEqual({
      effect: 'allow',
      command: 'ls',
      scope: { cwd: '/src' },
      expiresAt: 3_600_005,
    })
  })
  it('the form for a rule leaves out fields that do not apply to the effect', () => {
    const form = { ...emptyForm, command: 'ls', harmlessArguments: true, uses: '3', message: 'No.' }
    expect(draftOf({ ...form, effect: 'ask' }, null, 0)).toEqual({ effect: 'ask', command: 'ls' })
    expect(draftOf({ ...form, effect: 'deny' }, null, 0)).toEqual({ effect: 'deny', command: 'ls', message: 'No.' })
  })
  it('the form for a rule offers groups only for allow rules, and the ends “turn” and “session” only if the rule is for a session', () => {
    expect(targetKinds('deny', null)).not.toContain('group')
    expect(targetKinds('allow', null)).toContain('group')
    expect(isOffered('turn', emptyForm)).toBe(false)
    expect(
      isOffered('turn', { ...emptyForm, session: rule({ command: 'x', scope: { session } }).scope?.session ?? null }),
    ).toBe(true)
    expect([needsFolder(emptyForm), needsFolder({ ...emptyForm, effect: 'deny' })]).toEqual([true, false])
  })
})

describe('the list of rules', () => {
  const builtIn = rule({ effect: 'deny' }, { id: id(9), madeAt: 0, note: 'Built-in: data' })
  const old = rule({ command: 'npm test', scope: { cwd: '/src/api' } }, { madeAt: 1 })
  const young = rule({ effect: 'deny', command: 'git push', note: 'agreed' }, { id: id(2), madeAt: 2 })
  const source = { file: '/src/holdpoint.rules.json', trusted: true, project: true, runner: `run_${'0'.repeat(20)}` }
  const fromFile = rule({ command: 'make' }, { id: id(3), source })
  const all = [builtIn, old, young, fromFile]
  it('the list of rules has sections for rules that people added, newest first, for rules from files, and for built-in rules', () => {
    expect(matchingRules(all, noRuleFilter)).toEqual({ own: [young, old], files: [fromFile], builtIn: [builtIn] })
  })
  it('the list of rules finds rules by effect and by words of their command, folder, note and file', () => {
    expect(matchingRules(all, { effect: 'deny', q: '' }).own).toEqual([young])
    expect(matchingRules(all, { effect: 'all', q: 'API npm' }).own).toEqual([old])
    expect(matchingRules(all, { effect: 'all', q: 'agreed' }).own).toEqual([young])
    expect(matchingRules(all, { effect: 'all', q: 'rules.json' })).toMatchObject({ own: [], files: [fromFile] })
  })
})
