/** Tests how `holdpoint.rules.json` is parsed: in which folders its rules apply, and which mistakes are refused. */
import { describe, expect, it } from 'vitest'
import { parseRuleFile } from '../src/rule-file.ts'

const parse = (rules: unknown, folder: string | null = '/srv/app') =>
  parseRuleFile(JSON.stringify({ rules }), folder).rules
const problem = (rules: unknown, folder: string | null = '/srv/app'): string => {
  try {
    parse(rules, folder)
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return ''
}

describe('parseRuleFile', () => {
  it('parseRuleFile returns no rules for a file without any', () => {
    expect(parseRuleFile('{}', '/srv/app')).toEqual({ rules: [], vars: {}, watchers: [] })
    expect(parse([])).toEqual([])
  })
  it('parseRuleFile puts the rules of a project into the folder of the file, or into the subfolder that they name', () => {
    const command = { effect: 'deny', command: 'rm' }
    expect(parse([command, { ...command, scope: { cwd: 'web', driver: 'claude' } }])).toEqual([
      { ...command, scope: { cwd: '/srv/app' } },
      { ...command, scope: { cwd: '/srv/app/web', driver: 'claude' } },
    ])
    expect(parse([{ ...command, scope: { cwd: '/srv/app/web' } }])).toEqual([
      { ...command, scope: { cwd: '/srv/app/web' } },
    ])
  })
  it('parseRuleFile leaves the rules of a person as they are', () => {
    const rules = [
      { effect: 'deny', command: 'rm' },
      { effect: 'allow', command: 'make', scope: { cwd: '/srv' } },
      { effect: 'allow', action: 'read', path: '/etc/hosts' },
    ]
    expect(parse(rules, null)).toEqual(rules)
  })
  it.each([
    [{ effect: 'deny', command: 'rm', scope: { cwd: '..' } }],
    [{ effect: 'deny', command: 'rm', scope: { cwd: '/srv' } }],
    [{ effect: 'deny', command: 'rm', scope: { cwd: '/srv/apps' } }],
    [{ effect: 'allow', action: 'read', path: '/etc/hosts' }],
    [{ effect: 'allow', action: 'read', path: '../x/**' }],
    [{ effect: 'allow', action: 'read', path: '/**' }],
    [{ effect: 'allow', action: 'read', path: '../../other', scope: { cwd: 'web' } }],
  ])('parseRuleFile refuses the rule %j of a project, because the path leads out of the project', rule => {
    expect(problem([rule])).toMatch(
      /^line 1, column \d+: rules\[0\]: .* leads out of \/srv\/app\. Name a (?:folder|path) of the project, or move .* holdpoint\.rules\.json in/,
    )
  })
  it('parseRuleFile lets a project deny a path outside its folder, and allow a path inside it', () => {
    expect(problem([{ effect: 'deny', path: '/etc/**' }])).toBe('')
    expect(problem([{ effect: 'allow', action: 'write', path: 'docs/**' }])).toBe('')
    expect(problem([{ effect: 'allow', action: 'read', path: '../web', scope: { cwd: 'web' } }])).toBe('')
    expect(problem([{ effect: 'allow', action: 'read', path: '../app/**' }])).toBe('')
  })
  it('parseRuleFile takes “/**” as “everything in the folder” only at the end of a path', () => {
    expect(problem([{ effect: 'allow', action: 'read', path: 'docs/**/../../x' }])).toBe('')
    expect(problem([{ effect: 'allow', action: 'read', path: 'docs/**/../../../x' }])).toMatch(/leads out of/)
  })
  it.each([
    { until: 'session', scope: { session: 'ses_00000000000000000000' } },
    { scope: { session: 'ses_00000000000000000000' } },
    { usesLeft: 1 },
    { until: 'turn' },
  ])('parseRuleFile refuses a rule with %j, because rules in a file have no state', more => {
    expect(problem([{ effect: 'allow', command: 'make', ...more }])).toMatch(
      /^line 1, column \d+: rules\[0\]: A rule in a file cannot have/,
    )
  })
  it('parseRuleFile names the rule that cannot be used', () => {
    expect(problem([{ effect: 'deny' }, { effect: 'allow', tool: 'Bash' }])).toMatch(
      /^line 1, column \d+: rules\[1\]: .*too broad/,
    )
    expect(problem([{ effect: 'deny', scope: { cwd: 'relative' } }], null)).toMatch(
      /^line 1, column \d+: rules\[0\]: scope\.cwd must be/,
    )
    expect(() => parse([{ effect: 'allow', tool: 'Bash' }])).toThrow(expect.objectContaining({ code: 'bad_input' }))
  })
})
