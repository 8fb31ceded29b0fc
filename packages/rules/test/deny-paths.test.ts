/** Tests that deny rules for a path beat allow rules, also if a command reaches the path through another folder or reads a folder that contains it, and that exact rules do not let a program run code from a pipe. */
import type { Rule, ToolCall } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { RuleSet, ruleProblem } from '../src/index.ts'
import { makeSite } from './support/node-files.ts'
import { contextAt } from './support/rule-context.ts'

const site = makeSite({
  'src/private/a.txt': 'TOP',
  'src/b.txt': '',
  'd2/c.txt': '',
  'keys/.env': 'x',
  link: '->src',
  inner: '->src/private',
  'a folder with a very long name/that contains/another folder with a very long name/x/y.txt': '',
  short: '->a folder with a very long name/that contains/another folder with a very long name',
})
const context = contextAt(site)
const scope = { cwd: site.folder }
const ruleOf = (draft: Partial<Rule>, index: number): Rule => ({
  effect: 'allow',
  scope,
  ...draft,
  id: `rul_${String(index).padStart(20, '0')}` as Rule['id'], // a valid id
  madeBy: 'ada',
  madeAt: 0,
  version: 1,
})
const evaluate = (drafts: readonly Partial<Rule>[], call: ToolCall) =>
  new RuleSet(drafts.map(ruleOf)).evaluate(call, context)
const bash = (command: string): ToolCall => ({ tool: 'Bash', input: { command }, cwd: site.folder })
const read = (tool: string, ...paths: readonly string[]): ToolCall => ({
  tool,
  input: {},
  cwd: site.folder,
  action: { read: [...paths] },
})
const onlyReads: Partial<Rule> = { group: 'only-reads' }

describe.each(['deny', 'ask'] as const)(
  'a rule with the effect %s for src/private/**, beside the group only-reads',
  effect => {
    const drafts = [{ effect, path: 'src/private/**' }, onlyReads]
    it.each([
      'cat src/private/a.txt',
      'cd src && cat private/a.txt',
      'cd ./src && head -n 5 ./private/a.txt',
      'cd d2 && cd ../src && cat private/a.txt',
      'cd link && cat private/a.txt',
      'git -C src diff private/a.txt',
      'git -C d2 -C ../src diff private/a.txt',
      'tar -C src -c private',
      'make --directory=src private/a.txt',
      'cd src; (cat private/a.txt)',
    ])('a rule for src/private/** matches %j', command => expect(evaluate(drafts, bash(command)).verdict).toBe(effect))
    it.each([
      'grep -r . src',
      'grep -r . link',
      'cd src && grep -r .',
      'rg TOP',
      'rg TOP .',
      'diff -r src d2',
      'git log -p -- src',
      'git diff',
      'git grep TOP',
    ])(
      'a rule for src/private/** makes a person decide about %j, which reads a folder that contains the path',
      command => expect(evaluate(drafts, bash(command)).verdict).toBe('ask'),
    )
    it.each([
      'ls src',
      'ls -R',
      'find . -name a.txt',
      'tree src',
      'cat src/b.txt',
      'grep -r . d2',
      'cd src && cat b.txt',
    ])('a rule for src/private/** does not match %j, which reads other files or only lists names', command =>
      expect(evaluate(drafts, bash(command)).verdict).toBe('allow'),
    )
  },
)

