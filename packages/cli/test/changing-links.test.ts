/** Tests that rules follow symbolic links that change between two calls, although what a folder contains is remembered. The files are real. */
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Rule } from '@holdpoint/protocol'
import { type FileLookup, type RuleContext, RuleSet } from '@holdpoint/rules'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { folderVersion, machineFiles } from '../src/gateway/machine-files.ts'

let folder: string
let looked: string[]
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-links-')))
  for (const name of ['a', 'b', 'rules']) mkdirSync(join(folder, name))
  for (const name of ['a/file', 'b/file', 'rules/file']) writeFileSync(join(folder, name), '')
  looked = []
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Every folder counts as unchanged for a minute, so that what it contains is remembered at once. */
const files: FileLookup = {
  ...machineFiles,
  folderVersion: path => folderVersion(path, Date.now() + 60_000),
  entryKind: path => {
    looked.push(path)
    return machineFiles.entryKind?.(path) ?? null
  },
}

function evaluator(path: string) {
  const rule: Rule = {
    id: 'rul_00000000000000000100' as Rule['id'],
    effect: 'deny',
    path,
    madeBy: '',
    madeAt: 0,
    version: 1,
  }
  const set = new RuleSet([rule])
  const context: RuleContext = {
    driver: 'claude',
    session: null,
    runner: null,
    folder,
    agentPath: [],
    isEditable: true,
    now: 0,
    home: folder,
    files,
    builtIn: { protectedFolder: null, cwd: folder },
    isUsedUp: () => false,
  }
  return (written: string) => {
    const action = { write: [join(folder, written)] }
    return set.evaluate({ tool: 'Write', input: {}, cwd: folder, action }, context).verdict
  }
}

/** Makes a change in a folder, then adds and removes a file there until the file system gives the folder a new time. */
function change(name: string, make: () => void): void {
  const path = join(folder, name)
  const before = lstatSync(path, { bigint: true }).ctimeNs
  make()
  while (lstatSync(path, { bigint: true }).ctimeNs === before) {
    writeFileSync(join(path, 'other'), '')
    rmSync(join(path, 'other'))
  }
}
const link = (target: string, name: string) => symlinkSync(join(folder, target), join(folder, name))
const remove = (name: string) => rmSync(join(folder, name), { recursive: true })

describe('a rule that denies a path', () => {
  it('a rule that denies a path matches through a link that replaces the file at its path after an earlier call', () => {
    const verdict = evaluator(join(folder, 'rules/file'))
    expect(verdict('a/file')).toBe('ask')
    change('rules', () => {
      remove('rules/file')
      link('a/file', 'rules/file')
    })
    expect(verdict('a/file')).toBe('deny')
  })
  it('a rule that denies a path matches through a link whose target has changed since an earlier call', () => {
    link('a', 'rules/link')
    const verdict = evaluator(join(folder, 'rules/link/**'))
    expect([verdict('a/file'), verdict('b/file')]).toEqual(['deny', 'ask'])
    change('rules', () => {
      remove('rules/link')
      link('b', 'rules/link')
    })
    expect([verdict('a/file'), verdict('b/file')]).toEqual(['ask', 'deny'])
  })
  it('a rule that denies a path matches through a link that leads through a link in another folder', () => {
    link('b/hop', 'rules/link')
    link('a', 'b/hop')
    const verdict = evaluator(join(folder, 'rules/link/file'))
    expect([verdict('a/file'), verdict('b/file')]).toEqual(['deny', 'ask'])
    remove('b/hop')
    link('b', 'b/hop')
    expect([verdict('a/file'), verdict('b/file')]).toEqual(['ask', 'deny'])
  })
  it('a rule that denies a path matches if a folder above its path becomes a link', () => {
    const verdict = evaluator(join(folder, 'rules/file'))
    expect(verdict('moved/file')).toBe('ask')
    change('.', () => {
      renameSync(join(folder, 'rules'), join(folder, 'moved'))
      link('moved', 'rules')
    })
    expect(verdict('moved/file')).toBe('deny')
  })
  it('a rule that denies a path matches a file that does not exist yet, in a folder that becomes a link later', () => {
    const verdict = evaluator(join(folder, 'later/sub/file'))
    expect(verdict('a/sub/file')).toBe('ask')
    change('.', () => link('a', 'later'))
    expect(verdict('a/sub/file')).toBe('deny')
  })
  it('a rule that denies a path does not read folders again that have not changed', () => {
    const verdict = evaluator(join(folder, 'rules/file'))
    verdict('a/file')
    expect(looked).toContain(join(folder, 'rules/file'))
    looked = []
    verdict('a/file')
    expect(looked).toEqual([])
    change('.', () => mkdirSync(join(folder, 'new')))
    verdict('a/file')
    expect(looked).toEqual([join(folder, 'rules')])
  })
})

it('folderVersion returns null for a folder that changed less than a moment ago', () => {
  expect(folderVersion(folder, Date.now())).toBeNull()
  expect(folderVersion(join(folder, 'a/file'), Date.now() + 60_000)).toBeNull()
  expect(folderVersion(folder, Date.now() + 60_000)).not.toBeNull()
})
