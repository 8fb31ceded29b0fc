/** Loads a person's own generator agent from a module that exports it by default. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DriverInfo, Fault, faultFromZod, orAborted } from '@holdpoint/protocol'
import { defineAgent, type GeneratorAgent, generatorDriver } from './generator.ts'

/** A module that waits for something at its top level must not keep the other agents waiting. */
const loadMaxMs = 10_000

export async function loadAgent(path: string, maxMs = loadMaxMs): Promise<GeneratorAgent> {
  const file = resolve(path)
  const late = AbortSignal.timeout(maxMs)
  let module: { readonly default?: unknown }
  try {
    module = await orAborted(import(pathToFileURL(file).href), late)
  } catch (error) {
    const why = late.aborted
      ? `it was not done after ${maxMs} ms`
      : error instanceof Error
        ? error.message
        : String(error)
    throw new Fault('bad_input', `The agent module ${file} cannot be loaded: ${why}`)
  }
  if (module.default === undefined)
    throw new Fault('bad_input', `The agent module ${file} has no default export; export default defineAgent({…})`)
  try {
    const agent = defineAgent(module.default as GeneratorAgent) // checked by defineAgent
    const info = DriverInfo.safeParse(generatorDriver(agent).info())
    if (!info.success) throw faultFromZod(info.error, 'it')
    return agent
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new Fault('bad_input', `The agent module ${file} exports no agent: ${error.message}`, error.detail)
  }
}
