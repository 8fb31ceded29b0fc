/** Tests which files a general rule may cover, on a real file system: links, `..`, case, Unicode forms, protected and secret names. */
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RuleId } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { RuleSet } from '../src/evaluate.ts'
import { checkPath, type PathProblem } from '../src/files/check-path.ts'
import { isProtectedPath, isSecretPath } from '../src/files/path-names.ts'
import { riskOf } from '../src/risk.ts'
import { makeSite } from './support/node-files.ts'
import { contextAt } from './support/rule-context.ts'

const site = makeSite({
  'src/index.ts': 'export {}',
  'src/deep/a.ts': '',
  'package.json': '{}',
  '.env': 'KEY=1',
  '.git/config': '[core]',
  'notes.txt': '',
  'settings-link': '->.git/config',
  'secret-link': '->.env',
  'outside-link': '->../outside.txt',
  'folder-link': '->../elsewhere',
  'new-outside': '->../does-not-exist',
  'chain-a': '->chain-b',
  'chain-b': '->../also-missing',
  'inner-link': '->src',
  'loop-a': '->loop-b',
  'loop-b': '->loop-a',
})
writeFileSync(join(site.outside, 'outside.txt'), 'x')
mkdirSync(join(site.outside, 'elsewhere'))
writeFileSync(join(site.outside, 'elsewhere', 'file.txt'), 'x')

const problemOf = (path: string, use: 'read' | 'write' | 'list', at = site): PathProblem | 'none' => {
  const found = checkPath(path, at, use)
  return found.ok ? 'none' : found.problem
}

describe('paths inside the folder of the session', () => {
  it.each([
    ['src/index.ts', 'src/index.ts'],
    ['./src//index.ts', 'src/index.ts'],
    ['src/../notes.txt', 'notes.txt'],
    ['inner-link/index.ts', 'src/index.ts'],
    ['src/new/file.ts', 'src/new/file.ts'],
    ['routes/$id.tsx', 'routes/$id.tsx'],
    ['docs/Überblick.md', 'docs/Überblick.md'],
    ['a b.txt', 'a b.txt'],
  ])('%j resolves to %j and may be read and written', (path, expected) => {
    for (const use of ['read', 'write'] as const)
      expect(checkPath(path, site, use)).toEqual({ ok: true, path: join(site.folder, expected) })
  })

  it('a relative path is resolved from the folder of the call, and is outside if it leaves the session’s folder', () => {
    const below = { ...site, cwd: join(site.folder, 'src') }
    expect(checkPath('../notes.txt', below, 'read')).toEqual({ ok: true, path: join(site.folder, 'notes.txt') })
    expect(problemOf('../../outside.txt', 'read', below)).toBe('outside')
  })

  it('the folder of the session itself may be read, and /dev/null may be read and written', () => {
    expect(problemOf('.', 'read')).toBe('none')
    expect(problemOf('/dev/null', 'write')).toBe('none')
  })
})

describe('paths that lead out of the folder', () => {
  it.each([
    '../outside.txt',
    'src/../../outside.txt',
    '/etc/hostname',
    '/',
    'outside-link',
    'folder-link/file.txt',
    'folder-link/new.txt',
    'new-outside',
    'chain-a',
    'chain-b',
  ])('P10: %j is outside the folder for every use', path => {
    for (const use of ['read', 'write', 'list'] as const) expect(problemOf(path, use)).toBe('outside')
  })

  it.each(['/proc/self/root/etc/hostname', '/proc/self/cwd/src/index.ts', '/proc/1/cwd'])(
    'P10: %j is not inside the folder, because the path means another file for each process',
    path => {
      for (const use of ['read', 'write', 'list'] as const) expect(problemOf(path, use)).not.toBe('none')
    },
  )

  it('P10: a path is unclear if links make the operating system and a program resolve `..` differently', () => {
    for (const path of ['folder-link/../notes.txt', 'inner-link/../notes.txt/../../outside.txt'])
      expect(problemOf(path, 'read')).not.toBe('none')
    expect(problemOf('missing/../notes.txt', 'write')).toBe('unclear')
  })

  it('P10: a path through a link whose target is swapped is resolved again for each check', () => {
    const link = join(site.folder, 'swapped')
    symlinkSync('src/index.ts', link)
    expect(problemOf('swapped', 'write')).toBe('none')
    rmSync(link)
    symlinkSync('../outside.txt', link)
    expect(problemOf('swapped', 'write')).toBe('outside')
  })

  it('P10: a file with a hard link may be read but not written', () => {
    linkSync(join(site.outside, 'outside.txt'), join(site.folder, 'hard-link.txt'))
    expect(problemOf('hard-link.txt', 'read')).toBe('none')
    expect(problemOf('hard-link.txt', 'write')).toBe('unclear')
  })
})