describe('a rule that denies a path with special characters', () => {
  const odd = makeSite({ 'my files/a.txt': '', 'a,b/c.txt': '', 'x=y/c.txt': '', 'p@q:r/c.txt': '', '{z}/c.txt': '' })
  const verdictFor = (path: string, command: string) => {
    const rules = [onlyReads, { effect: 'deny', path } as const].map(rule => ({ scope: { cwd: odd.folder }, ...rule }))
    const call = { tool: 'Bash', input: { command }, cwd: odd.folder }
    return new RuleSet(rules.map(ruleOf)).evaluate(call, contextAt(odd)).verdict
  }
  it('a rule that denies a path with a space matches the path in any quotes', () => {
    for (const command of [
      "cat 'my files/a.txt'",
      'cat "my files/a.txt"',
      'cat my\\ files/a.txt',
      "cat $'my files/a.txt'",
      'cat \'my \'"files/"a.txt',
      "cat './my files/../my files/a.txt'",
      `cat '${odd.folder}/my files/a.txt'`,
      "ls && cat 'my files/a.txt' | wc -l",
      `bash -c "cat 'my files/a.txt'"`,
      `bash -c 'bash -c "cat \\"my files/a.txt\\""'`,
      "wc --files0-from='my files/a.txt'",
      "grep -f'my files/a.txt' x",
      "cat < 'my files/a.txt'",
    ])
      for (const path of ['my files/**', 'my files/a.txt'])
        expect(verdictFor(path, command), `${path}: ${command}`).toBe('deny')
    expect(verdictFor('my files/**', "cat 'other files/a.txt'")).toBe('allow')
  })
  it('a rule that denies a path with a comma, an equals sign, a colon or braces matches the path', () => {
    for (const folder of ['a,b', 'x=y', 'p@q:r', '{z}'])
      for (const command of [`cat '${folder}/c.txt'`, `cat "${folder}"/c.txt`])
        expect(verdictFor(`${folder}/**`, command), command).toBe('deny')
    expect(verdictFor('a,b/**', 'cat a,b/c.txt')).toBe('deny')
  })
  it('a rule that denies a path matches the path directly after the letter of an option', () => {
    expect(
      evaluate([onlyReads, { effect: 'deny', path: 'src/private/**' }], bash('grep -fsrc/private/a.txt src/b.txt'))
        .verdict,
    ).toBe('deny')
  })
})

describe('a rule that denies, in a folder with links', () => {
  const deny = (draft: Partial<Rule>): Partial<Rule>[] => [
    onlyReads,
    { action: 'write', path: 'src/**' },
    { effect: 'deny', ...draft },
  ]
  const write = (path: string): ToolCall => ({ tool: 'T', input: {}, cwd: site.folder, action: { write: [path] } })
  it('in a folder with links, a rule that denies matches a new file that a call reaches through a link', () => {
    for (const path of ['src/private/new.txt', 'link/private/new.txt', 'link/private/new/new.txt'])
      expect(evaluate(deny({ path: 'src/private/**' }), write(path)).verdict, path).toBe('deny')
    expect(evaluate(deny({ path: 'src/new.txt' }), write('link/new.txt')).verdict).toBe('deny')
    expect(evaluate(deny({ path: 'src/private/**' }), write('src/new.txt')).verdict).toBe('allow')
  })
  it('in a folder with links, a rule that denies matches a path with two dots after a link or a missing folder, whichever of them is resolved first', () => {
    for (const command of ['inner/../private', 'inner/../src/private', 'gone/../src/private'].map(
      at => `cat ${at}/a.txt`,
    ))
      expect(evaluate([{ command }, ...deny({ path: 'src/private/**' })], bash(command)).verdict, command).toBe('deny')
  })
  it('in a folder with links, a rule that denies matches the file itself if the rule names a link to it', () => {
    for (const path of ['link/private/**', 'link/private/a.txt', 'inner/a.txt', `${site.folder}/link/**`])
      expect(evaluate(deny({ path }), bash('cat src/private/a.txt')).verdict, path).toBe('deny')
    expect(evaluate(deny({ path: 'link/new.txt' }), write('src/new.txt')).verdict).toBe('deny')
    expect(evaluate(deny({ path: 'link/private/**' }), bash('cat src/b.txt')).verdict).toBe('allow')
  })
  it('in a folder with links, a rule that denies a path through a link matches if the real path is much longer', () => {
    const long = 'a folder with a very long name/that contains/another folder with a very long name'
    for (const path of ['short/**', 'short/x/**', 'short/x/y.txt'])
      expect(evaluate(deny({ path }), bash(`cat '${long}/x/y.txt'`)).verdict, path).toBe('deny')
    expect(evaluate(deny({ path: 'short/z/**' }), bash(`cat '${long}/x/y.txt'`)).verdict).toBe('allow')
  })
  it('in a folder with links, a rule that denies makes a person decide about a search of the folder if the rule names a link to a path in it', () => {
    for (const path of ['link/private/**', 'inner/a.txt'])
      expect(evaluate(deny({ path }), bash('grep -r . src')).verdict, path).toBe('ask')
    expect(evaluate(deny({ path: 'link/private/**' }), bash('grep -r . d2')).verdict).toBe('allow')
  })
  it('in a folder with links, a rule that denies matches in the folder to which the folder of the rule leads', () => {
    const inLink = { scope: { cwd: `${site.folder}/link` } }
    const inFolder = (cwd: string) => ({ ...bash('cat b.txt'), cwd: `${site.folder}/${cwd}` })
    for (const cwd of ['src', 'link', 'src/private'])
      expect(evaluate(deny(inLink), inFolder(cwd)).verdict, cwd).toBe('deny')
    expect(evaluate(deny(inLink), bash('cat src/b.txt')).verdict).toBe('allow')
    const inSrc = { scope: { cwd: `${site.folder}/src` } }
    for (const cwd of ['src', 'link', 'inner']) expect(evaluate(deny(inSrc), inFolder(cwd)).verdict, cwd).toBe('deny')
  })
})

