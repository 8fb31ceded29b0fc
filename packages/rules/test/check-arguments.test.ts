/** Tests the grammars of programs: commands that people and agents usually run are proven, and no abuse of a program is. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '../../../test/support/cpu-time.ts'
import { checkArguments, hasGrammar, programs } from '../src/programs/check-arguments.ts'
import type { ArgumentCheck } from '../src/programs/grammar-check.ts'
import { parseCommand } from '../src/shell/parse-command.ts'
import type { CallSite } from '../src/site.ts'
import policy from './data/policy.json' with { type: 'json' }
import abuses from './data/program-abuses.json' with { type: 'json' }
import uses from './data/program-uses.json' with { type: 'json' }
import { makeSite, nodeFiles, writeTree } from './support/node-files.ts'

const files = {
  'src/a.ts': 'import x',
  'src/b.ts': 'import y',
  'src/a.test.ts': '',
  'src/a.js': '',
  'docs/guide.md': '',
  'tests/test_a.py': '',
  'test/a.test.js': '',
  'package.json': '{}',
  'go.mod': 'module example.com/app\n\ngo 1.25\n',
  'evil.js': '',
  'evil.py': '',
  '.gitignore': 'node_modules\n.env\n!.env.example\n',
  ...Object.fromEntries(
    ['tsc', 'vitest', 'eslint', 'biome', 'jest', 'mocha'].map(tool => [`node_modules/.bin/${tool}`, '']),
  ),
}
function makeRepository(tree: Readonly<Record<string, string>>) {
  const site = makeSite(tree)
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: site.folder })
  return site
}
/** A project without secrets, in which whole folders may be searched. */
const clean = makeRepository({ ...files, 'node_modules/.bin/prettier': '' })
/** The same project with secrets, with links to secrets, and with links out of the folder. */
const withSecrets = makeRepository({
  ...files,
  '.env': 'KEY=1',
  list: '',
  'link-to-secret': '->.env',
  'link-to-outside': '->../outside.txt',
  'linked/link': '->../link-to-outside',
})
writeFileSync(join(withSecrets.outside, 'outside.txt'), '')

/** Returns the group of each part of a command, or the reason why the command is not proven. */
function groupsOf(command: string, site: CallSite): readonly string[] | string {
  const parsed = parseCommand(command)
  if (!parsed.provable) return parsed.reason
  const checks = parsed.segments.map(({ argv }): ArgumentCheck => checkArguments(argv, site))
  const refused = checks.find(check => !check.ok)
  return refused && !refused.ok ? refused.reason : checks.flatMap(check => (check.ok ? [check.group] : []))
}

describe.each(Object.entries(uses))('commands of the group %s', (group, commands) => {
  it.each(commands)('%s is proven', command => {
    expect(groupsOf(command, clean)).toEqual([group])
  })
})

it('P-G: the list of abuses contains every program whose arguments Holdpoint knows', () => {
  const abused = new Set(
    Object.values(abuses)
      .flat()
      .map(command => command.split(' ')[0]),
  )
  expect([...programs.keys()].filter(name => !abused.has(name))).toEqual([])
})

describe.each(Object.entries(abuses))('abuses of %s', (_program, commands) => {
  it.each(commands)('%s is not proven', command => {
    expect(groupsOf(command, withSecrets)).toBeTypeOf('string')
  })
})

describe('words that a program or a shell would not take literally', () => {
  it.each([
    [['find', '.', '-exec', 'touch', 'PWNED', ';']],
    [['find', '.', '-exec', 'touch', '{}', '+']],
    [['find', '.', '-ok', 'rm', '{}', ';']],
    [['awk', '{print $1,\n$2 > "PWNED"}', 'src/a.ts']],
    [['awk', 'BEGIN{\nsystem("touch PWNED")}']],
    [['sed', '-n', 'p\nw PWNED', 'src/a.ts']],
    [['sed', 's/a/b\\\n/w PWNED', 'src/a.ts']],
    [['printf', '-v', 'a[$(touch PWNED)]', 'x']],
    [['printf', '%n', 'a[$(touch PWNED)]']],
    [['printf', '%d', 'a[$(touch PWNED)]']],
    [['test', '-v', 'a[$(touch PWNED)]']],
    [['test', 'a[$(touch PWNED)]', '-eq', '1']],
    [['[', '-v', 'a[$(touch PWNED)]', ']']],
    [['[', '-f', 'src/a.ts']],
    [['command', 'touch', 'PWNED']],
    [['command', '-p', 'touch', 'PWNED']],
    [['type', '-f', 'x']],
    [['cat', '~/.ssh/id_rsa']],
    [['git', 'log', '--format=%G?']],
    [['ls', 'a\0b']],
  ])('%j is not proven', argv => {
    expect(checkArguments(argv, withSecrets).ok).toBe(false)
  })
})

