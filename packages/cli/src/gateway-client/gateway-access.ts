/** The gateway that a live view speaks to: one that runs already, or one of its own for as long as the view is open. */
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import type { Connection } from '@holdpoint/client'
import type { Call } from '@holdpoint/protocol'
import { readConfig } from '../config/config.ts'
import { dataFolderAt, openDataFolder, runningProcess } from '../config/data-folder.ts'
import { type Row, row, trusted } from '../output/span.ts'
import { findGateway, following, type GatewayAddress } from './gateway-client.ts'

export interface GatewayAccess {
  readonly url: string
  readonly call: Call
  readonly connection: Connection
  /** Whether it is this process's own, and goes with it. */
  readonly isOwn: boolean
  close(): Promise<void>
}

export async function connectOrStart({ home: folder, url }: GatewayAddress): Promise<GatewayAccess> {
  const home = dataFolderAt(folder)
  const running = findGateway(home, url)
  if (running) return { ...following(home, running, url), isOwn: false, close: async () => {} }
  openDataFolder(folder)
  const [{ startGateway }, { isolateAgents }] = await Promise.all([
    import('../gateway/up.ts'),
    import('../runner/isolate-agents.ts'),
  ])
  const giveBack = redirectStderr(join(home.path, 'terminal.log'))
  isolateAgents()
  // A runner may have outlived its gateway: it keeps its agents, and finds the new one by itself.
  const runner = runningProcess(home, 'runner') ? 'none' : 'inline'
  try {
    const gateway = await startGateway({ ...readConfig({}), port: 0, host: '127.0.0.1', runner }, home)
    const own = findGateway(home, gateway.url)
    if (!own) throw new Error('the gateway that was just started is not to be found')
    return { ...own, isOwn: true, close: () => gateway.close().finally(giveBack) }
  } catch (error) {
    await giveBack()
    throw error
  }
}

/** What whoever leaves should know of it. */
export function closingRows({ isOwn }: GatewayAccess): readonly Row[] {
  const sentence = 'The gateway that ran here closes, for others who use it, too; holdpoint up keeps one running.'
  return isOwn ? [row(trusted(sentence))] : []
}

/** The screen is the view's: what gateway and agents tell of themselves goes to a file. */
function redirectStderr(file: string): () => Promise<void> {
  const { write } = process.stderr
  const log = createWriteStream(file, { flags: 'a', mode: 0o600 })
  // A disk that is full must not end the view.
  log.on('error', () => {})
  process.stderr.write = ((chunk: string | Uint8Array) => log.write(chunk)) as typeof process.stderr.write // without the callback, which nobody here gives
  return async () => {
    process.stderr.write = write
    await new Promise<void>(resolve => log.end(resolve))
  }
}
