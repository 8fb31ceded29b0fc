/** Runs every example in examples/ against a real gateway. */
import { spawn, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Answer, Request } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import {
  cleanEnvironment,
  closeGateways,
  type GatewayProcess,
  holdpoint,
  shortPause,
  startGateway,
} from './support/gateway.ts'

const root = resolve(import.meta.dirname, '..')
const examples = join(root, 'examples')
let gateway: GatewayProcess
let folder: string
let agentToken: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-examples-'))
  const guide = readFileSync(join(root, 'docs/write-an-agent.md'), 'utf8')
  writeFileSync(join(folder, 'release.mjs'), /```js\n([\s\S]*?)```/.exec(guide)?.[1] ?? '')
  const agents = { cleanup: join(examples, 'generator-agent/cleanup.mjs'), release: join(folder, 'release.mjs') }
  gateway = await startGateway({ runner: 'inline', config: { agents } })
  agentToken = (await gateway.call('addToken', { role: 'agent', name: 'example' })).secret
})
afterAll(async () => {
  await closeGateways()
  rmSync(folder, { recursive: true, force: true })
})

async function nextPending(): Promise<Request> {
  for (;;) {
    const [request] = (await gateway.call('listRequests', { status: 'pending' })).items
    if (request) return request
    await shortPause()
  }
}
const answer = (request: Request, given: Answer) =>
  gateway.call('answerRequest', { id: request.id, digest: request.digest, answer: given })

function run(program: string, args: readonly string[], address: NodeJS.ProcessEnv = { HOLDPOINT_URL: gateway.url }) {
  const env = { ...cleanEnvironment(), ...address, HOLDPOINT_TOKEN: agentToken }
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...env, HOLDPOINT_BIN: `${process.execPath} ${holdpoint}` },
  })
  let out = ''
  let err = ''
  child.stdout.on('data', chunk => {
    out += chunk
  })
  child.stderr.on('data', chunk => {
    err += chunk
  })
  return new Promise<{ code: number | null; out: string; err: string }>(done =>
    child.once('close', code => done({ code, out, err })),
  )
}