describe('paths that can mean another file', () => {
  it.each([
    '',
    '~/x',
    '~root/x',
    '$HOME/x',
    `\${HOME}/x`,
    '$(pwd)/x',
    '`pwd`/x',
    '%USERPROFILE%/x',
    'C:\\Windows\\x',
    'C:x',
    'c:/x',
    '\\\\?\\C:\\x',
    '\\\\server\\share',
    '//server/share',
    'src\\index.ts',
    'notes.txt.',
    'notes.txt ',
    'src./index.ts',
    '.git./config',
    'GIT~1/config',
    '.env::$DATA',
    'a\0b',
    'a\nb',
    '.g\u200cit/config',
    '.env\u200b',
    'a\u202eb',
    'a\ud800b',
    `${'a/'.repeat(200)}b`,
    'x'.repeat(5000),
  ])('P10: %j is unclear', path => {
    for (const use of ['read', 'write', 'list'] as const) expect(problemOf(path, use)).toBe('unclear')
  })

  it('no path is accepted if the files cannot be looked up', () => {
    expect(problemOf('src/index.ts', 'read', { ...site, files: null })).toBe('unclear')
  })

  it('an unclear path never equals the path of a rule', () => {
    expect(checkPath('~/x', site, 'read')).toMatchObject({ ok: false, path: '' })
  })
})

describe('secret files', () => {
  it.each([
    ...['.env', '.env.local', '.env.production', '.ENV', '.Env.Local', '.env-prod', 'config/prod.env', '.envrc'],
    ...[
      'key.pem',
      'server.key',
      'store.p12',
      'id_rsa',
      'id_ed25519',
      '.ssh/config',
      'a/.ssh/known_hosts',
      '.aws/credentials',
    ],
    ...[
      '.netrc',
      '.pgpass',
      'credentials.json',
      'my-credentials.json',
      'credentials',
      'client_secret.json',
      'secrets.yml',
    ],
    ...[
      '.kube/config',
      'kubeconfig',
      'auth.json',
      'token',
      '.token',
      'token.txt',
      'api_token',
      'terraform.tfstate',
      'prod.tfvars',
      'prod.auto.tfvars.json',
      '.dev.vars',
      '.dev.vars.staging',
      '.docker/config.json',
    ],
    ...[
      '.bash_history',
      '.git-credentials',
      '.pypirc',
      '.holdpoint/token',
      '.config/gh/hosts.yml',
      'service-account-prod.json',
      'ſecrets.yml',
      'ID_RSA',
    ],
    // Copies that editors and people make
    ...['.env~', '.netrc.bak', 'credentials.json.old', '.env.local.swp', 'server.key.orig', '.ENV~'],
    // Agents
    ...[
      '.gemini/oauth_creds.json',
      '.qwen/oauth_creds.json',
      '.copilot/config.json',
      '.config/github-copilot/apps.json',
    ],
    ...['.local/share/opencode/mcp-auth.json', '.claude/.credentials.json', '.codex/auth.json'],
    // Other programs
    ...['.m2/settings.xml', '.gradle/gradle.properties', '.kaggle/kaggle.json', '.databrickscfg', '.terraformrc'],
    ...['.config/sops/age/keys.txt', '.config/hub', '.msmtprc', '.authinfo', '.mozilla/firefox/x/logins.json'],
    ...['.local/share/keyrings/login.keyring', '.config/google-chrome/Default/Cookies', 'fish_history'],
    // Names that say it
    ...['password', 'passwords.txt', 'api_key', 'apikey.txt', 'private_key', 'privkey1.pem', 'vpn.ovpn', '.flaskenv'],
  ])('P11: %j may not be read or written, but may be listed', path => {
    expect(problemOf(path, 'read')).toBe('secret')
    expect(problemOf(path, 'write')).toBe('secret')
    expect(problemOf(path, 'list')).toBe('none')
  })

  it.each([
    ...[
      '.env.example',
      '.env.sample',
      'terraform.tfvars.example',
      'example.tfvars',
      '.dev.vars.example',
      '.env.template',
      'env.ts',
      'environment.ts',
      'src/id_generator.py',
      'id_rsa.pub',
      'tokens.ts',
    ],
    ...[
      'tokenizer.py',
      'secrets.ts',
      'src/secret.test.ts',
      'monkey.ts',
      'keys.ts',
      'credentials.ts',
      'token.rs',
      'history.md',
      'keyboard.key.ts',
      'password.ts',
      'src/api-key.ts',
      'gradle.properties',
      'settings.xml',
      'notes.old',
      'a.txt~',
    ],
  ])('%j is an ordinary file', path => {
    expect(problemOf(path, 'write')).toBe('none')
  })

  it('a secret file is found through a link, and a link that has the name of a secret file counts as secret', () => {
    expect(problemOf('secret-link', 'read')).toBe('secret')
    symlinkSync('notes.txt', join(site.folder, '.env.staging'))
    expect(problemOf('.env.staging', 'read')).toBe('secret')
  })

  it.each(['/proc/self/environ', '/proc/1/environ', '/proc/1/task/1/environ', '/etc/shadow', '/root/.ssh/id_rsa'])(
    '%j outside the folder is secret',
    path => {
      expect(isSecretPath(path)).toBe(true)
    },
  )
})

