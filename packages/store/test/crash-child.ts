/** A process that kills itself at a given crash point while it opens and resolves requests, or while it restores a backup. Arguments: the store and the crash point. */
import type { Fault } from '@holdpoint/protocol'
import { openPostgres, openSqlite, restoreSqlite } from '../src/index.ts'
import * as sample from './samples.ts'

export async function crash(location: string, point: string): Promise<void> {
  const crashPoint = (reached: string) => {
    if (reached === point) process.kill(process.pid, 'SIGKILL')
  }
  if (point.startsWith('restore:')) {
    await restoreSqlite({ from: `${location}.backup`, to: location, prepare: async () => null, crashPoint })
    return
  }
  const opening = location.startsWith('postgres:')
    ? openPostgres({ url: location, crashPoint })
    : openSqlite({ file: location, crashPoint })
  const store = await opening.catch((fault: Fault) => {
    process.stdout.write(`${fault.code}\n`)
    process.exit()
  })
  await store.commit(sample.openRequest(sample.request(1)))
  process.stdout.write('opened\n')
  await Promise.all([
    store.commit(sample.resolveRequest(sample.requestId(1), 'ada')),
    store.commit(sample.openRequest(sample.request(2))),
  ])
  process.stdout.write('acknowledged\n')
  await store.close()
}
