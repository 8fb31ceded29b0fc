/** Checks that no regular expression of the sources takes more than linear time for any text, so that no text can freeze the gateway, a terminal or the page. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { type Pattern, patternsInSources, patternsInText, sourceFiles } from './support/regular-expressions.ts'

interface Diagnostics {
  readonly status: 'safe' | 'vulnerable' | 'unknown'
  readonly complexity?: { readonly summary: string }
  readonly attack?: { readonly pattern: string }
  readonly error?: { readonly kind: string }
}
/** The build for browsers is plain JavaScript. The main entry would start a native program or Java if it finds them, with other results for the same pattern. */
const { checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js') as {
  checkSync(source: string, flags: string, options: object): Diagnostics
}
/** The check has limits of steps and a fixed seed, but no limits of time, so the result does not depend on how busy the machine is. */
const options = { timeout: 120_000, attackTimeout: null, incubationTimeout: null, randomSeed: 1 }

/** The patterns that were found to take linear time. Checking one takes up to a few seconds, so those in this file are not checked again. `npm run regular-expressions` checks all of them and writes the file. */
const checkedFile = new URL('regular-expressions.txt', import.meta.url)
const checksAll = process.env.CHECK_ALL === '1'

/** Patterns that may take longer, by their source, and why that is harmless. */
const exceptions: Readonly<Record<string, string>> = {}

/** Patterns of zod that the contract applies to texts of people and agents. */
const libraryPatterns: readonly Pattern[] = [
  { where: 'z.email()', source: z.regexes.email.source, flags: z.regexes.email.flags },
  { where: 'z.iso.date()', source: z.regexes.date.source, flags: z.regexes.date.flags },
  { where: 'z.iso.datetime()', source: z.regexes.datetime({ offset: true }).source, flags: '' },
  { where: 'z.base64()', source: z.regexes.base64.source, flags: z.regexes.base64.flags },
]

/** Returns why a pattern may take longer, or null if every match takes linear time. */
function problemOf({ where, source, flags }: Pattern): string | null {
  const { status, complexity, attack, error } = checkSync(source, flags, options)
  if (status === 'safe') return null
  return `${where}: /${source}/${flags} is ${complexity?.summary ?? error?.kind ?? status}, for example with ${attack?.pattern ?? 'an unknown text'}`
}

describe('the regular expressions of the sources', () => {
  let patterns: readonly Pattern[] = []
  beforeAll(async () => {
    // Another test file of the same worker may have loaded a module already, and its patterns are recorded while it is loaded.
    vi.resetModules()
    patterns = [...(await patternsInSources()), ...libraryPatterns]
  })
  const textOf = ({ source, flags }: Pattern) => `/${source}/${flags}`

  it('the regular expressions of the sources take linear time, or have a stated reason why not', {
    timeout: 900_000,
  }, () => {
    const known = new Set(checksAll ? [] : readFileSync(checkedFile, 'utf8').split('\n'))
    const different = new Map(patterns.map(pattern => [textOf(pattern), pattern]))
    const unchecked = [...different].filter(([text, { source }]) => !known.has(text) && !exceptions[source])
    expect(unchecked.map(([, pattern]) => problemOf(pattern)).filter(problem => problem !== null)).toEqual([])
    expect(different.size).toBeGreaterThan(100)
    if (checksAll) writeFileSync(checkedFile, `${[...different.keys()].sort().join('\n')}\n`)
  })

  it('the regular expressions of the sources include every exception, so that no exception outlives its pattern', () => {
    const sources = new Set(patterns.map(({ source }) => source))
    expect(Object.keys(exceptions).filter(source => !sources.has(source))).toEqual([])
  })
})

describe('the check of regular expressions', () => {
  const at = (text: string) => patternsInText('example.ts', text)

  it('the check of regular expressions finds literals and constructors, but nothing in comments and strings', () => {
    const text = "const a = /x+$/gm // not /this/\nconst b = RegExp('y*', 'u')\nconst c = '/neither/'\n"
    expect(at(text)).toEqual({
      literal: [
        { where: 'example.ts:1', source: 'x+$', flags: 'gm' },
        { where: 'example.ts:2', source: 'y*', flags: 'u' },
      ],
      computed: [],
    })
  })

  it('the check of regular expressions finds constructors whose pattern is computed', () => {
    expect(at('const a = new RegExp(name)')).toEqual({ literal: [], computed: ['example.ts:1'] })
  })

  it('the check of regular expressions reports the pattern that froze the page of version 0.1', () => {
    const { source, flags } = /^\n+|\s+$/g
    expect(problemOf({ where: 'here', source, flags })).toContain('2nd degree polynomial')
  })

  it('the check of regular expressions reads every source file', () => {
    expect(sourceFiles().length).toBeGreaterThan(200)
  })
})
