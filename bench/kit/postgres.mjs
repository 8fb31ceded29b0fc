/** Starts the PostgreSQL server that the tests use, with its default durability settings. The server ends with the suite that started it. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'

export async function startPostgres() {
  const child = fork(fileURLToPath(new URL('../../test/support/postgres-server.mjs', import.meta.url)), {
    execArgv: [],
  })
  const { url, error } = await new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', code => reject(new Error(`the PostgreSQL server's process ended with ${code}`)))
  })
  if (error) throw new Error(`PostgreSQL did not start: ${error}`)
  return {
    async database(name) {
      const sql = postgres(`${url}/postgres`, { max: 1, onnotice: () => {} })
      await sql.unsafe(`CREATE DATABASE ${name}`).finally(() => sql.end())
      return `${url}/${name}`
    },
    async stop() {
      const ended = new Promise(resolve => child.once('exit', resolve))
      child.disconnect()
      await ended
    },
  }
}