/** Node 20 cannot run TypeScript files, so the example is compiled first, which also checks its types. */
function compiled(file: string): string {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const options = ['--module', 'nodenext', '--target', 'es2023', '--strict', '--types', 'node']
  const typeRoots = ['--typeRoots', join(root, 'node_modules/@types')]
  const { status, stdout } = spawnSync(process.execPath, [tsc, file, ...options, ...typeRoots, '--outDir', folder], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
  expect(status).toBe(0)
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  return join(folder, 'agent.js')
}

/** Copies an example into a folder in which only the client library and its dependencies are installed. */
function withClientLibrary(file: string): string {
  const folderOfAgent = join(folder, 'client-agent')
  const copy = join(folderOfAgent, 'agent.mjs')
  if (existsSync(copy)) return copy
  for (const name of ['client', 'protocol']) {
    const to = join(folderOfAgent, 'node_modules/@holdpoint', name)
    cpSync(join(root, 'packages', name, 'dist'), join(to, 'dist'), { recursive: true })
    copyFileSync(join(root, 'packages', name, 'package.json'), join(to, 'package.json'))
  }
  for (const name of ['diff', 'eventsource-parser', 'marked', 'zod'])
    symlinkSync(join(root, 'node_modules', name), join(folderOfAgent, 'node_modules', name))
  copyFileSync(file, copy)
  return copy
}

describe.each([
  [
    'JavaScript with the client library',
    () => [process.execPath, withClientLibrary(join(examples, 'client-agent/agent.mjs'))],
  ],
  ['bash', () => ['bash', join(examples, 'http-agent/agent.sh')]],
  ['Python', () => ['python3', join(examples, 'http-agent/agent.py')]],
  ['TypeScript', () => [process.execPath, compiled(join(examples, 'http-agent/agent.ts'))]],
] as const)('the HTTP agent in %s', (_language, commandLine) => {
  const start = (command: string) => {
    const [program = '', ...args] = commandLine()
    return run(program, [...args, command])
  }

  it('an HTTP agent runs its command when the command is allowed, reports the delivery and ends its session', async () => {
    const finished = start('echo "$((20 + 22))"')
    const request = await nextPending()
    await answer(request, { kind: 'allow' })
    expect(await finished).toMatchObject({ code: 0, out: '42\n' })
    expect((await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('taken')
    expect((await gateway.call('getSession', { id: request.session })).state).toBe('ended')
  })
  it('an HTTP agent runs the command as the person edited it', async () => {
    const finished = start('echo original')
    await answer(await nextPending(), { kind: 'allow', input: { command: 'echo edited' } })
    expect(await finished).toMatchObject({ code: 0, out: 'edited\n' })
  })
  it('an HTTP agent runs nothing when its request is denied, and prints the reason', async () => {
    const finished = start('echo ran > ran.txt')
    await answer(await nextPending(), { kind: 'deny', reason: 'not today' })
    expect(await finished).toMatchObject({ code: 1, err: expect.stringContaining('not today') })
    expect(existsSync(join(folder, 'ran.txt'))).toBe(false)
  })
})

describe('the Python module', () => {
  const script = (lines: readonly string[], address?: NodeJS.ProcessEnv) => {
    const file = join(folder, 'script.py')
    const path = `import sys; sys.path.insert(0, ${JSON.stringify(join(examples, 'http-agent'))})`
    writeFileSync(file, [path, 'from holdpoint import Agent', ...lines].join('\n'))
    return run('python3', [file], address)
  }

  it('the Python module asks questions and shows forms', async () => {
    const finished = script([
      'with Agent("asker") as agent:',
      '    agent.say("Two questions.")',
      '    print(agent.questions([{"id": "size", "question": "Which size?", "options": [{"label": "S"}, {"label": "L"}]}])[0]["chosen"])',
      '    print(agent.form("Release", {"type": "object", "properties": {"version": {"type": "string"}}})["version"])',
      '    print(agent.questions([{"id": "name", "question": "Which name?", "options": [{"label": "A"}]}]))',
    ])
    await answer(await nextPending(), { kind: 'answers', answers: [{ id: 'size', chosen: ['L'] }] })
    await answer(await nextPending(), { kind: 'submit', values: { version: '2.0' } })
    await answer(await nextPending(), { kind: 'decline' })
    expect(await finished).toMatchObject({ code: 0, out: "['L']\n2.0\nNone\n", err: '' })
  })
  it('the Python module that ends after it has asked continues its session after a restart, and finds its request by the request key', async () => {
    const asked = await script([
      'import os',
      'agent = Agent("restarted")',
      'ask = {"kind": "approval", "tool": "Bash", "input": {"command": "ls"}, "title": "List"}',
      'agent._call(f"/sessions/{agent.id}/requests", {"fence": agent._fence, "key": "list", "ask": ask})',
      'os._exit(0)',
    ])
    expect(asked).toMatchObject({ code: 0, err: '' })
    const request = await nextPending()
    await answer(request, { kind: 'allow' })
    const finished = script([
      `with Agent("restarted", session="${request.session}") as agent:`,
      '    print(agent.approval("Bash", {"command": "ls"}, title="List", key="list").allowed)',
    ])
    expect(await finished).toMatchObject({ code: 0, out: 'True\n', err: '' })
  })
  it('the Python module ends the session as failed after an error, and says why the gateway refused a call', async () => {
    const finished = script([
      'with Agent("failing") as agent:',
      '    agent.approval("Bash", {"command": "ls"}, action={"read": ["/etc/passwd"]})',
    ])
    expect((await finished).err).toContain('holdpoint.Refused: ')
    const [session] = (await gateway.call('listSessions', { limit: 1 })).items
    expect(session).toMatchObject({ title: 'failing', state: 'ended', ending: { reason: 'failed' } })
  })
})

describe('the Python module and its token', () => {
  const lines = ['with Agent("careful") as agent:', '    print(agent.approval("Bash", {"command": "ls"}).allowed)']
  const program = () => {
    const file = join(folder, 'careful.py')
    const path = `import sys; sys.path.insert(0, ${JSON.stringify(join(examples, 'http-agent'))})`
    writeFileSync(
      file,
      [path, 'import holdpoint; holdpoint.RETRY_SECONDS = 0', 'from holdpoint import Agent', ...lines].join('\n'),
    )
    return file
  }

  it('without a URL, the Python module uses the Unix socket of the data folder', async () => {
    const finished = run('python3', [program()], { HOLDPOINT_HOME: gateway.home.path })
    await answer(await nextPending(), { kind: 'allow' })
    expect(await finished).toMatchObject({ code: 0, out: 'True\n', err: '' })
  })
  it('a program that has taken the port of the gateway does not get the token', async () => {
    let received = ''
    const impostor = createServer((request, reply) => {
      received += `${request.url} ${JSON.stringify(request.headers)}\n`
      request.resume().on('end', () => reply.end(JSON.stringify({ address: '127.0.0.1', proof: '0'.repeat(64) })))
    })
    await new Promise<void>(done => impostor.listen(0, '127.0.0.1', done))
    const { port } = impostor.address() as AddressInfo
    const { code, err } = await run('python3', [program()], { HOLDPOINT_URL: `http://localhost:${port}` })
    impostor.close()
    expect(code).toBe(1)
    expect(err).toContain('did not prove that it knows your token')
    expect(received).toMatch(/^\/api\/v1\/proof .*\n$/)
    expect(received).not.toContain(agentToken)
  })
  it('the Python module sends no token over http:// to another machine', async () => {
    const { code, err } = await run('python3', [program()], { HOLDPOINT_URL: 'http://192.0.2.1:4747' })
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('unencrypted') })
  })
})

describe('the generator agent', () => {
  it('the generator agent deletes exactly the files that were approved', async () => {
    const [old, kept, fresh] = ['old.log', 'kept.log', 'fresh.log'].map(name => join(folder, name)) as [
      string,
      string,
      string,
    ]
    for (const file of [old, kept, fresh]) writeFileSync(file, 'x')
    const lastMonth = new Date(Date.now() - 31 * 24 * 3600 * 1000)
    for (const file of [old, kept]) utimesSync(file, lastMonth, lastMonth)
    const session = await gateway.call('startSession', { driver: 'cleanup', cwd: folder, prompt: 'Clean up' })
    const question = await nextPending()
    const id = question.ask.kind === 'questions' ? (question.ask.questions[0]?.id ?? '') : ''
    await answer(question, { kind: 'answers', answers: [{ id, chosen: ['7 days'] }] })
    const request = await nextPending()
    expect(request.ask).toMatchObject({ kind: 'approval', input: { files: ['kept.log', 'old.log'] } })
    await answer(request, { kind: 'allow', input: { files: ['old.log'] } })
    while ((await gateway.call('getSession', { id: session.id })).state !== 'idle') await shortPause()
    expect([old, kept, fresh].map(file => existsSync(file))).toEqual([false, true, true])
    expect((await gateway.call('getSession', { id: session.id })).lastMessage).toBe('Deleted old.log.')
  })
})

describe('docs/write-an-agent.md', () => {
  it('docs/write-an-agent.md has a generator agent that runs and asks every kind of question', async () => {
    const session = await gateway.call('startSession', { driver: 'release', cwd: folder, prompt: 'version 2' })
    const seen: string[] = []
    for (const kind of ['approval', 'choice', 'text', 'secret', 'questions', 'form', 'all', 'all']) {
      const request = await nextPending()
      seen.push(request.ask.kind)
      await answer(request, answerTo(request, kind))
    }
    expect(seen).toEqual([
      'approval',
      'questions',
      'questions',
      'questions',
      'questions',
      'form',
      'approval',
      'approval',
    ])
    while ((await gateway.call('getSession', { id: session.id })).state !== 'idle') await shortPause()
    const { lastMessage } = await gateway.call('getSession', { id: session.id })
    expect(lastMessage).toBe('Released 2.0.0 to next. Docs: true, site: true.')
  })

  function answerTo({ ask }: Request, kind: string): Answer {
    if (ask.kind === 'form') return { kind: 'submit', values: { version: '2.0.0' } }
    if (ask.kind === 'approval') return { kind: 'allow', ...(kind === 'approval' && { input: { command: 'true' } }) }
    const chosen = { choice: ['next'], questions: ['Chat'] }[kind] ?? []
    const [first] = ask.questions
    return {
      kind: 'answers',
      answers: [{ id: first?.id ?? '', chosen, ...(chosen.length === 0 && { other: 'words' }) }],
    }
  }
})

describe('the CI gate', () => {
  it('the CI gate runs the deployment when a person allows it', async () => {
    const finished = run('sh', [join(examples, 'ci-gate/deploy.sh')])
    const request = await nextPending()
    await answer(request, { kind: 'allow' })
    expect(await finished).toMatchObject({ code: 0, out: expect.stringContaining('deploying version 1.0.0') })
  })
  it('the CI gate exits with 1 and deploys nothing when the deployment is denied', async () => {
    const finished = run('sh', [join(examples, 'ci-gate/deploy.sh')])
    await answer(await nextPending(), { kind: 'deny' })
    const { code, out } = await finished
    expect(code).toBe(1)
    expect(out).not.toContain('deploying')
  })
  it('the CI gate has a workflow file that runs the same script', () => {
    const { jobs } = parse(readFileSync(join(examples, 'ci-gate/workflow.yml'), 'utf8'))
    expect(jobs.deploy.steps.at(-1).run).toContain('examples/ci-gate/deploy.sh')
  })
})
