/** Tests that settings in which credentials are common are not read without a question: those of git and of package managers. */
import { describe, expect, it } from 'vitest'
import { checkArguments } from '../src/programs/check-arguments.ts'
import { makeSite } from './support/node-files.ts'

const head = { '.git/HEAD': 'ref: refs/heads/main' }
const plainConfig = '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.com/a/b.git\n'
const plain = makeSite({
  ...head,
  '.git/config': plainConfig,
  '.npmrc': 'save-exact=true\n',
  'src/a.ts': 'x',
})
const withTokens = makeSite({
  ...head,
  '.git/config': plainConfig.replace('https://', 'https://ana:ghp_0123456789@'),
  '.npmrc': '//registry.example.com/:_authToken=npm_0123456789\n',
  'packages/a/.yarnrc.yml': 'npmAuthToken: 0123456789\n',
  'src/a.ts': 'x',
})
const outcomeOf = (command: string, site = plain) => {
  const found = checkArguments(command.split(' '), site)
  return found.ok ? found.group : found.reason
}

describe('settings with credentials and the group of commands that only read', () => {
  it.each([
    ...['cat .git/config', 'head -5 .npmrc', 'grep url .git/config', 'sed -n 1p .npmrc', 'cat .yarnrc.yml'],
    ...[
      'cat .pypirc',
      'cat .netrc',
      'cat pip.conf',
      'cat .docker/config.json',
      'cat .git-credentials',
      'cat .gitconfig',
    ],
  ])('a person is asked about `%s`, whatever the file contains', command => {
    expect(outcomeOf(command)).toContain('may contain passwords or keys')
  })
  it('a person is asked about a search through a whole folder only if settings in it seem to contain a credential', () => {
    expect(outcomeOf('grep -r x .')).toBe('only-reads')
    expect(outcomeOf('grep -r x .', withTokens)).toContain('It would also read')
    expect(outcomeOf('grep -r x packages', withTokens)).toContain('.yarnrc.yml')
    expect(outcomeOf('grep -r x src', withTokens)).toBe('only-reads')
    expect(outcomeOf('rg x', withTokens)).toBe('only-reads')
  })
  it.each([
    'git remote -v',
    'git remote get-url origin',
    'git config remote.origin.url',
    'git config --get remote.origin.url',
  ])('`%s` only reads, unless the address may contain a password or a token', command => {
    expect(outcomeOf(command)).toBe('only-reads')
    expect(outcomeOf(command, withTokens)).toContain('may contain a password or a token')
  })
  it('a user name without a password in the address of a repository is no credential', () => {
    for (const url of ['git@example.com:a/b.git', 'ssh://git@example.com/a/b.git']) {
      const site = makeSite({ ...head, '.git/config': `[remote "origin"]\n\turl = ${url}\n` })
      expect(outcomeOf('git remote -v', site)).toBe('only-reads')
    }
  })
  it('a person is asked about `git config --list`, but not about `git remote`, which shows no address', () => {
    expect(outcomeOf('git remote', withTokens)).toBe('only-reads')
    expect(outcomeOf('git config --list')).not.toBe('only-reads')
  })
})
