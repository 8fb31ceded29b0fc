/** The Unix socket of a gateway, over which the runner and local commands reach it. It is in a folder that only its user can change, so nobody else can impersonate the gateway (G11). */
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Fault } from '@holdpoint/protocol'
import { type DataFolder, lastGateway } from './data-folder.ts'
import { privateAccessProblem } from './file-access.ts'
import { dataFolderTexts, socketTexts } from './texts.ts'

const fileName = 'gateway.sock'
/** macOS allows 104 bytes with the NUL at the end, Linux allows 108. */
const pathMaxBytes = 103

/** Returns the path at which the gateway of this data folder listens. If the data folder's path is too long for a socket, the socket is in a new folder that only this user can open. */
export async function chooseSocketPath(dataFolder: DataFolder): Promise<string> {
  const path = join(dataFolder.path, fileName)
  if (isShort(path)) return requireUnused(path)
  const previous = lastGateway(dataFolder)?.socket
  // A gateway that was killed could not remove its folder.
  if (previous !== undefined && existsSync(dirname(previous)) && privateAccessProblem(dirname(previous)) === null)
    return requireUnused(previous)
  const parent = [tmpdir(), '/tmp'].find(folder => isShort(join(folder, 'holdpoint-xxxxxx', fileName))) ?? tmpdir()
  return join(mkdtempSync(join(parent, 'holdpoint-')), fileName)
}

/** Must be called after the gateway has closed its socket. */
export function removeSocketFolder(dataFolder: DataFolder, path: string): void {
  if (dirname(path) !== dataFolder.path) rmdirSync(dirname(path))
}

/** Returns the socket of the running gateway. Throws if there is none, or if somebody else could have put the socket there. */
export function gatewaySocket(dataFolder: DataFolder): string {
  const gateway = lastGateway(dataFolder)
  if (!gateway) throw new Error(socketTexts.noGateway)
  if (gateway.socket === undefined) throw new Fault('unsupported', socketTexts.olderGateway)
  const problem = privateAccessProblem(dirname(gateway.socket))
  if (problem) throw new Fault('forbidden', dataFolderTexts.notPrivate(problem))
  return gateway.socket
}

function isShort(path: string): boolean {
  return Buffer.byteLength(path) <= pathMaxBytes
}

/** The lock of a SQLite file also prevents a second gateway, but gateways on PostgreSQL share their store. */
async function requireUnused(path: string): Promise<string> {
  const isUsed = await new Promise<boolean>(resolve => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
  if (isUsed) throw new Fault('store_locked', socketTexts.inUse(dirname(path)))
  return path
}
