/** Reads the script with which a person shares a session of opencode. */
import { readFileSync } from 'node:fs'

export interface OpencodeAccess {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export function readAttachScript(file: string): OpencodeAccess {
  const script = readFileSync(file, 'utf8')
  const [, url = ''] = /(http:\S+)/.exec(script) ?? []
  const [, password = ''] = /PASSWORD=(\S+)/.exec(script) ?? []
  const authorization = `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}`
  return { url, headers: { authorization, 'content-type': 'application/json' } }
}
