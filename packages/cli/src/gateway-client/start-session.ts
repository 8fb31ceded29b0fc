/** Starts a session for the commands `start` and `run` and for the dashboard. */
import { resolve } from 'node:path'
import type { Session } from '@holdpoint/protocol'
import type { GatewayClient } from './gateway-client.ts'

export interface StartSessionOptions {
  readonly driver: string
  readonly prompt?: string | undefined
  readonly cwd?: string | undefined
  readonly mode?: string | undefined
  readonly model?: string | undefined
  readonly title?: string | undefined
}

export function startSession(
  { call, url }: Pick<GatewayClient, 'call' | 'url'>,
  options: StartSessionOptions,
): Promise<Session> {
  const { driver, prompt, cwd, mode, model, title } = options
  const folder = folderFor(url, cwd)
  return call('startSession', {
    driver,
    ...(prompt && { prompt }),
    ...(folder && { cwd: folder }),
    ...(mode && { mode }),
    ...(model && { model }),
    ...(title && { title }),
  })
}

/** Returns the working folder: `cwd` or, for a local gateway, the current folder. A remote gateway chooses its own default. */
export function folderFor(url: string, cwd?: string): string | undefined {
  const isLocal = /^(127\.|localhost$|\[::1\]$)/.test(new URL(url).hostname)
  return isLocal ? resolve(cwd ?? '.') : cwd
}
