/** A gateway that ends itself at a given point: opens requests, resolves one, and is gone; or a restore that does. Its arguments: the store and the point. */
import type { Fault } from '@holdpoint/protocol'
import { openPostgres, openSqlite, restoreSqlite } from '../src/index.ts'
import * as sample from './samples.ts'

export async function crash(where: string, point: string): Promise<void> {
  const crashPoint = (reached: string) => {
    if (reached === point) process.kill(process.pid, 'SIGKILL')
  }
  if (point.startsWith('restore:')) {
    await restoreSqlite({ from: `${where}.backup`, to: where, crashPoint })
    return
  }
  const opening = where.startsWith('postgres:')
    ? openPostgres({ url: where, crashPoint })
    : openSqlite({ file: where, crashPoint })
  const store = await opening.catch((fault: Fault) => {
    process.stdout.write(`${fault.code}\n`)
    process.exit()
  })
  await store.commit(sample.opening(sample.request(1)))
  process.stdout.write('opened\n')
  await Promise.all([
    store.commit(sample.resolving(sample.requestId(1), 'ada')),
    store.commit(sample.opening(sample.request(2))),
  ])
  process.stdout.write('acknowledged\n')
  await store.close()
}
