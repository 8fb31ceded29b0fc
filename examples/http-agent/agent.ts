/** An HTTP agent that asks before it runs a command, and runs exactly the command that was approved. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'

const url = `${process.env.HOLDPOINT_URL ?? 'http://127.0.0.1:4747'}/api/v1`
const token = process.env.HOLDPOINT_TOKEN ?? readFileSync(`${homedir()}/.holdpoint/token`, 'utf8').trim()

interface Request {
  readonly id: string
  readonly status: 'pending' | 'resolved'
}
interface Handover {
  readonly outcome: string
  readonly answer?: { readonly input?: { readonly command: string }; readonly reason?: string }
}

/** Calls the gateway with POST if there is a body, otherwise with GET. */
async function call<T>(path: string, body?: object): Promise<T> {
  const reply = await fetch(url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`)
  return reply.json() as Promise<T>
}

/** Opens a request and waits for its resolution, however long that takes. */
async function ask(session: string, key: string, question: object): Promise<Request> {
  let request = await call<Request>(`/sessions/${session}/requests`, { key, ask: question })
  while (request.status !== 'resolved') request = await call<Request>(`/requests/${request.id}?wait=60000`)
  return request
}

const input = { command: process.argv[2] ?? 'echo hello from TypeScript' }
const session = await call<{ readonly id: string }>('/sessions', { driver: 'external', title: 'TypeScript agent' })
const request = await ask(session.id, 'run-1', {
  kind: 'approval',
  tool: 'Bash',
  title: 'Run a command',
  input,
  cwd: process.cwd(),
  editable: true,
})
// Take over the answer before acting. The gateway hands an allow to one caller only, and after a crash it shows that the command may or may not have run.
const { outcome, answer } = await call<Handover>(`/requests/${request.id}/handover`, {})
if (outcome === 'allow') spawnSync(answer?.input?.command ?? input.command, { shell: true, stdio: 'inherit' })
else console.error(`Not allowed: ${answer?.reason ?? outcome}`)
await call(`/requests/${request.id}/delivery`, { state: 'taken' })
await call(`/sessions/${session.id}/detach`, { ending: { reason: 'done' } })
process.exitCode = outcome === 'allow' ? 0 : 1
