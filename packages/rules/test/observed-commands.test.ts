/**
 * Compares our labels with the observed effects of commands. The records come from strace, in a project with hostile files or hostile
 * settings of git; `npm run check:risk` observes everything again.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkArguments } from '../src/programs/check-arguments.ts'
import { riskOf } from '../src/risk.ts'
import { parseCommand } from '../src/shell/parse-command.ts'
import type { CallSite } from '../src/site.ts'
import observed from './data/observed-commands.json' with { type: 'json' }
import uses from './data/program-uses.json' with { type: 'json' }
import commands from './data/risk-commands.json' with { type: 'json' }
import { makeSite } from './support/node-files.ts'
import { makeObservedProject } from './support/observed-project.mjs'

/** Files that programs keep for themselves: the git repository, caches, logs and histories. */
const ownFiles = /^\.git\/|\/\.(?:npm|cache|lesshst)|^\/var\/cache/
type Hostile = 'files' | 'settings'
interface Observation {
  readonly command: string
  readonly hostile: string
  readonly ran: readonly string[]
  readonly wrote: readonly string[]
  readonly wroteOutside: readonly string[]
  readonly deleted: readonly string[]
  readonly network: boolean
  readonly evil: boolean
}
const records: readonly Observation[] = observed
function makeProject(hostile: Hostile): CallSite {
  const site = makeSite({ 'empty/': '' })
  makeObservedProject(site.folder, hostile)
  mkdirSync(join(site.outside, 'outside'))
  writeFileSync(join(site.outside, 'outside/file.txt'), '')
  mkdirSync(site.home)
  return site
}
const sites: Record<Hostile, CallSite> = { files: makeProject('files'), settings: makeProject('settings') }
const siteOf = ({ hostile }: { readonly hostile: string }) => sites[hostile as Hostile]

/** Returns whether the group of commands that only read allows the command. */
function onlyReads(record: Observation): boolean {
  const parsed = parseCommand(record.command)
  if (!parsed.provable) return false
  return parsed.segments.every(({ argv }) => {
    const check = checkArguments(argv, siteOf(record))
    return check.ok && check.group === 'only-reads'
  })
}

describe('observed commands', () => {
  it('the records of observed commands contain every command of both lists (after a change of the lists, run npm run check:risk)', () => {
    const expected = [
      ...['files', 'settings'].flatMap(hostile => uses['only-reads'].map(command => `${hostile} ${command}`)),
      ...commands.map(command => `files ${command}`),
    ]
    expect(records.map(({ hostile, command }) => `${hostile} ${command}`)).toEqual(expected)
  })

  it('observed commands in the group that only reads write and delete nothing, use no network and start no other program', () => {
    const reading = records.filter(onlyReads)
    const ownPrograms = /^\/(?:usr\/)?bin\/|^\/usr\/lib\/git-core\//
    for (const { command, ran, wrote, wroteOutside, deleted, network, evil } of reading) {
      // Git updates its index with what it learns about files.
      expect(
        wrote.filter(path => !/^\.git\/index(?:\.lock)?$/.test(path)),
        command,
      ).toEqual([])
      expect([wroteOutside, deleted, network, evil], command).toEqual([[], [], false, false])
      expect(
        ran.filter(path => !ownPrograms.test(path)),
        command,
      ).toEqual([])
      const words = new Set(command.split(/[\s;|&]+/))
      const others = ran
        .map(path => path.split('/').at(-1) ?? '')
        .filter(name => !words.has(name) && !/^(?:bash|git|grep|git-.*)$/.test(name))
      expect(others, command).toEqual([])
    }
    console.log(`Only reading, as observed: ${reading.length} runs`)
    expect(reading.length).toBeGreaterThan(300)
  })

  it('observed commands count as running project code if they started a program that hostile settings name', () => {
    const abused = records.filter(({ hostile, evil }) => hostile === 'settings' && evil)
    expect(abused.length).toBeGreaterThan(20)
    expect(abused.filter(onlyReads)).toEqual([])
  })

  it('observed commands are not of low risk if they delete, write outside the folder or use the network', () => {
    const labelled = records.map(record => ({
      ...record,
      ...riskOf({ shell: record.command, cwd: siteOf(record).cwd }, siteOf(record)),
    }))
    const low = labelled.filter(({ level }) => level === 'low')
    const wrong = low.filter(
      ({ deleted, wroteOutside, network }) => deleted.length > 0 || wroteOutside.length > 0 || network,
    )
    console.log(`Of ${labelled.length} runs, ${low.length} are of low risk, ${wrong.length} of them wrongly`)
    expect(wrong).toEqual([])
    expect(low.length).toBeGreaterThan(200)
  })

  it.each([
    ['deletes', 'deleted'],
    ['network', 'network'],
    ['writes-outside', 'wroteOutside'],
  ] as const)(
    'most commands with the observed effect %s have it in their risk, and the others are unreadable or run project code',
    (touch, effect) => {
      const touching = records.filter(record =>
        effect === 'network'
          ? record.network
          : record[effect].some(path => !ownFiles.test(path) && !(effect === 'deleted' && record.wrote.includes(path))),
      )
      const silent = touching.filter(record => {
        const { touches } = riskOf({ shell: record.command, cwd: siteOf(record).cwd }, siteOf(record))
        return ![
          touch,
          'writes-outside',
          'unreadable',
          'project-code',
          'installs',
          'privileges',
          'rewrites-history',
        ].some(name => touches.includes(name as typeof touch))
      })
      expect(touching.length).toBeGreaterThan(10)
      expect(silent.map(({ command }) => command)).toEqual([])
    },
  )
})