it('a file whose name is - counts as a file, because not every program takes it for standard input', () => {
  const site = makeSite({ '-': '->../outside', 'src/a.ts': '' })
  for (const command of ['make -C - build', 'tsc -p -', 'cat -', 'rg x -'])
    expect(groupsOf(command, site), command).toMatch(/outside the folder/)
  for (const command of ['cat -', 'rg x -', 'diff - src/a.ts']) expect(groupsOf(command, clean)).toEqual(['only-reads'])
})

describe('the corpus of attacks', () => {
  it.each(policy.map(({ rule, command }) => [command, rule]))(
    'P-A: %j is not proven, although there is a rule for %j',
    command => {
      expect(groupsOf(command, withSecrets)).toBeTypeOf('string')
    },
  )
})

describe('searches through whole folders', () => {
  it.each([
    ['grep -rn KEY .', /\.env/],
    ['grep -rn KEY', /\.env/],
    ['grep -rn KEY . --exclude-dir=src', /\.env/],
    ['rg --hidden KEY', /\.env/],
    ['rg -g "*" KEY', /\.env/],
    ['diff -r . src', /\.env/],
  ])('%s is refused in a folder with secrets, and the reason names the file', (command, reason) => {
    expect(groupsOf(command, withSecrets)).toMatch(reason)
  })

  it.each([
    'grep -rn KEY src',
    'grep -rn KEY . --include="*.ts"',
    'rg KEY',
    'rg KEY -g "*.ts"',
    'rg -tts KEY',
    'find . -name .env',
    'ls -R',
  ])('%s is proven in a folder with secrets, because the command does not read the secrets', command => {
    expect(groupsOf(command, withSecrets)).toEqual(['only-reads'])
  })

  it('rg is refused if an ignore file makes it read a hidden secret', () => {
    for (const [line, isProven] of [
      ['!.env', false],
      ['!.e*', false],
      ['!*', false],
      ['/x/!.env', true],
      ['!.env.example', true],
      ['!dist', true],
    ] as const) {
      for (const file of ['.gitignore', '.git/info/exclude']) {
        const site = makeSite({ '.env': 'KEY=1', 'src/a.ts': '', [file]: `*.log\n${line}\n` })
        expect(typeof groupsOf('rg KEY', site), `${file}: ${line}`).toBe(isProven ? 'object' : 'string')
      }
    }
  })

  it('secrets in installed packages and in excluded folders do not prevent a search', () => {
    const site = makeSite({ 'node_modules/x/test.pem': '', 'certs/a.pem': '', 'a.ts': '' })
    expect(groupsOf('grep -rn KEY . --exclude-dir=certs', site)).toEqual(['only-reads'])
    expect(groupsOf("rg KEY -g '!certs'", site)).toEqual(['only-reads'])
    expect(groupsOf('grep -rn KEY .', site)).toMatch(/a\.pem/)
    expect(groupsOf('grep -rn KEY . --exclude-dir="cert?"', site)).toMatch(/a\.pem/)
    expect(groupsOf("rg KEY -g '!certs' -g '*.pem'", site)).toMatch(/a\.pem/)
  })

  it('only grep -R follows links, which must stay in the folder and lead to no secret', () => {
    const site = makeSite({
      'a/loop': '->../a',
      'a/b': '->../c',
      'c/x.ts': '',
      'd/out': '->/etc',
      'e/s': '->../f',
      'f/.env': '',
    })
    expect(groupsOf('grep -R KEY a', site)).toEqual(['only-reads'])
    expect(groupsOf('grep -r KEY d e', site)).toEqual(['only-reads'])
    expect(groupsOf('grep -R KEY d', site)).toMatch(/outside the folder/)
    expect(groupsOf('grep -R KEY e', site)).toMatch(/\.env/)
  })

  it('links in installed packages are followed like other links, although secrets of packages do not count', () => {
    const site = makeSite({
      'a/node_modules/evil': '->/etc',
      'b/node_modules/x/lib/.env': '',
      'b/node_modules/x/lib/link': '->../../../../others',
      'b/site-packages/y/key.pem': '',
      'c/node_modules/.store/x/key.pem': '',
      'c/node_modules/x': '->.store/x',
      'c/node_modules/local': '->../../packages/local',
      'packages/local/a.ts': '',
      'd/node_modules/local': '->../../with-secret',
      'with-secret/.env': '',
      'e/node_modules': '->/etc',
      'others/.env': '',
    })
    for (const command of ['grep -R KEY', 'diff -r packages']) {
      expect(groupsOf(`${command} a`, site), command).toMatch(/outside the folder/)
      expect(groupsOf(`${command} b`, site), command).toMatch(/\.env/)
      expect(groupsOf(`${command} c`, site), command).toEqual(['only-reads'])
      expect(groupsOf(`${command} d`, site), command).toMatch(/\.env/)
      expect(groupsOf(`${command} e`, site), command).toMatch(/outside the folder/)
    }
    expect(groupsOf('grep -r KEY a b c d', site)).toEqual(['only-reads'])
    expect(groupsOf('grep -R KEY a --exclude-dir=node_modules', site)).toEqual(['only-reads'])
  })

  it('a search is refused in a folder with too many files to check', () => {
    const site = makeSite({})
    mkdirSync(join(site.folder, 'many'))
    for (let index = 0; index < 10_001; index++) writeFileSync(join(site.folder, 'many', `${index}`), '')
    expect(groupsOf('grep -rn KEY .', site)).toMatch(/too many files/)
  })

  it('rg is refused in a folder with a .ripgreprc file unless it gets --no-config', () => {
    const site = makeSite({ '.ripgreprc': '--pre=./evil', 'a.ts': '' })
    expect(groupsOf('rg KEY', site)).toMatch(/--no-config/)
    expect(groupsOf('rg --no-config KEY', site)).toEqual(['only-reads'])
  })
})

