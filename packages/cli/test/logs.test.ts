/** `holdpoint logs`, `status`, `stop`, `rename` and `delete` against a real gateway. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Session } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, holdpoint, startGateway } from '../../../test/support/gateway.ts'
import { environmentFor, runCliAgainst } from './support/cli-process.ts'
import { approvalAsk } from './support/gateway-fixture.ts'

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway({ runner: 'none' })
})
afterAll(closeGateways)
const cli = (...words: string[]) => runCliAgainst(gateway, words)

/** A session whose agent has said something, used a tool, and asks. */
async function startTalk(title: string) {
  const session = await gateway.call('startSession', { driver: 'external', title })
  await say(session, 'first')
  await gateway.call('appendEvents', {
    id: session.id,
    items: [
      { type: 'tool.started', tool: 'Bash', block: 'c1', input: { command: 'ls' } },
      { type: 'tool.finished', block: 'c1', ok: true, output: 'a.txt\nb.txt' },
    ],
  })
  await say(session, 'second')
  const request = await gateway.call('openRequest', { id: session.id, key: 'k', ask: approvalAsk({ command: 'make' }) })
  return { session, request }
}
let blocks = 0
function say({ id }: Session, text: string) {
  return gateway.call('appendEvents', { id, items: [{ type: 'message.added', block: `b${++blocks}`, text }] })
}

describe('holdpoint logs', () => {
  it('holdpoint logs prints the messages, tools and requests of a session in order, and the output of tools on demand', async () => {
    const { session } = await startTalk('talk')
    const { code, out } = await cli('logs', session.id)
    expect(code).toBe(0)
    expect(out).toBe(['  │ first', '', '▸ Bash  ls', '', '  │ second', '', '● Run a command  make', ''].join('\n'))
    expect((await cli('logs', session.id, '--output')).out).toContain('▸ Bash  ls\n  │ a.txt\n  │ b.txt\n')
  })

  it('holdpoint logs prints only the last entries with --limit, as text and as JSON', async () => {
    const { session } = await startTalk('limited')
    expect((await cli('logs', session.id, '--limit', '2')).out).toBe('  │ second\n\n● Run a command  make\n')
    const lines = (await cli('logs', session.id, '--limit', '1', '--json')).out.trim().split('\n')
    expect(lines.map(line => JSON.parse(line).type)).toEqual(['request.opened'])
    const all = (await cli('logs', session.id, '--json')).out.trim().split('\n')
    expect(JSON.parse(all[0] ?? '').type).toBe('session.opened')
    expect(all.length).toBe((await gateway.call('listEvents', { id: session.id, limit: 500 })).items.length)
    expect((await cli('logs', session.id, '--limit', '0')).code).toBe(2)
  })

  it.each([
    { options: [], first: '  │ first', next: '  │ third' },
    { options: ['--limit', '1'], first: '● Notable  Run a command  pending: ', next: '  │ third' },
    { options: ['--json'], first: '{"cursor"', next: '"text":"third"' },
  ])('holdpoint logs follows the session with -f $options', async ({ options, first, next }) => {
    const { session, request } = await startTalk('followed')
    const words = [holdpoint, 'logs', '-f', session.id, ...options]
    const child = spawn(process.execPath, words, { env: environmentFor(gateway), stdio: ['ignore', 'pipe', 'inherit'] })
    const seen: string[] = []
    for await (const line of createInterface(child.stdout)) {
      if (seen.push(line) === 1) {
        const answer = { kind: 'deny' as const, reason: 'not now' }
        await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer })
        await say(session, 'third')
      }
      if (line.includes(next)) break
    }
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
    const all = seen.join('\n')
    expect(all).toContain(first)
    expect(all.indexOf('not now')).toBeGreaterThan(0)
    expect(all.indexOf('not now')).toBeLessThan(all.indexOf(next))
  })
})

