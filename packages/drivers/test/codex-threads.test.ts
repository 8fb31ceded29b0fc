/** Tests what the Codex driver does if an app-server does not let it follow a subagent. The app-server is scripted, and the connection to it is real. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { CodexEvents } from '../src/codex/codex-events.ts'
import { ProgressFile } from '../src/codex/progress.ts'
import { RpcClient } from '../src/codex/rpc-client.ts'
import { Threads } from '../src/codex/threads.ts'
import type { AgentOutput } from '../src/index.ts'

interface ScriptedRequest {
  readonly id: number
  readonly method: string
  readonly params: { readonly threadId?: string }
}
/** Returns the result of a request, or an Error that refuses it, or null if the server breaks the connection. */
type Script = (request: ScriptedRequest) => object | Error | null

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-codex-threads-'))
const socketPath = join(folder, 'codex.sock')
let script: Script
let server: ReturnType<typeof createServer>
let rpc: RpcClient

beforeEach(async () => {
  server = createServer()
  new WebSocketServer({ server }).on('connection', socket => {
    socket.on('message', data => {
      const request: ScriptedRequest = JSON.parse(String(data))
      const reply = script(request)
      if (reply === null) return socket.terminate()
      const outcome = reply instanceof Error ? { error: { message: reply.message } } : { result: reply }
      socket.send(JSON.stringify({ id: request.id, ...outcome }))
    })
  })
  await new Promise<void>(resolve => server.listen(socketPath, resolve))
  rpc = await RpcClient.open(socketPath)
})
afterEach(async () => {
  rpc.close()
  await new Promise(resolve => server.close(resolve))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const subagent = { thread: { parentThreadId: 'main', agentNickname: 'tester' } }

it('a subagent of Codex that could not be read because of a lost connection is read again on the next connection', async () => {
  const threads = new Threads()
  threads.setMain('main')
  script = () => null
  expect(await threads.pathOf('sub', rpc)).toBeNull()
  await rpc.closed
  rpc = await RpcClient.open(socketPath)
  script = () => subagent
  expect(await threads.pathOf('sub', rpc)).toEqual(['tester'])
})

it('a conversation that Codex refuses to show counts as a foreign conversation, and Codex is asked only once', async () => {
  const threads = new Threads()
  threads.setMain('main')
  script = () => new Error('no rollout found')
  expect(await threads.pathOf('helper', rpc)).toBeNull()
  script = () => subagent
  expect(await threads.pathOf('helper', rpc)).toBeNull()
})

it('a subagent of Codex that cannot be followed after a reconnection is reported in the log', async () => {
  script = ({ method }) => {
    if (method === 'thread/loaded/list') return { data: ['main', 'sub'] }
    return method === 'thread/read' ? subagent : new Error('the thread is closed')
  }
  const outputs: AgentOutput[] = []
  const emit = async (output: AgentOutput) => void outputs.push(output)
  const events = new CodexEvents({ emit, progress: new ProgressFile(folder), cwd: folder, serverId: () => 'server' })
  events.setThread('main', { mode: 'ask', model: 'scripted-model' })
  await events.catchUp(null, false, rpc)
  expect(outputs).toMatchObject([{ type: 'events', events: [{ type: 'error.raised', code: 'subagent' }] }])
  expect(JSON.stringify(outputs)).toContain('the thread is closed')
})

it('a turn that is open in the log and unknown to Codex ends with an error that says what to do', async () => {
  const outputs: AgentOutput[] = []
  const emit = async (output: AgentOutput) => void outputs.push(output)
  const events = new CodexEvents({ emit, progress: new ProgressFile(folder), cwd: folder, serverId: () => 'server' })
  script = () => ({ data: [] })
  events.setThread('main', { mode: 'ask', model: 'scripted-model' })
  await events.catchUp(null, true, rpc)
  const reason = 'The runner was lost in the middle of the turn; send a message to continue'
  const error = { type: 'error.raised', message: reason }
  expect(outputs).toMatchObject([{ type: 'turnEnded', ending: 'failed', reason, events: [error] }])
})
