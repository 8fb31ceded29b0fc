/** How a session is started, by whichever command: in which folder, and with what said first. */
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
  beginning: StartSessionOptions,
): Promise<Session> {
  const { driver, prompt, cwd, mode, model, title } = beginning
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

/** Here, where the gateway is here too; on another machine, where that one is used to. */
export function folderFor(url: string, cwd?: string): string | undefined {
  const local = /^(127\.|localhost$|\[::1\]$)/.test(new URL(url).hostname)
  return local ? resolve(cwd ?? '.') : cwd
}