describe('protected files', () => {
  it.each([
    ...['.git/hooks/pre-commit', '.Git/HEAD', '.git', '.gitattributes', '.gitmodules'],
    ...[
      '.claude/settings.json',
      '.codex/config.toml',
      '.opencode/x',
      '.gemini/settings.json',
      '.qwen/settings.json',
      '.github/hooks/x.json',
      '.github/agents/x.agent.md',
      '.config/goose/settings.json',
      'tui.json',
      'AGENTS.md',
      'CLAUDE.md',
      'sub/CLAUDE.md',
      '.mcp.json',
    ],
    ...['package.json', 'packages/a/package.json', 'PACKAGE.JSON', 'conftest.py', 'tests/conftest.py'],
    ...['Makefile', 'makefile', 'GNUmakefile', '.cargo/config.toml', '.bashrc', '.zshrc', '.profile'],
    ...[
      '.github/workflows/ci.yml',
      '.gitlab-ci.yml',
      '.vscode/tasks.json',
      '.idea/x.xml',
      '.husky/pre-commit',
      '.pre-commit-config.yaml',
    ],
    ...['holdpoint.config.json', 'holdpoint.rules.json', 'ﬀ/.git/hooks/x', '.ɢit'.replace('ɢ', 'G')],
  ])('P11: %j may be read but not written', path => {
    expect(problemOf(path, 'read')).toBe('none')
    expect(problemOf(path, 'write')).toBe('protected')
  })

  it.each([
    ...['.git/config', '.GIT/config', 'sub/.git/config', '.git/config.worktree', '.git/modules/a/config'],
    ...['.npmrc', 'packages/a/.npmrc', '.yarnrc', '.yarnrc.yml', 'pip.conf', '.pip.conf', '.gitconfig', 'bunfig.toml'],
  ])('P11: %j may be neither read nor written, because the file may contain a token', path => {
    expect(problemOf(path, 'read')).toBe('secret')
    expect(problemOf(path, 'write')).not.toBe('none')
    expect(problemOf(path, 'list')).toBe('none')
  })
  it('the settings of a bare repository may not be read, but an ordinary file with the same name may', () => {
    expect(problemOf('a.git/config', 'read')).toBe('secret')
    for (const path of ['config', 'src/git/config', '.git/HEAD']) expect(problemOf(path, 'read')).toBe('none')
  })

  it('P11: protected settings are found through a link', () => {
    expect(problemOf('settings-link', 'read')).toBe('secret')
    expect(problemOf('settings-link', 'write')).toBe('protected')
  })

  it.each([
    '.github/ISSUE_TEMPLATE.md',
    'src/git/config.ts',
    'docs/makefile.md',
    'package.json.ts',
    'README.md',
    'tsconfig.json',
  ])('%j is an ordinary file', path => {
    expect(isProtectedPath(path)).toBe(false)
  })

  it('a session in a worktree below .claude may write its own files', () => {
    const worktree = makeSite({ '.claude/worktrees/a/src/x.ts': '' })
    const folder = join(worktree.folder, '.claude/worktrees/a')
    const inside = { ...worktree, folder, cwd: folder }
    expect(problemOf('src/x.ts', 'write', inside)).toBe('none')
    expect(problemOf('.claude/settings.json', 'write', inside)).toBe('protected')
  })
})

describe('a call that names very many files', () => {
  const looked: string[] = []
  const files = {
    ...site.files,
    realPath: (path: string) => {
      looked.push(path)
      return site.files?.realPath(path) ?? null
    },
  }
  const paths = Array.from({ length: 1000 }, (_, i) => `${'src/../'.repeat(40)}file ${i}`)

  it('a call that names very many files counts as dangerous and unreadable, and only a limited number of files is looked up', () => {
    looked.length = 0
    expect(riskOf({ write: paths }, { ...site, files })).toEqual({ level: 'dangerous', touches: ['unreadable'] })
    expect(looked.length).toBeLessThanOrEqual(1500)
  })
  it('a call that names very many files counts as dangerous and unreadable if its paths are very long', () => {
    const long = Array.from({ length: 100 }, (_, i) => `${i}${'x'.repeat(2000)}`)
    expect(riskOf({ read: long }, site)).toMatchObject({ level: 'dangerous', touches: ['unreadable'] })
    expect(riskOf({ read: long.slice(0, 60) }, site).touches).toEqual([])
  })
  it('a call that names very many files goes to a person, even if a rule would allow or deny it', () => {
    const rule = { madeBy: 'ada', madeAt: 0, version: 1 }
    const rules = new RuleSet([
      { ...rule, id: RuleId.parse(`rul_${'1'.repeat(20)}`), effect: 'allow', action: 'write', path: '/**' },
      { ...rule, id: RuleId.parse(`rul_${'2'.repeat(20)}`), effect: 'deny', path: '/never/**' },
    ])
    const call = { tool: 'Write', input: {}, cwd: site.cwd, action: { write: paths } }
    looked.length = 0
    expect(rules.evaluate(call, contextAt({ ...site, files }))).toMatchObject({
      verdict: 'ask',
      reason: expect.stringMatching(/too (?:many|long)/),
    })
    expect(looked.length).toBeLessThanOrEqual(1500)
  })
})
