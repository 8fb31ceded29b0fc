/** `holdpoint rules` against a real gateway: adding, changing, testing and importing rules. */
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Output, Request } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../../../test/support/gateway.ts'
import { runCliAgainst } from './support/cli-process.ts'
import { closeTerminals, Terminal } from './support/terminal.ts'

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway()
})
afterEach(closeTerminals)
afterAll(closeGateways)

async function rules(...words: string[]): Promise<string> {
  const { code, out, err } = await runCliAgainst(gateway, ['rules', ...words])
  expect([code, err], words.join(' ')).toEqual([0, ''])
  return out
}
async function rulesJson<T>(...words: string[]): Promise<T> {
  return JSON.parse(await rules(...words, '--json')) as T // with --json, a command prints the output of its operation
}
type Rule = Output<'addRule'>

/** Asks for a command in the folder in which the commands run. */
async function ask(command: string): Promise<Request> {
  const { id } = await gateway.call('startSession', { driver: 'external', cwd: gateway.folder })
  const input = { command }
  const cwd = gateway.folder
  const request = { kind: 'approval', tool: 'Bash', input, title: command, cwd, editable: true } as const
  return gateway.call('openRequest', { id, key: 'k', ask: request })
}

describe('holdpoint rules', () => {
  it('holdpoint rules adds a rule for the current folder that answers a pending request, lists the rule and removes it', async () => {
    const request = await ask('npm run check')
    const rule = await rulesJson<Rule>('add', 'allow', '--command', 'npm run check', '--uses', '3', '--expires', '2h')
    expect(rule).toMatchObject({
      effect: 'allow',
      command: 'npm run check',
      scope: { cwd: gateway.folder },
      usesLeft: 3,
    })
    await expect
      .poll(async () => (await gateway.call('getRequest', { id: request.id })).resolution)
      .toMatchObject({ by: 'rule', rule: rule.id, ruleVersion: 1 })
    const listed = await rules('list')
    expect(listed).toContain('Allow npm run check')
    expect(listed).toMatch(/2 uses left/)
    expect(await rules('explain', request.id)).toContain(`Rule ${rule.id}, version 1`)
    expect(await rules('remove', rule.id.slice(0, 12))).toContain('Removed')
    expect(await rules('list')).not.toContain('npm run check')
  })
  it('holdpoint rules list on a narrow terminal shows the rules and leaves out less important columns', async () => {
    const { id } = await gateway.call('addRule', { effect: 'deny', command: 'git push' })
    const terminal = new Terminal(['rules', 'list', '--home', gateway.home.path], { columns: 50 })
    expect(await terminal.exit).toBe(0)
    await terminal.waitFor(new RegExp(`^${id.slice(0, 10)} +Deny git push`, 'm'))
    expect(terminal.text()).toMatch(/^built-in +Built-in: Holdpoint’s own data folder$/m)
    await gateway.call('removeRule', { id })
  })
  it('holdpoint rules explain applies the rules for the session that asked', async () => {
    const request = await ask('npm run scoped')
    const scope = { session: request.session }
    const { id } = await gateway.call('addRule', { effect: 'deny', command: 'npm run scoped', scope })
    expect(await rules('explain', request.id)).toMatch(new RegExp(`Denied\\.[^]*${id}`))
    await gateway.call('removeRule', { id })
  })
  it('holdpoint rules check and explain list the watchers that can deny a call or ask about it, because they are not part of the check', async () => {
    const request = await ask('git commit --amend')
    expect(await rules('check', 'git commit')).not.toContain('watchers')
    const watch = [
      { name: 'no-commit', on: 'before', command: 'git commit', do: { deny: 'Run the tests first.' } },
      { name: 'told', on: 'before', command: 'git commit', do: { say: 'A commit is coming.' } },
    ]
    writeFileSync(join(gateway.home.path, 'holdpoint.rules.json'), JSON.stringify({ watch }))
    const listed = /These are the rules only[\s\S]*\n {2}no-commit {2}before git commit: denies\n$/
    await expect.poll(() => rules('check', 'git commit')).toMatch(listed)
    expect(await rules('explain', request.id)).toMatch(listed)
    rmSync(join(gateway.home.path, 'holdpoint.rules.json'))
    await expect.poll(() => rules('check', 'git commit')).not.toContain('watchers')
  })
  it('holdpoint rules changes, pauses and resumes a rule', async () => {
    const { id } = await rulesJson<Rule>('add', 'deny', '--command', 'git push', '--message', 'Ask me first.')
    expect(await rulesJson<Rule>('edit', id, '--note', 'releases are manual')).toMatchObject({
      command: 'git push',
      message: 'Ask me first.',
      note: 'releases are manual',
      version: 2,
    })
    expect(await rules('check', 'sudo git push --force')).toMatch(/^Denied\.\n {2}Ask me first\./)
    await rules('pause', id)
    expect(await rules('check', 'git push')).toMatch(/^A person is asked\./)
    await rules('resume', id)
    expect(await rules('check', 'git push')).toMatch(/^Denied\./)
    await rules('remove', id)
  })
  it('POST /rules/check says which arguments are covered by a draft rule with the grammar of a program', async () => {
    const cwd = realpathSync(gateway.folder)
    const draft = { effect: 'allow', command: 'npm test', args: 'grammar', scope: { cwd } }
    const check = async (command: string) => {
      const call = { kind: 'approval', tool: 'Bash', input: { command }, title: command, cwd, editable: true }
      const reply = await fetch(`${gateway.url}/api/v1/rules/check`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ask: call, rules: [draft] }),
      })
      return [reply.status, await reply.json()]
    }
    const allowed = expect.objectContaining({ verdict: 'allow' })
    const asked = expect.objectContaining({ verdict: 'ask' })
    expect(await check('npm test')).toEqual([200, allowed])
    expect(await check('npm test -- --testNamePattern adds a.test.ts')).toEqual([200, allowed])
    expect(await check('npm test --prefix evil')).toEqual([200, asked])
    expect(await check('npm test deploy')).toEqual([200, asked])
    expect(await check('npm run build')).toEqual([200, asked])
  })
  it('holdpoint rules lists the rules from a project’s file with the path of the file, and cannot change them', async () => {
    const file = join(realpathSync(gateway.folder), 'holdpoint.rules.json')
    const draft = { effect: 'deny', command: 'git fetch', note: 'fake a built-in rule' }
    writeFileSync(file, JSON.stringify({ rules: [draft, { effect: 'allow', command: 'make docs' }] }))
    const request = await ask('git fetch')
    expect(request.resolution).toMatchObject({ by: 'rule', answer: { kind: 'deny' } })
    const listed = (await rules('list')).split('\n').filter(line => line.includes('holdpoint.rules.json'))
    expect(listed.find(line => line.includes('Deny git fetch'))).not.toContain('not trusted')
    expect(listed.find(line => line.includes('Allow make docs'))).toContain('file is not trusted')
    const refused = await runCliAgainst(gateway, ['rules', 'remove', request.resolution?.rule ?? ''])
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`Change it there: ${file}`) })
    rmSync(file)
    const sources = async () => (await gateway.call('listRules', {})).items.flatMap(({ source }) => source ?? [])
    await expect.poll(sources).toEqual([])
  })
  it('holdpoint rules shows what a rule would have matched', async () => {
    const request = await ask('npm run lint')
    await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'deny' } })
    const preview = await rules('preview', 'allow', '--command', 'npm run lint')
    expect(preview).toContain('It would have matched 1 request today: denied by you.')
    expect(preview).toContain('deny npm run lint')
  })
  it('holdpoint rules imports the settings of Claude Code and says what is left out', async () => {
    mkdirSync(join(gateway.folder, '.claude'), { recursive: true })
    const permissions = { allow: ['Bash(npm run build)', 'Bash(bash:*)'], deny: ['Bash(rm:*)'] }
    writeFileSync(join(gateway.folder, '.claude', 'settings.json'), JSON.stringify({ permissions }))
    expect(await rules('import', '--dry-run')).toContain('2 rules would be added.')
    const imported = await rules('import')
    expect(imported).toContain('2 rules added.')
    expect(imported).toContain('1 entry was left out.')
    expect(await rules('check', 'rm x')).toMatch(/^Denied\./)
    expect(await rules('check', 'npm run build')).toMatch(/^Allowed\./)
  })
  it.each([
    [['add', 'allow', '--tool', 'Bash'], 1, /too broad/],
    [['add', 'allow', '--command', 'ls $HOME'], 1, /cannot prove/],
    [['add', 'allow', '--command', 'ls', '--expires', 'soon'], 2, /is not a time/],
    [['add', 'allow', '--command', 'ls', '--uses', '0'], 2, /not a number of uses/],
    [['remove', 'rul_zzz'], 3, /There is no rule/],
    [['import', 'nowhere.json'], 3, /There is no /],
  ] as const)('holdpoint rules %j ends with exit code %i and says what is wrong', async (words, code, message) => {
    const result = await runCliAgainst(gateway, ['rules', ...words])
    expect([result.code, result.out]).toEqual([code, ''])
    expect(result.err).toMatch(message)
  })
})
