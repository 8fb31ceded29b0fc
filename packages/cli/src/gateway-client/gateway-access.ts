/** Connects a live view to the running gateway. If no gateway is running, starts a temporary one that stops with the view. */
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import type { Connection } from '@holdpoint/client'
import type { Call } from '@holdpoint/protocol'
import { readConfig } from '../config/config.ts'
import { dataFolderAt, lastGateway, openDataFolder, runningProcess } from '../config/data-folder.ts'
import { printNotice } from '../output/notice.ts'
import { type Row, row, trusted } from '../output/span.ts'
import { findGateway, type GatewayAddress } from './gateway-client.ts'

export interface GatewayAccess {
  readonly url: string
  /** Returns the present URL. A gateway of this machine may have another URL after a restart. */
  readonly presentUrl: () => string
  readonly call: Call
  readonly connection: Connection
  /** True for a temporary gateway, which stops with this process. */
  readonly isOwn: boolean
  close(): Promise<void>
}

export async function connectOrStart({ home: folder, url }: GatewayAddress): Promise<GatewayAccess> {
  const dataFolder = dataFolderAt(folder)
  const running = findGateway(dataFolder, url)
  if (running) {
    const presentUrl = () => (running.connection.trusted ? (lastGateway(dataFolder)?.url ?? running.url) : running.url)
    return { ...running, presentUrl, isOwn: false, close: async () => {} }
  }
  openDataFolder(folder)
  const [{ startGateway }, { isolateAgents }] = await Promise.all([
    import('../gateway/up.ts'),
    import('../runner/isolate-agents.ts'),
  ])
  // A temporary gateway is only for this machine, so the setting `host` does not apply.
  const {
    config: { host: _host, ...config },
    ignored,
  } = readConfig(dataFolder, {})
  if (ignored !== null) printNotice(ignored)
  const restoreStderr = redirectStderr(join(dataFolder.path, 'terminal.log'))
  isolateAgents()
  // A runner that outlived its gateway connects to the new gateway by itself, so do not start a second runner.
  const runner = runningProcess(dataFolder, 'runner') ? 'none' : 'inline'
  try {
    const gateway = await startGateway({ ...config, port: 0, runner }, dataFolder)
    const own = findGateway(dataFolder, gateway.url)
    if (!own) throw new Error('the gateway that was just started cannot be found')
    return { ...own, presentUrl: () => own.url, isOwn: true, close: () => gateway.close().finally(restoreStderr) }
  } catch (error) {
    await restoreStderr()
    throw error
  }
}

/** Returns the rows to print when the person leaves the view. */
export function closingRows({ isOwn }: GatewayAccess): readonly Row[] {
  const sentence =
    'The temporary gateway stops now, for everyone who uses it. To keep a gateway running, start it with: holdpoint up'
  return isOwn ? [row(trusted(sentence))] : []
}

/** Redirects stderr to a file, because log lines would garble the view. Returns a function that restores stderr. */
function redirectStderr(file: string): () => Promise<void> {
  const { write } = process.stderr
  const log = createWriteStream(file, { flags: 'a', mode: 0o600 })
  // Ignore write errors, because a full disk must not end the view.
  log.on('error', () => {})
  process.stderr.write = ((chunk: string | Uint8Array) => log.write(chunk)) as typeof process.stderr.write // ignores the optional callback, which no caller passes while stderr is redirected
  return async () => {
    process.stderr.write = write
    await new Promise<void>(resolve => log.end(resolve))
  }
}