describe('holdpoint status', () => {
  it('holdpoint status counts pending requests and sessions, and says that no runner is connected', async () => {
    const { session } = await startTalk('counted')
    await gateway.call('openRequest', { id: session.id, key: 'rm', ask: approvalAsk({ command: 'git push --force' }) })
    const status = JSON.parse((await cli('status', '--json')).out)
    const pending = (await gateway.call('listRequests', { status: 'pending', limit: 500 })).items.length
    expect(status).toMatchObject({
      url: gateway.url,
      pending,
      dangerous: 1,
      overdue: 0,
      runners: 0,
      agents: [],
    })
    const { out } = await cli('status')
    expect(out).toContain(`Holdpoint is running at ${gateway.url}\n`)
    expect(out).toContain(`Requests    ${pending} pending, 1 dangerous\n`)
    expect(out).toContain('Runners     none, so no agent can be started\n')
  })
})

describe('holdpoint rename, stop and delete', () => {
  it('holdpoint rename changes the title of a session', async () => {
    const { session } = await startTalk('before')
    expect((await cli('rename', session.id.slice(4, 14), 'a', 'new', 'title')).out).toMatch(/“a new title”\n$/)
    expect(await gateway.call('getSession', { id: session.id })).toMatchObject({ title: 'a new title' })
  })
  it('holdpoint stop interrupts every session and withdraws its requests', async () => {
    const { session } = await startTalk('stopped')
    const { interrupted } = JSON.parse((await cli('stop', '--json')).out)
    expect(interrupted).toContain(session.id)
    expect((await gateway.call('getSession', { id: session.id })).pending).toBe(0)
    expect((await cli('stop')).code).toBe(0)
  })
  it('holdpoint delete removes only ended sessions, and needs --yes without a terminal', async () => {
    const { session } = await startTalk('deleted')
    const live = await cli('delete', session.id, '--yes')
    expect([live.code, live.err]).toEqual([1, expect.stringContaining('has not ended. End it first')])
    await gateway.call('endSession', { id: session.id })
    const unconfirmed = await cli('delete', session.id)
    expect([unconfirmed.code, unconfirmed.err]).toEqual([2, expect.stringContaining('Pass --yes')])
    expect((await cli('delete', session.id, '--yes')).out).toMatch(/^ses_\w+ was deleted\. {2}“deleted”\n$/)
    expect((await cli('show', session.id)).code).toBe(3)
  })
})

describe('lists in a pipe', () => {
  it('lists in a pipe have one line per item, with tabs between the cells and without a header row or a hint', async () => {
    const { session, request } = await startTalk('tab\there')
    const lines = (await cli('inbox')).out.trimEnd().split('\n')
    expect(lines.length).toBe((await gateway.call('listRequests', { status: 'pending', limit: 500 })).items.length)
    const line = lines.find(one => request.id.startsWith(one.split('\t')[0] ?? ' '))
    expect(line?.split('\t').slice(2)).toEqual(['', 'tab\\u{9}here', 'Notable', 'Run a command', 'make'])
    const rows = (await cli('sessions')).out
      .trimEnd()
      .split('\n')
      .map(row => row.split('\t'))
    expect(rows.every(cells => cells.length === 6)).toBe(true)
    expect(rows.find(([id = ' ']) => session.id.startsWith(id))?.slice(3, 5)).toEqual(['tab\\u{9}here', 'external'])
  })
  it('holdpoint sessions with --limit and --search leaves out ended sessions, and lists sessions that need a person first', async () => {
    const { session } = await startTalk('needle in a haystack')
    const idle = await gateway.call('startSession', { driver: 'external', title: 'needle too' })
    const ended = await gateway.call('startSession', { driver: 'external', title: 'needle that ended' })
    await gateway.call('endSession', { id: ended.id })
    const ids = async (...words: string[]) => {
      const { items } = JSON.parse((await cli('sessions', ...words, '--json')).out)
      return items.map(({ id }: Session) => id)
    }
    expect(await ids('--search', 'needle')).toEqual([session.id, idle.id])
    expect(await ids('--search', 'needle', '--limit', '1')).toEqual([session.id])
    expect(await ids('--search', 'needle', '--all')).toContain(ended.id)
  })
})

