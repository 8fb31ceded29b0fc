/** Loads a person's own generator agent from a module that exports it by default. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Fault } from '@holdpoint/protocol'
import { defineAgent, type GeneratorAgent } from './generator.ts'

export async function loadAgent(path: string): Promise<GeneratorAgent> {
  const file = resolve(path)
  let module: { readonly default?: unknown }
  try {
    module = await import(pathToFileURL(file).href)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Fault('bad_input', `The agent module ${file} cannot be loaded: ${why}`)
  }
  if (module.default === undefined)
    throw new Fault('bad_input', `The agent module ${file} has no default export; export default defineAgent({…})`)
  try {
    return defineAgent(module.default as GeneratorAgent) // checked by defineAgent
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new Fault('bad_input', `The agent module ${file} exports no agent: ${error.message}`, error.detail)
  }
}
