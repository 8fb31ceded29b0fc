/** An HTTP agent that asks before it runs a command, and runs exactly the command that was approved. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'

const url = `${process.env.HOLDPOINT_URL ?? 'http://127.0.0.1:4747'}/api/v1`
const token = process.env.HOLDPOINT_TOKEN ?? readFileSync(`${homedir()}/.holdpoint/token`, 'utf8').trim()

interface Handover {
  readonly outcome: string
  readonly effective?: { readonly input: { readonly command: string } }
  readonly reason?: string
  readonly request: { readonly id: string }
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

/** Opens a request and waits for its answer, however long that takes. The gateway hands an allow to one caller only, and after a crash it shows that the command may or may not have run. */
async function ask(session: string, key: string, question: object): Promise<Handover> {
  const { id } = await call<{ readonly id: string }>(`/sessions/${session}/requests`, { key, ask: question })
  for (;;) {
    const answer = await call<Handover>(`/requests/${id}/handover`, { wait: 60_000 })
    if (answer.outcome !== 'pending') return answer
  }
}

const session = await call<{ readonly id: string }>('/sessions', { driver: 'external', title: 'TypeScript agent' })
const { effective, outcome, reason, request } = await ask(session.id, 'run-1', {
  kind: 'approval',
  tool: 'Bash',
  title: 'Run a command',
  input: { command: process.argv[2] ?? 'echo hello from TypeScript' },
  cwd: process.cwd(),
  editable: true,
})
if (effective) spawnSync(effective.input.command, { shell: true, stdio: 'inherit' })
else console.error(`Not allowed: ${reason ?? outcome}`)
await call(`/requests/${request.id}/delivery`, { state: 'taken' })
await call(`/sessions/${session.id}/detach`, { ending: { reason: 'done' } })
process.exitCode = effective ? 0 : 1