describe('git in a repository whose settings name programs', () => {
  const repositoryAt = (folder: string, config: string) => ({
    [`${folder}/HEAD`]: 'ref: refs/heads/main',
    [`${folder}/config`]: config,
    [`${folder}/objects/`]: '',
    [`${folder}/refs/`]: '',
  })
  it.each([
    '[core]\n\tfsmonitor = ./evil.sh',
    '[core]\n\tpager = ./evil.sh',
    '[core]\n\tsshCommand = ./evil.sh',
    '[core]\n\thooksPath = ~/hooks',
    '[core]\n\tworktree = /',
    '[diff]\n\texternal = ./evil.sh',
    '[diff "x"]\n\ttextconv = ./evil.sh',
    '[diff "x"]\n\tcommand = ./evil.sh',
    '[filter "x"]\n\tclean = ./evil.sh',
    '[filter "x"]\n\tprocess = ./evil.sh',
    '[gpg]\n\tprogram = ./evil.sh',
    '[log]\n\tshowSignature = true',
    '[format]\n\tpretty = %G?',
    '[pretty]\n\tshort = %G?',
    '[pager]\n\tstatus = ./evil.sh',
    '[include]\n\tpath = evil',
    '[includeIf "gitdir:/"]\n\tpath = evil',
    '[remote "x"]\n\tpromisor = true',
    '[remote "x"]\n\tuploadpack = ./evil.sh',
    '[extensions]\n\tpartialClone = x',
    '[CORE]\n\tFSMONITOR = ./evil.sh',
    '[core] fsmonitor = ./evil.sh',
    '[core]\nfsmonitor=./evil.sh',
    '[core]\n\tfilemode = false\\\n\n\tfsmonitor = x',
    '[status]\n\tsubmoduleSummary = true',
    '[credential]\n\thelper = !evil',
    '[submodule]\n\trecurse = true',
    '[core]\n\talternateRefsCommand = x',
    '[merge "x"]\n\tdriver = x',
    '[uploadpack]\n\tpackObjectsHook = x',
  ])('%j makes git status run project code', config => {
    const site = makeSite({ '.git/HEAD': 'ref: refs/heads/main', '.git/config': config, 'a.ts': '' })
    expect(groupsOf('git status', site)).toEqual(['project-code'])
    expect(groupsOf('git log -1', site)).toEqual(['project-code'])
  })

  it.each(['.git/hooks/post-index-change', '.husky/post-index-change'])(
    'git counts as running project code because of the hook %s',
    hook => {
      const config = '[core]\n\thooksPath = .husky\n'
      const site = makeSite({ '.git/HEAD': 'ref: refs/heads/main', '.git/config': config, [hook]: '' })
      expect(groupsOf('git status', site)).toEqual(['project-code'])
    },
  )

  it('git counts as running project code in a committed folder that git takes for a repository', () => {
    const site = makeRepository({
      'bare/HEAD': 'ref: refs/heads/main',
      'bare/objects/': '',
      'bare/refs/': '',
      'bare/config': '[core]\n\tbare = false',
    })
    expect(groupsOf('git status', site)).toEqual(['only-reads'])
    expect(groupsOf('git status', { ...site, cwd: join(site.folder, 'bare') })).toEqual(['project-code'])
    expect(groupsOf('git -C bare status', site)).toEqual(['project-code'])
  })

  it('the path after a revision is resolved from the top of the repository, which can be outside of the folder of the session', () => {
    const site = makeRepository({ 'sub/a.ts': '', 'other/x.ts': '' })
    const below = { ...site, folder: join(site.folder, 'sub'), cwd: join(site.folder, 'sub') }
    expect(groupsOf('git show HEAD:other/x.ts', below)).toMatch(/outside the folder/)
    expect(groupsOf('git show :0:other/x.ts', below)).toMatch(/outside the folder/)
    expect(groupsOf('git show HEAD:../other/x.ts', below)).toMatch(/outside the folder/)
    expect(groupsOf('git show HEAD:./a.ts', below)).toEqual(['only-reads'])
    expect(groupsOf('git show HEAD:sub/a.ts', below)).toEqual(['only-reads'])
    expect(groupsOf('git log -L 1,2:a.ts', below)).toEqual(['only-reads'])
    expect(groupsOf('git log -L ":main:a.ts"', below)).toEqual(['only-reads'])
    expect(groupsOf('git show HEAD:other/x.ts', { ...site, cwd: below.cwd })).toEqual(['only-reads'])
  })

  it('git counts as running project code because of the settings of a submodule', () => {
    const site = makeRepository({
      '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = x',
      'sub/.git/HEAD': 'ref: refs/heads/main',
      'sub/.git/config': '[core]\n\tfsmonitor = ./evil.sh',
    })
    expect(groupsOf('git status', site)).toEqual(['project-code'])
    writeFileSync(join(site.folder, 'sub/.git/config'), '[core]\n\tbare = false\n')
    expect(groupsOf('git status', site)).toEqual(['only-reads'])
  })

  describe('a nested repository', () => {
    const withNested = (...options: readonly string[]) => {
      const site = makeRepository({ 'a.ts': '' })
      const git = (...args: string[]) => execFileSync('git', args, { cwd: site.folder, stdio: 'pipe' })
      const init = (folder: string) => {
        git('init', '-q', folder)
        git('-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'one')
      }
      init('a/nested')
      for (const option of options) git('config', ...option.split('='))
      git('add', '-A')
      return { site, git, init }
    }
    const fsmonitor = ['config', 'core.fsmonitor', './evil.sh'] as const

    it.each([[[]], [['index.version=4']], [['core.splitIndex=true']]])(
      'git counts as running project code because of the settings of a nested repository that is no submodule, with the settings %j',
      options => {
        const { site, git } = withNested(...options)
        if (options.length === 0) expect(groupsOf('git status', site)).toEqual(['only-reads'])
        git('-C', 'a/nested', ...fsmonitor)
        expect(groupsOf('git status', site)).toEqual(['project-code'])
        expect(groupsOf('git status', { ...site, cwd: join(site.folder, 'a') })).toEqual(['project-code'])
      },
    )
    it('git counts as running project code because of the settings of a repository in a nested one', () => {
      const { site, git, init } = withNested()
      init('a/nested/b')
      git('-C', 'a/nested', 'add', 'b')
      expect(groupsOf('git status', site)).toEqual(['only-reads'])
      git('-C', 'a/nested/b', ...fsmonitor)
      expect(groupsOf('git status', site)).toEqual(['project-code'])
    })
    it('a hostile index of 8 MiB is read within 50 ms, and git counts as running project code', () => {
      const { site } = withNested()
      for (const version of [2, 4])
        for (const bytes of [
          [0, 0, 0xe0, 0],
          [0xe0],
          [0, 0, 0xe0, 1, 0, 0, 0, 1],
          [0, 0, 0xe0, 1, ...Array<number>(5).fill(1)],
        ]) {
          const index = Buffer.alloc(8 * 1024 * 1024, Buffer.from(bytes))
          index.writeUInt32BE(version, 4)
          const files = { ...nodeFiles, readBytes: () => index }
          const check = () => groupsOf('git status', { ...site, files })
          expect(leastCpuMs(check), `${version}: ${bytes}`).toBeLessThan(50)
          if (bytes.length === 4) expect(check()).toEqual(['project-code'])
        }
    })
    it('git counts as running project code if its index cannot be read', () => {
      const { site } = withNested()
      const { readBytes: _, ...files } = nodeFiles
      expect(groupsOf('git status', { ...site, files })).toEqual(['project-code'])
    })
    it('git counts as only reading beside a nested repository that is not in the index', () => {
      const { site, git, init } = withNested()
      init('other')
      git('-C', 'other', ...fsmonitor)
      expect(groupsOf('git status', site)).toEqual(['only-reads'])
    })
  })

  it('git counts as only reading with the usual settings of a repository, a worktree and husky', () => {
    const site = makeRepository({ 'a.ts': '' })
    const git = (...args: string[]) => execFileSync('git', args, { cwd: site.folder })
    git('config', 'user.name', 'Ana')
    git('config', 'user.email', 'ana@example.com')
    git('config', 'core.hooksPath', '.husky/_')
    git('remote', 'add', 'origin', 'git@example.com:a/b.git')
    git('config', 'branch.main.remote', 'origin')
    git('config', 'branch.main.merge', 'refs/heads/main')
    git('add', '-A')
    git('-c', 'commit.gpgsign=false', 'commit', '-qm', 'one')
    git('worktree', 'add', '-q', '.worktrees/b')
    expect(groupsOf('git status', site)).toEqual(['only-reads'])
    expect(groupsOf('git status', { ...site, cwd: join(site.folder, '.worktrees/b') })).toEqual(['only-reads'])
    git('config', 'core.fsmonitor', './evil.sh')
    expect(groupsOf('git status', { ...site, cwd: join(site.folder, '.worktrees/b') })).toEqual(['project-code'])
  })

  it.each([
    ['.git', { '.git': 'gitdir: link/../real' }],
    ['commondir', { '.git': 'gitdir: own', 'own/HEAD': 'ref: refs/heads/main', 'own/commondir': '../link/../real' }],
    ['core.hooksPath', { '.git': 'gitdir: own', ...repositoryAt('own', '[core]\n\thooksPath = link/../hooks\n') }],
    [
      'the path of a submodule',
      {
        '.git': 'gitdir: own',
        ...repositoryAt('own', ''),
        '.gitmodules': '[submodule "x"]\n\tpath = link/../sub\n',
      },
    ],
  ])(
    'git counts as running project code if `..` follows a link in %s, because git resolves the link first',
    (_, tree) => {
      const site = makeSite({
        ...repositoryAt('real', ''),
        // Git uses these, because the link leads to deep/inner.
        ...repositoryAt('deep/real', '[core]\n\tfsmonitor = ./evil.sh\n'),
        'deep/inner/x': '',
        'deep/hooks/post-index-change': '',
        link: '->deep/inner',
        ...tree,
      })
      expect(groupsOf('git status', site)).toEqual(['project-code'])
    },
  )

  it('git counts as running project code if the settings of the repository cannot be read', () => {
    const { readText: _, ...files } = clean.files ?? { realPath: () => null }
    expect(groupsOf('git status', { ...clean, files })).toEqual(['project-code'])
  })
})

describe('the folder in which a command runs', () => {
  it('nothing is proven outside the folder of the session, or if the files cannot be looked up', () => {
    for (const command of ['ls', 'git status', 'npm test', 'echo x']) {
      expect(groupsOf(command, { ...clean, cwd: clean.outside })).toMatch(/outside the folder/)
      expect(groupsOf(command, { ...clean, files: null })).toBeTypeOf('string')
    }
  })

  it('relative paths are resolved from the folder in which the command runs', () => {
    const below = { ...clean, cwd: join(clean.folder, 'src') }
    expect(groupsOf('cat ../package.json', below)).toEqual(['only-reads'])
    expect(groupsOf('cat ../../outside.txt', below)).toMatch(/outside the folder/)
    expect(groupsOf('npx tsc --noEmit', below)).toEqual(['project-code'])
  })

  it('a tool that is not installed would be downloaded and is refused', () => {
    const site = makeSite({ 'node_modules/.bin/': '' })
    expect(groupsOf('npx tsc', site)).toMatch(/downloaded/)
    writeTree(site.folder, { 'node_modules/.bin/tsc': '' })
    expect(groupsOf('npx tsc', site)).toEqual(['project-code'])
  })

  it('the check of a command returns its paths with their dots resolved', () => {
    const check = checkArguments(['cat', 'src/../package.json', './src/a.ts'], clean)
    expect(check).toMatchObject({
      ok: true,
      paths: [join(clean.folder, 'package.json'), join(clean.folder, 'src/a.ts')],
    })
  })
})

describe('the words that name a command', () => {
  it.each([
    [['ls', '-la'], 1],
    [['git', 'status', '-s'], 2],
    [['npm', 'test', '--', 'x'], 2],
    [['npm', 'run', 'build'], 3],
    [['python', '-m', 'pytest', '-q'], 3],
    [['cargo', 'test', 'x'], 2],
    [['git', '-C', 'x', 'status'], 0],
    [['touch', 'x'], 0],
  ])('of %j, the first %i words name a command with a grammar', (argv, expected) => {
    expect(argv.findIndex((_, index) => hasGrammar(argv.slice(0, index + 1))) + 1).toBe(expected)
  })
})

describe('unknown options', () => {
  const names = [...programs.keys()].filter(name => !['echo', 'printf', 'true', 'false', ':'].includes(name))
  const option = fc.oneof(
    fc.stringMatching(/^--[a-z]{3,12}(-[a-z]{3,9})?$/).filter(text => text !== '--'),
    fc.stringMatching(/^--[a-z]{3,12}=[\w./]{1,12}$/),
  )
  /** Options that some grammar lists. All others must be refused by every program. */
  const known =
    /^--(?:all|run|bail|check|fix|test|tags|long|raw|cc|not|root|null|text|help|version|quiet|silent|verbose|color|colors)/

  it('an option that a grammar does not list is refused at every position', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), option, fc.boolean(), (name, flag, isFirst) => {
        fc.pre(!known.test(flag))
        const argv = isFirst ? [name, `${flag}-x`, 'src/a.ts'] : [name, 'src/a.ts', `${flag}-x`]
        expect(checkArguments(argv, clean).ok).toBe(false)
      }),
      { numRuns: 3000 },
    )
  })

  it('a command with an unknown option stays refused with an option of git or a package runner before it', () => {
    for (const start of [
      ['git', 'status'],
      ['git', 'log'],
      ['npm', 'test'],
      ['npm', 'test', '--'],
      ['pnpm', 'test'],
      ['go', 'test'],
      ['cargo', 'test'],
      ['python', '-m', 'pytest'],
    ])
      fc.assert(
        fc.property(option, flag => {
          expect(checkArguments([...start, `${flag}-x`], clean).ok).toBe(false)
        }),
        { numRuns: 100 },
      )
  })

  it('names of object properties such as constructor are not programs', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])
      expect(checkArguments([name], clean).ok).toBe(false)
  })
})
