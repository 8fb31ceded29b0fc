/** Tests for every program and every option with a value that an option in place of the value is refused: another version of the program might take it as an option. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkArguments, programs } from '../src/programs/check-arguments.ts'
import type { CallSite } from '../src/site.ts'

const folder = join(import.meta.dirname, '../src/programs')
const source = readdirSync(folder)
  .map(name => readFileSync(join(folder, name), 'utf8'))
  .join('\n')
/** Every option that some program of the lists takes with a value, `-n` or `--format`. */
const options = [...new Set([...source.matchAll(/[\s'"`](--?[\w.#-]+)\??=/g)].map(([, option]) => option as string))]
/** The names of git's commands, also of those with two words. */
const gitCommands = [...source.matchAll(/^ {2}(?:\[\n? *)?'([a-z-]+(?: [a-z-]+)?)',/gm)].map(
  ([, name]) => name as string,
)
const tools = ['tsc', 'vitest', 'jest', 'mocha', 'eslint', 'biome', 'prettier', 'oxlint']
/** A project without secrets, in memory, because there are very many combinations. */
const site: CallSite = {
  folder: '/repo',
  cwd: '/repo',
  home: '/home/dev',
  files: {
    realPath: path =>
      /\/(?:\.ripgreprc|post-index-change|\.gitmodules|config\.worktree|commondir)$/.test(path) ? null : path,
    readText: path =>
      path.endsWith('.git/config')
        ? '[core]\n\tbare = false\n'
        : path.endsWith('.git/HEAD')
          ? 'ref: refs/heads/main'
          : null,
    list: () => [],
  },
}

/** The words before the options. */
const starts: readonly (readonly string[])[] = [
  // All arguments of echo are text, and test takes one option and then a file.
  ...[...programs.keys()].filter(name => !['echo', 'test', '['].includes(name)).map(name => [name]),
  ...gitCommands.map(name => ['git', ...name.split(' ')]),
  ...['test', 'vet', 'build', 'list', 'doc'].map(name => ['go', name]),
  ...['check', 'test', 'clippy', 'doc', 'tree', 'metadata'].map(name => ['cargo', name]),
  ...['pytest', 'unittest', 'ruff', 'mypy', 'black', 'isort', 'flake8', 'pylint', 'pyright'].map(name => [
    'python',
    '-m',
    name,
  ]),
  ...tools.map(name => ['npx', name]),
  ['vitest', 'run'],
  ['npm', 'test'],
  ['npm', 'test', '--'],
  ['pnpm', 'test'],
  ['yarn', 'run', 'test'],
  ['bun', 'test'],
  ['bun', 'run', 'test'],
  ['node', '--test'],
  ['ruff', 'check'],
  ['biome', 'check'],
  ['golangci-lint', 'run'],
  ['cargo', 'test', '--'],
  ['cargo', 'clippy', '--'],
  ['python', 'manage.py', 'test'],
  ['make', 'test'],
  ['grep', 'x', 'src/a.ts'],
  ['git', '-C', 'src', 'log'],
]

function isProven(...argv: readonly string[]): boolean {
  return checkArguments(argv, site).ok
}

describe('an option in place of a value', () => {
  it('an option in place of a value is refused for every program and every option of the lists', () => {
    const proven: string[] = []
    for (const start of starts)
      for (const option of options)
        if (isProven(...start, option, '--output=src/a.ts', 'src/a.ts')) proven.push([...start, option].join(' '))
    expect(proven).toEqual([])
  })

  it('an option in place of a value is the only reason for the refusal, because the same options with a value are accepted', () => {
    const accepted = starts.flatMap(start =>
      options.filter(option => ['1', 'x'].some(value => isProven(...start, option, value))),
    )
    expect(options.length).toBeGreaterThan(200)
    expect(gitCommands).toEqual(expect.arrayContaining(['log', 'shortlog', 'stash list', 'diff-tree']))
    expect(accepted.length).toBeGreaterThan(400)
  })

  it('an option in place of a value is still accepted if it is a negative number or a dash alone and every version takes it as a value', () => {
    expect(isProven('head', '-n', '-5', 'src/a.ts')).toBe(true)
    expect(isProven('cut', '-d', '-', '-f', '1', 'src/a.ts')).toBe(true)
    expect(isProven('find', '.', '-size', '-10k', '-mtime', '-1')).toBe(true)
  })
})

describe('a value that is joined with a short option', () => {
  it('a value that is joined with a short option is refused for tools that read each letter as an option, such as -tc=FILE, which names a settings file', () => {
    for (const argv of [
      ['jest', '-tc=/tmp/evil.js'],
      ['mocha', '-gr=/tmp/evil.js'],
      ['npx', 'vitest', 'run', '-tc=/tmp/evil.mjs'],
      ['npm', 'test', '--', '-tc=/tmp/evil.mjs'],
      ['bun', 'test', '-tc=/tmp/evil.toml'],
      ['tsc', '-tsBuildInfoFile', 'src/a.ts'],
    ])
      expect(isProven(...argv), argv.join(' ')).toBe(false)
  })
})
