/** Attacks on rules that need no gateway: very long commands, texts that cannot be parsed, hosts in other spellings, and commands whose effect depends on the project. */
import { posix } from 'node:path'
import { hostOf, type RuleDraft, type ToolCall } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCommand, proposeRules, RuleSet } from '../src/index.ts'
import { bash, contextAt, srvRule } from './support/rule-context.ts'

// Every path exists and is not a link.
const files = { realPath: posix.normalize, readText: () => null, list: () => [] }
const context = contextAt({ folder: '/srv', cwd: '/srv', home: '/home/ada', files })
const verdict = (drafts: readonly Partial<RuleDraft>[], call: ToolCall) =>
  new RuleSet(drafts.map(draft => srvRule(draft))).evaluate(call, context).verdict

describe('P1: a command of very many parts', () => {
  const allowLs = { command: 'ls' }
  const denyRemoval: Partial<RuleDraft> = { effect: 'deny', command: 'rm -rf' }
  it.each([51, 501, 100_000])('P1: a command of %i parts is not allowed because of its first parts', count => {
    for (const operator of [' && ', '; ', ' | ']) {
      const parts = Array.from({ length: count }, () => 'ls')
      expect(verdict([allowLs], bash([...parts, 'touch PWNED'].join(operator)))).toBe('ask')
      expect(verdict([allowLs], bash(['touch PWNED', ...parts].join(operator)))).toBe('ask')
    }
  })
  it.each([51, 501, 100_000])('P1: a command of %i parts is denied because of its last part', count => {
    const parts = Array.from({ length: count }, () => 'ls')
    expect(verdict([allowLs, denyRemoval], bash([...parts, 'rm -rf x'].join('; ')))).toBe('deny')
  })
})

describe('P3: a command that cannot be parsed', () => {
  const piece = fc.constantFrom(
    'ls',
    ' ',
    '\n',
    '(',
    ')',
    '{',
    '}',
    '$(',
    '`',
    '"',
    "'",
    '\\',
    '|',
    '&',
    ';',
    '<',
    '>',
    '<<x',
    'if',
    'case',
    'esac',
    '\0',
    '\ud800',
  )
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 12 }).map(parts => parts.join('')),
  )
  it('P3: a command that cannot be parsed never makes the evaluation throw, and is never allowed by a rule for another command (property)', () => {
    fc.assert(
      fc.property(texts, text => {
        const parsed = parseCommand(text)
        const decided = verdict([{ command: 'npm test' }], bash(text))
        if (!parsed.provable) expect(decided).toBe('ask')
      }),
      { numRuns: 500 },
    )
  })
  it('P3: a command that cannot be parsed is denied if it mentions what a rule denies (property)', () => {
    const broken = fc.constantFrom('if', '( ', '{ ', '$( ', '"', "'", 'case x in ', '<<x ', 'for ')
    fc.assert(
      fc.property(broken, text => {
        expect(verdict([{ effect: 'deny', command: 'rm -rf' }], bash(`${text}\nrm -rf x`))).toBe('deny')
      }),
    )
  })
})

describe('P12: a rule for a host', () => {
  const fetch = (url: string): ToolCall => {
    const host = hostOf(url)
    return {
      tool: 'WebFetch',
      input: { url },
      cwd: '/srv',
      action: host === '' ? { other: 'WebFetch' } : { fetch: host },
    }
  }
  const allow = { host: 'docs.python.org', action: 'fetch' as const }
  it.each([
    'https://docs.python.org.evil.test/',
    'https://docs.python.org@evil.test/',
    'https://evil.test/docs.python.org',
    'https://evil.test#docs.python.org',
    'https://evil.test\\docs.python.org',
    'https://docs.python.org%2eevil.test/',
    'https://dосs.python.org/',
    'https://xn--docs-5cd.python.org/',
    'https://python.org/',
    'https://docs-python.org/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'docs.python.org',
    'file:///docs.python.org',
  ])('P12: a rule for a host does not match %s', url => expect(verdict([allow], fetch(url))).toBe('ask'))
  it.each([
    'https://docs.python.org/3/',
    'http://DOCS.python.org:8080/x',
    'https://user:pass@docs.python.org/',
    'https://docs.python.org./',
  ])('P12: a rule for a host matches %s, which is on that host', url =>
    expect(verdict([allow], fetch(url))).toBe('allow'),
  )
  it('P12: a rule that denies an IP address matches every notation of the address', () => {
    for (const url of ['http://2130706433/', 'http://0x7f.1/', 'http://127.0.0.1:80/', 'http://0177.0.0.1/'])
      expect(verdict([{ effect: 'deny', host: '127.0.0.1' }], fetch(url))).toBe('deny')
  })
  it('P12: a rule for a host matches no other host (property)', () => {
    fc.assert(
      fc.property(fc.webUrl(), url => {
        fc.pre(hostOf(url).replace(/\.$/, '') !== 'docs.python.org')
        expect(verdict([allow], fetch(url))).toBe('ask')
      }),
    )
  })
})

describe('P13: a proposed rule', () => {
  const runsProjectCode = (command: string) =>
    proposeRules(bash(command), context).items.map(item => item.runsProjectCode)
  it.each(['make check', 'go test ./...', 'cargo test', 'pytest', './run.sh', 'tsc --noEmit'])(
    'P13: a proposed rule for %s says that it runs project code',
    command => {
      expect(runsProjectCode(command)).not.toEqual([])
      expect(runsProjectCode(command)).not.toContain(false)
    },
  )
  it.each(['ls -l', 'cat a.txt', 'wc -l a.txt'])(
    'P13: a proposed rule for %s says that it does not run project code',
    command => {
      expect(runsProjectCode(command)).not.toEqual([])
      expect(runsProjectCode(command)).not.toContain(true)
    },
  )
  it('P14: a proposed rule is limited to the folder of the session, because the same command can do something else in another folder', () => {
    for (const { rule } of proposeRules(bash('make check'), context).items) expect(rule.scope?.cwd).toBe('/srv')
  })
})
