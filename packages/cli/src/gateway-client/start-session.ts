/** Starts a session for the commands `start` and `run` and for the dashboard. */
import { resolve } from 'node:path'
import { type Call, externalInfo, Fault, type Session } from '@holdpoint/protocol'
import type { GatewayClient } from './gateway-client.ts'
import { startTexts as texts } from './texts.ts'

export interface StartSessionOptions {
  readonly driver: string
  readonly prompt?: string | undefined
  readonly cwd?: string | undefined
  readonly mode?: string | undefined
  readonly model?: string | undefined
  readonly title?: string | undefined
}

export async function startSession(
  { call, url }: Pick<GatewayClient, 'call' | 'url'>,
  options: StartSessionOptions,
): Promise<Session> {
  const { driver, prompt, cwd, mode, model, title } = options
  const folder = folderFor(url, cwd)
  await requireStartable(call, { driver, mode, folder })
  return call('startSession', {
    driver,
    ...(prompt && { prompt }),
    ...(folder && { cwd: folder }),
    ...(mode && { mode }),
    ...(model && { model }),
    ...(title && { title }),
  })
}

/** Throws a usage error if the session could not work: its agent does not have the mode, the folder does not exist, or no agent would take the prompt. */
async function requireStartable(
  call: Call,
  { driver, mode, folder }: Readonly<{ driver: string; mode: string | undefined; folder: string | undefined }>,
): Promise<void> {
  if (driver === externalInfo.name) throw new Fault('bad_input', texts.external)
  const offered = (await call('listDrivers', {})).items.filter(({ name, ready }) => name === driver && ready)
  const modes = [...new Set(offered.flatMap(one => one.modes))]
  if (mode !== undefined && offered.length > 0 && !modes.includes(mode))
    throw new Fault('bad_input', texts.badMode(mode, driver, modes))
  const runner = offered[0]?.runner
  if (folder === undefined || !runner) return
  const { state } = await call('checkFolder', { runner, path: folder })
  if (state !== 'folder' && state !== 'unknown') throw new Fault('bad_input', texts.badFolder[state](folder))
}

/** Returns the working folder: `cwd` or, for a local gateway, the current folder. A remote gateway chooses its own default. */
export function folderFor(url: string, cwd?: string): string | undefined {
  const isLocal = /^(127\.|localhost$|\[::1\]$)/.test(new URL(url).hostname)
  return isLocal ? resolve(cwd ?? '.') : cwd
}
