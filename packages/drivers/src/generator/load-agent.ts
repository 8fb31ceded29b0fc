/** Loads a generator agent from a module whose default export defines it. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DriverInfo, Fault, faultFromZod, orAborted } from '@holdpoint/protocol'
import { defineAgent, type GeneratorAgent, generatorDriver } from './generator.ts'

/** Time limit for importing a module, so that a top-level await that never resolves does not block the other agents. */
const loadMaxMs = 10_000

export async function loadAgent(path: string, maxMs = loadMaxMs): Promise<GeneratorAgent> {
  const file = resolve(path)
  const late = AbortSignal.timeout(maxMs)
  let module: { readonly default?: unknown }
  try {
    module = await orAborted(import(pathToFileURL(file).href), late)
  } catch (error) {
    const why = late.aborted
      ? `it did not finish loading within ${maxMs} ms`
      : error instanceof Error
        ? error.message
        : String(error)
    throw new Fault('bad_input', `The agent module ${file} cannot be loaded: ${why}`)
  }
  if (module.default === undefined)
    throw new Fault('bad_input', `The agent module ${file} has no default export. Add: export default defineAgent({…})`)
  try {
    const agent = defineAgent(module.default as GeneratorAgent) // `defineAgent` throws if the value is not an agent
    const info = DriverInfo.safeParse(generatorDriver(agent).info())
    if (!info.success) throw faultFromZod(info.error, 'The agent')
    return agent
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new Fault('bad_input', `The agent module ${file} exports no agent: ${error.message}`, error.detail)
  }
}
