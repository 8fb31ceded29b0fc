/** The door to the live views: they are loaded with React as it is shipped, and the environment that agents inherit stays as it was. */
import type { Place } from '../remote.ts'
import type { RunWords } from './run.tsx'

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
  return (await shipped(() => import('./run.tsx'))).run(words, options)
}
export async function tui(options: Place): Promise<number> {
  return (await shipped(() => import('./tui.tsx'))).tui(options)
}
