/** Measures how many everyday commands of coding agents need no question if both groups are on. The commands were collected from public sessions of such agents. */
import type { Rule, ToolCall } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { type FileLookup, type RuleContext, RuleSet } from '../src/index.ts'
import commands from './data/everyday-commands.json' with { type: 'json' }

const folder = '/repo'
/** Files that a project usually does not have. */
const absent = /\/(?:\.ripgreprc|post-index-change|objects|refs|\.gitmodules|config\.worktree|commondir)$/
/** A project without secrets, in which every file exists that a command names. */
const files: FileLookup = {
  realPath: path => (absent.test(path) ? null : path),
  readText: path =>
    path.endsWith('.git/config')
      ? '[core]\n\tbare = false\n'
      : path.endsWith('.git/HEAD')
        ? 'ref: refs/heads/main'
        : null,
  list: () => [],
}
const context: RuleContext = {
  driver: 'claude',
  session: null,
  folder,
  agentPath: [],
  isEditable: true,
  now: 0,
  home: '/home/dev',
  files,
  builtIn: { protectedFolder: null, cwd: folder },
  runner: null,
  isUsedUp: () => false,
}
/** Both groups are on. */
const rules = new RuleSet(
  (['only-reads', 'project-code'] as const).map(
    (group, index): Rule => ({
      id: `rul_0000000000000000000${index}` as Rule['id'], // a valid id
      effect: 'allow',
      group,
      scope: { cwd: folder },
      madeBy: 'ana',
      madeAt: 0,
      version: 1,
    }),
  ),
)

/** Returns why a person must be asked, or null if the two groups allow the command. */
function questionFor(command: string): string | null {
  const call: ToolCall = { tool: 'Bash', input: { command }, cwd: folder }
  const { verdict, reason } = rules.evaluate(call, context)
  return verdict === 'allow' ? null : reason
}

const results = commands.map(entry => ({ ...entry, question: questionFor(entry.command) }))
const share = (list: typeof results) => list.filter(({ question }) => question === null).length / list.length

describe('everyday commands of coding agents', () => {
  it('the list of everyday commands has 300 different commands, each with its source', () => {
    expect(new Set(commands.map(({ command }) => command)).size).toBe(300)
    expect(commands.every(({ source, agent }) => source.length > 10 && agent.length > 3)).toBe(true)
  })

  it('at least 75 % of the everyday commands that only read, and 50 % of all, need no question', () => {
    const reading = results.filter(entry => entry.class === 'read-only')
    const code = results.filter(entry => entry.class === 'project-code')
    const percent = (list: typeof results) => `${Math.round(share(list) * 1000) / 10} % of ${list.length}`
    console.log(`No question: read-only ${percent(reading)}, project code ${percent(code)}, all ${percent(results)}`)
    expect(share(reading)).toBeGreaterThanOrEqual(0.75)
    expect(share(results)).toBeGreaterThanOrEqual(0.5)
  })

  it('every everyday command that is allowed only reads or runs code of the project', () => {
    expect(results.filter(entry => entry.class === 'other' && entry.question === null)).toEqual([])
  })
})
