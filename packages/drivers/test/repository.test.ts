import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readRepository } from '../src/repository.ts'

describe('readRepository', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdpoint-repository-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const makeGit = (head: string) => {
    mkdirSync(join(folder, '.git'))
    writeFileSync(join(folder, '.git', 'HEAD'), head)
  }

  it('readRepository finds the repository and the branch for a folder inside the repository', () => {
    makeGit('ref: refs/heads/feature/retry\n')
    const inner = join(folder, 'src', 'deep')
    mkdirSync(inner, { recursive: true })
    expect(readRepository(inner)).toEqual({ root: folder, branch: 'feature/retry', commit: null })
  })
  it('readRepository returns the commit if no branch is checked out', () => {
    const commit = 'a'.repeat(40)
    makeGit(`${commit}\n`)
    expect(readRepository(folder)).toEqual({ root: folder, branch: null, commit })
  })
  it('readRepository follows the .git file of a linked worktree', () => {
    const other = join(folder, 'store')
    mkdirSync(other)
    writeFileSync(join(other, 'HEAD'), 'ref: refs/heads/second\n')
    const tree = join(folder, 'tree')
    mkdirSync(tree)
    writeFileSync(join(tree, '.git'), `gitdir: ../store\n`)
    expect(readRepository(tree)).toEqual({ root: tree, branch: 'second', commit: null })
  })
  it('readRepository finds no repository behind a link that leads back to itself', () => {
    symlinkSync('.git', join(folder, '.git'))
    expect(readRepository(folder)).toBeNull()
  })
  it('readRepository returns no content of a file that Git did not write, and never waits for a pipe', () => {
    makeGit('a secret of another program\n')
    expect(readRepository(folder)).toBeNull()
    rmSync(join(folder, '.git', 'HEAD'))
    execFileSync('mkfifo', [join(folder, '.git', 'HEAD')])
    expect(readRepository(folder)).toBeNull()
    expect(readRepository(join(folder, 'missing'))).toBeNull()
    expect(readRepository('relative')).toBeNull()
  })
})
