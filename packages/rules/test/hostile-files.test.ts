/** Tests commands that read or run more than their arguments say because of files that anybody can commit: links, secrets deep in a folder, and hidden repositories of git. */
import { describe, expect, it } from 'vitest'
import { checkArguments } from '../src/programs/check-arguments.ts'
import { riskOf } from '../src/risk.ts'
import type { CallSite } from '../src/site.ts'
import { makeSite } from './support/node-files.ts'

/** Returns the group of a command whose words have no spaces, or null if it is not proven. */
function groupOf(command: string, site: CallSite): string | null {
  const check = checkArguments(command.split(' '), site)
  return check.ok ? check.group : null
}
const repository = { '.git/HEAD': 'ref: refs/heads/main', '.git/config': '[core]\n\tbare = false\n' }

describe('a folder that git takes for a repository', () => {
  const site = makeSite({
    ...repository,
    'a.txt': '',
    // A dangling link is a valid HEAD.
    'b/HEAD': '->refs/heads/main',
    'b/objects/.k': '',
    'b/refs/.k': '',
    'b/config': '[core]\n\tworktree = .\n\tfsmonitor = "touch PWNED; false"\n',
    'b/sub/a.txt': '',
    // The objects and settings of this repository are in another folder.
    'c/HEAD': 'ref: refs/heads/main',
    'c/commondir': 'real',
    'c/real/objects/.k': '',
    'c/real/refs/.k': '',
    'c/real/config': '[diff "x"]\n\ttextconv = touch PWNED\n',
    // A link that leads to itself.
    'd/HEAD': '->HEAD',
  })

  it.each(['git -C b status', 'git -C b/sub status', 'git -C c show', 'git -C c status', 'git -C d status'])(
    '%s runs project code, because anybody can commit the folder',
    command => {
      expect(groupOf(command, site)).toBe('project-code')
    },
  )

  it('git status only reads in the repository around it', () => {
    expect(groupOf('git status', site)).toBe('only-reads')
  })

  it('git counts as running project code if a folder cannot be listed', () => {
    const { list: _, ...files } = site.files ?? { realPath: () => null }
    expect(groupOf('git status', { ...site, files })).toBe('project-code')
  })
})

describe('git outside of a repository', () => {
  it.each(['git diff s1 s2', 'git diff', 'git grep x'])('%s is not proven, because it may read any files', command => {
    const site = makeSite({ 's1/.env': 'KEY=1', 's2/a.txt': '' })
    expect(groupOf(command, site)).toBeNull()
    expect(groupOf(command, makeSite({ '.git/': '', 's1/.env': 'KEY=1', 's2/a.txt': '' }))).toBeNull()
    expect(groupOf(command, makeSite({ '.git': 'x', 's1/.env': 'KEY=1', 's2/a.txt': '' }))).toBeNull()
  })

  it('git diff is proven for files in a repository, but not for files beside it', () => {
    const site = makeSite({
      'sub/.git/HEAD': 'ref: refs/heads/main',
      'sub/.git/config': '[core]\n\tbare = false\n',
      'sub/src/a.ts': '',
      's1/.env': 'KEY=1',
      's2/a.txt': '',
    })
    expect(groupOf('git -C sub diff ../s1 ../s2', site)).toBeNull()
    expect(groupOf(`git -C sub diff ${site.folder}/s1 ${site.folder}/s2`, site)).toBeNull()
    expect(groupOf('git -C sub diff src/a.ts', site)).toBe('only-reads')
    expect(groupOf('git -C sub/src diff main...HEAD -- ../src', site)).toBe('only-reads')
  })
})

describe('commands that read a folder with secrets in it', () => {
  it('grep -r is not proven in a folder with settings of gh, even with an excluded folder', () => {
    const site = makeSite({ '.config/gh/hosts.yml': 'token', 'src/a.ts': '' })
    expect(groupOf('grep -r x . --exclude-dir=keys', site)).toBeNull()
    expect(groupOf('grep -r x .config', site)).toBeNull()
    expect(groupOf('grep -r x src', site)).toBe('only-reads')
  })

  it('diff is not proven for folders with a link to a secret, because it follows links', () => {
    const site = makeSite({ 'd1/z': '->../.env', 'd2/a.txt': '', '.env': 'KEY=1', 'd3/a.txt': '' })
    expect(groupOf('diff -rN d1 d2', site)).toBeNull()
    expect(groupOf('diff d2 d1', site)).toBeNull()
    expect(groupOf('diff -r d2 d3', site)).toBe('only-reads')
  })

  it('rg is not proven if --iglob includes an excluded folder again', () => {
    const site = makeSite({ 'keys/id_rsa': 'KEY', 'src/a.ts': '' })
    expect(groupOf('rg . -g !keys', site)).toBe('only-reads')
    expect(groupOf('rg . -g !keys --iglob **', site)).toBeNull()
  })
})

describe('a new branch', () => {
  it.each(['git checkout -b foo', 'git switch -c foo'])(
    '%s is of low risk only without the hook post-checkout',
    command => {
      const levelOf = (site: CallSite) => riskOf({ shell: command, cwd: site.cwd }, site).level
      expect(levelOf(makeSite(repository))).toBe('low')
      expect(levelOf(makeSite({ ...repository, '.git/hooks/post-checkout': '' }))).not.toBe('low')
    },
  )
})