describe('a search through a folder that contains a denied path', () => {
  it('a search through a folder that contains a denied path says which rule is the reason for the question', () => {
    const { reason, rules } = evaluate([{ effect: 'deny', path: 'src/private/**' }, onlyReads], bash('grep -r . src'))
    expect(reason).toBe(
      'This reads a folder that contains src/private/**, for which there is the rule “deny src/private/**”.',
    )
    expect(rules).toEqual([])
  })
  it('a search through a folder that contains a denied path is allowed if the denied path is a secret that the search is known to skip', () => {
    const drafts = [{ effect: 'deny' as const, path: 'keys/.env' }, onlyReads]
    expect(evaluate(drafts, bash('rg TOP')).verdict).toBe('allow')
    expect(evaluate(drafts, bash('cat keys/.env')).verdict).toBe('deny')
  })
  it('a search through a folder that contains a denied path is not allowed by an exact rule for a program whose arguments are not known', () => {
    const drafts = [{ effect: 'deny' as const, path: 'src/private/**' }, { command: 'tar -cf x.tar src' }]
    expect(evaluate(drafts, bash('tar -cf x.tar src')).verdict).toBe('ask')
  })
})

describe('a rule that allows reading a folder', () => {
  const allow: Partial<Rule> = { action: 'read', path: `${site.folder}/**` }
  it('a rule that allows reading a folder allows a search through a folder without secrets', () => {
    expect(evaluate([allow], read('Grep', 'src')).verdict).toBe('allow')
  })
  it.each(['keys', '.', site.folder])(
    'a rule that allows reading a folder does not allow a search through %j, which contains a secret',
    path => {
      expect(evaluate([allow], read('Grep', path)).verdict).toBe('ask')
      expect(evaluate([{ action: 'read', path: site.folder }], read('Grep', site.folder)).verdict).toBe('ask')
    },
  )
  it('a rule that allows reading a folder does not allow a search through a folder that contains a denied path', () => {
    expect(evaluate([{ effect: 'deny', path: 'src/private/**' }, allow], read('Grep', 'src')).verdict).toBe('ask')
    expect(evaluate([{ effect: 'deny', path: 'src/private/**' }, allow], read('Read', 'src/b.txt')).verdict).toBe(
      'allow',
    )
  })
})

describe('an exact rule for a program that reads from a pipe', () => {
  it.each([
    ['patch -p1', 'cat src/b.txt | patch -p1'],
    ['crontab -', 'echo x | crontab -'],
    ['bash -s', "echo 'touch x' | bash -s"],
    ['node -', 'cat src/b.txt | node -'],
  ])('an exact rule for %j does not allow %j', (command, text) => {
    expect(evaluate([{ command }, onlyReads], bash(text)).verdict).toBe('ask')
    expect(evaluate([{ command }, onlyReads], bash(command)).verdict).toBe('allow')
  })
  it('an exact rule for a program that reads from a pipe allows a program whose arguments are known', () => {
    expect(
      evaluate([{ command: 'cat src/b.txt' }, { command: 'head -n 5' }], bash('cat src/b.txt | head -n 5')),
    ).toMatchObject({ verdict: 'allow' })
  })
  it.each(['bash', 'sh', '/bin/zsh', 'python3', 'node', 'perl'])(
    'an exact rule cannot be added for the interpreter %j alone',
    command => {
      expect(ruleProblem({ effect: 'allow', command, scope })).toMatch(/runs whatever it reads/)
      expect(evaluate([{ command }, onlyReads], bash(`echo x | ${command}`)).verdict).toBe('ask')
    },
  )
})
