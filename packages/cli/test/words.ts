/** The program as a person runs it: words in, exit code and what it said out. */
import { type SpawnOptions, spawn } from 'node:child_process'
import { holdpoint, plainEnvironment } from '../../../test/support/gateway.ts'

export interface Said {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export function say(words: readonly string[], options: SpawnOptions = {}): Promise<Said> {
  const child = spawn(process.execPath, [holdpoint, ...words], { env: plainEnvironment(), ...options, stdio: 'pipe' })
  let out = ''
  let err = ''
  child.stdout?.on('data', chunk => {
    out += chunk
  })
  child.stderr?.on('data', chunk => {
    err += chunk
  })
  return new Promise(resolve => child.once('close', code => resolve({ code, out, err })))
}
