/** Tests commands that read or run more than their arguments say because of files that anybody can commit: links, secrets deep in a folder, and hidden repositories of git. */
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { checkArguments } from '../src/programs/check-arguments.ts'
import { riskOf } from '../src/risk.ts'
import type { CallSite } from '../src/site.ts'
import { makeSite, writeTree } from './support/node-files.ts'

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

  it('git status only reads in the repository around such a folder', () => {
    expect(groupOf('git status', site)).toBe('only-reads')
  })

  it('git counts as running project code if a folder cannot be listed', () => {
    const { list: _, ...files } = site.files ?? { realPath: () => null }
    expect(groupOf('git status', { ...site, files })).toBe('project-code')
  })
})

describe('a folder whose .git is not the repository that git uses', () => {
  const settings = '[core]\n\tbare = false\n'
  const hostile = '[core]\n\tbare = false\n\tfsmonitor = touch PWNED; false\n'
  const head = 'ref: refs/heads/main\n'
  const inner = { HEAD: head, config: settings, 'objects/': '', 'refs/': '' }
  const at = (folder: string, tree: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(tree).map(([path, text]) => [`${folder}/${path}`, text]))
  const cases: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['has no objects', { 'sub/.git/HEAD': head, 'sub/.git/config': settings, 'sub/.git/refs/': '' }],
    ['has no refs', { 'sub/.git/HEAD': head, 'sub/.git/config': settings, 'sub/.git/objects/': '' }],
    ['has an invalid HEAD', at('sub/.git', { ...inner, HEAD: 'main\n' })],
    ['has a HEAD outside of refs', at('sub/.git', { ...inner, HEAD: 'ref: main\n' })],
  ]
  it.each(cases)('git in a folder whose .git %s counts as running project code', (_, tree) => {
    const site = makeSite({ ...repository, '.git/config': hostile, 'sub/a.txt': '' })
    writeTree(site.folder, tree)
    const top = execFileSync('git', ['rev-parse', '--show-toplevel'], { cwd: `${site.folder}/sub`, encoding: 'utf8' })
    expect(top.trim()).toBe(site.folder)
    expect(groupOf('git -C sub status', site)).toBe('project-code')
    expect(groupOf('git -C sub diff', site)).not.toBe('only-reads')
  })
  it('git counts as running project code if spaces around a path in its files make the path mean another folder', () => {
    const hidden = { ...at('a', inner), ...at('a ', { ...inner, config: hostile }) }
    const linked = makeSite({ '.git': 'gitdir: a \n', ...hidden })
    const gitFolder = execFileSync('git', ['rev-parse', '--git-dir'], { cwd: linked.folder, encoding: 'utf8' })
    expect(gitFolder).toBe(`${linked.folder}/a \n`)
    expect(groupOf('git status', linked)).toBe('project-code')
    const shared = makeSite({ '.git/HEAD': head, '.git/commondir': '../a \n', ...hidden })
    expect(groupOf('git status', shared)).toBe('project-code')
  })
  it.each(['core.excludesfile', 'core.attributesfile', 'blame.ignorerevsfile'])(
    'git counts as running project code if the setting %s names a file of which it would print lines',
    name => {
      const [section = '', key = ''] = name.split('.')
      const groupWith = (file: string, more = {}) => {
        const config = `${settings}[${section}]\n\t${key} = ${file}\n`
        return groupOf('git status', makeSite({ ...repository, '.git/config': config, ...more }))
      }
      for (const file of ['/home/ana/.ssh/id_rsa', '../notes', '~/x', '.env', '"/etc/passwd"'])
        expect(groupWith(file), file).toBe('project-code')
      expect(groupWith('.git-blame-ignore-revs', { '.git-blame-ignore-revs': '->/etc/passwd' })).toBe('project-code')
      expect(groupWith('.git-blame-ignore-revs', { '.git-blame-ignore-revs': '' })).toBe('only-reads')
    },
  )
  it('git only reads in a worktree, whose repository is named by files', () => {
    const site = makeSite({
      'main/.git/HEAD': head,
      'main/.git/config': settings,
      ...at('main/.git/worktrees/w', { HEAD: `${'0'.repeat(40)}\n`, commondir: '../..\n' }),
      'w/.git': 'gitdir: ../main/.git/worktrees/w\n',
    })
    expect(groupOf('git -C w status', site)).toBe('only-reads')
  })
})

describe('git outside of a repository', () => {
  it.each(['git diff s1 s2', 'git diff', 'git grep x'])('%s is not proven, because it may read any files', command => {
    const site = makeSite({ 's1/.env': 'KEY=1', 's2/a.txt': '' })
    expect(groupOf(command, site)).toBeNull()
    expect(groupOf(command, makeSite({ '.git/': '', 's1/.env': 'KEY=1', 's2/a.txt': '' }))).toBeNull()
    expect(groupOf(command, makeSite({ '.git': 'x', 's1/.env': 'KEY=1', 's2/a.txt': '' }))).toBeNull()
  })

  it('git diff is proven for files in a repository, but not for files beside the repository', () => {
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
  it.each(['.m2/settings.xml', '.env~', '.qwen/oauth_creds.json'])(
    'grep -r is not proven in a folder with %s',
    file => {
      expect(groupOf('grep -r x .', makeSite({ [file]: '' }))).toBeNull()
      expect(groupOf('grep -r x .', makeSite({ 'a.txt': '', 'settings.xml': '' }))).toBe('only-reads')
    },
  )
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
