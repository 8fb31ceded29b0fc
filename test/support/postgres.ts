/** A real PostgreSQL for tests: one server per vitest run, started when the first test needs a database and stopped at the end. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'

/** Environment variable with the URL of the HTTP server in the vitest main process that manages the databases. */
const managerVariable = 'HOLDPOINT_TEST_POSTGRES'

interface Cluster {
  readonly child: ChildProcess
  readonly url: string
}

/** The global setup of vitest; returns the teardown. */
export default async function setup(): Promise<() => Promise<void>> {
  let cluster: Promise<Cluster> | undefined
  const manager = createServer((request, response) => {
    cluster ??= startCluster()
    cluster
      .then(async ({ url }) => {
        const name = request.url?.slice(1) || `test_${randomBytes(6).toString('hex')}`
        if (request.method === 'POST') await run(url, `CREATE DATABASE ${name}`)
        if (request.method === 'DELETE') await run(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
        response.end(JSON.stringify({ name, url: `${url}/${name}` }))
      })
      .catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>(resolve => manager.listen(0, '127.0.0.1', resolve))
  process.env[managerVariable] = `http://127.0.0.1:${(manager.address() as AddressInfo).port}` // a listening TCP server has an AddressInfo
  return async () => {
    manager.close()
    manager.closeAllConnections()
    await cluster?.then(stopCluster, () => {})
  }
}

async function startCluster(): Promise<Cluster> {
  const child = fork(fileURLToPath(new URL('./postgres-server.mjs', import.meta.url)), { execArgv: [] })
  const first = await new Promise<{ url?: string; error?: string }>((resolve, reject) => {
    child.once('message', message => resolve(message as { url?: string; error?: string })) // postgres-server.mjs sends only messages with these fields
    child.once('exit', code => reject(new Error(`the process of the PostgreSQL server exited with code ${code}`)))
  })
  if (first.url) return { child, url: first.url }
  child.disconnect()
  throw new Error(first.error)
}

async function stopCluster({ child }: Cluster): Promise<void> {
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.disconnect()
  await ended
}

/** Runs a statement. Database names consist of letters and digits, so they need no quoting. */
async function run(url: string, statement: string): Promise<void> {
  const sql = postgres(`${url}/postgres`, { max: 1, onnotice: () => {} })
  await sql.unsafe(statement).finally(() => sql.end())
}

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** Creates an empty database. */
export async function freshDatabase(): Promise<TestDatabase> {
  const { name, url } = await ask('POST', '/')
  return { url, drop: async () => void (await ask('DELETE', `/${name}`)) }
}

/** Resolves to whether PostgreSQL can be started. If not, its tests are skipped locally with a warning and fail in CI. */
export async function hasPostgres(): Promise<boolean> {
  try {
    await ask('GET', '/')
    return true
  } catch (error) {
    if (process.env.CI === 'true') throw error
    console.error(`\n!!! PostgreSQL cannot be started: its tests are NOT run. ${String(error)}\n`)
    return false
  }
}

async function ask(method: string, path: string): Promise<{ readonly name: string; readonly url: string }> {
  const manager = process.env[managerVariable]
  if (!manager) throw new Error('test/support/postgres.ts is not the globalSetup of this run')
  const response = await fetch(manager + path, { method })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as { name: string; url: string } // the manager above replies with these fields
}
