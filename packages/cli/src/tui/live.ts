/** The door to the live views: they are loaded with React as it is shipped, and the environment that agents inherit stays as it was. */
import type { GatewayAddress } from '../gateway-client/gateway-client.ts'
import type { RunWords } from './run/run.tsx'

async function shipped<T>(load: () => Promise<T>): Promise<T> {
  const { NODE_ENV: before } = process.env
  process.env.NODE_ENV = 'production'
  try {
    return await load()
  } finally {
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
  }
}

export async function run(words: readonly string[], options: RunWords): Promise<number> {
  return (await shipped(() => import('./run/run.tsx'))).run(words, options)
}
export async function tui(options: GatewayAddress): Promise<number> {
  return (await shipped(() => import('./dashboard/dashboard.tsx'))).tui(options)
}