describe('holdpoint show', () => {
  it('holdpoint show finds a session by a prefix of its id, and lists its pending requests', async () => {
    const { session, request } = await startTalk('shown')
    const { out } = await cli('show', session.id.slice(4, 14))
    expect(out).toContain('▌ shown')
    expect(out).toContain(`Pending     ${request.id}  Run a command: make`)
  })
  it('holdpoint show prints what ran after an edited allow, and what is remembered', async () => {
    const { session } = await startTalk('edited')
    const ask = approvalAsk(
      { command: 'npm publish' },
      { suggestions: [{ id: 's1', label: 'Bash(npm test:*)', scope: 'session' }] },
    )
    const { id, digest } = await gateway.call('openRequest', { id: session.id, key: 'edit', ask })
    const answer = { kind: 'allow' as const, input: { command: 'npm test' }, note: 'not yet', suggestion: 's1' }
    await gateway.call('answerRequest', { id, digest, answer })
    const { out } = await cli('show', id)
    expect(out).toContain('Allowed with this input instead:\n  │ npm test\n')
    expect(out).toContain('Remembers   Bash(npm test:*) (this session)\n')
    expect(out).toContain('Note        not yet\n')
    expect(out.indexOf('npm publish')).toBeLessThan(out.indexOf('Allowed with this input'))
  })
  it('holdpoint show prints what the agent says about a call, unless it only repeats the call', async () => {
    const { session } = await startTalk('titles')
    const shown = async (title: string) => {
      const ask = { kind: 'approval', tool: 'Bash', input: { command: 'npm test' }, title, cwd: '/srv' } as never // the gateway validates the ask
      const { id } = await gateway.call('openRequest', { id: session.id, key: title, ask })
      return (await cli('show', id)).out
    }
    expect(await shown('Bash: npm test')).not.toContain('Agent says')
    expect(await shown('Run a command')).not.toContain('Agent says')
    expect(await shown('Check the fix')).toContain('Agent says  Check the fix\n')
  })
  it('holdpoint show prints the description of a command as what the agent says, not as a parameter', async () => {
    const { session } = await startTalk('descriptions')
    const input = { command: 'npm test', description: 'Check the fix', timeout: 60 }
    const ask = { kind: 'approval', tool: 'Bash', input, title: 'Run a command', cwd: '/srv' } as never // the gateway validates the ask
    const { id } = await gateway.call('openRequest', { id: session.id, key: 'described', ask })
    const { out } = await cli('show', id)
    expect(out).toContain('Agent says\n  │ Check the fix\n')
    expect(out).toContain('Other parameters\n  │ {"timeout":60}\n')
  })
  it('holdpoint show suggests --text for questions without options, and reads a secret from stdin', async () => {
    const { session } = await startTalk('questions')
    const question = (id: string, more: object) => ({ id, question: `${id}?`, ...more })
    const hint = async (...questions: object[]) => {
      const ask = { kind: 'questions', questions } as never // the gateway validates the ask
      const { id } = await gateway.call('openRequest', { id: session.id, key: JSON.stringify(questions), ask })
      return (await cli('show', id)).out
        .split('\n')
        .find(line => line.startsWith('holdpoint answer'))
        ?.slice(42)
    }
    expect(await hint(question('name', { allowOther: true }))).toBe('--text TEXT')
    expect(await hint(question('pass', { allowOther: true, secret: true }))).toBe('--text -')
    expect(await hint(question('a', { options: [{ label: 'x' }] }), question('b', { allowOther: true }))).toBe(
      '--choose QUESTION=LABEL --text QUESTION=TEXT',
    )
  })
})
