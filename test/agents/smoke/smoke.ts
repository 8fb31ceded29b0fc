/** The tests that every agent must pass with a bare client, before a driver is written for it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BareClient, Decide } from '../clients/bare-client.ts'
import { say, shell } from '../model/script.ts'
import { ModelServer } from '../model/server.ts'
import { expectNoProcessLeft, processesOf } from '../process-check.ts'
import { type AgentRecipe, agentRecipe, createAgentHome } from '../recipes.ts'

export type StartClient = (recipe: AgentRecipe, cwd: string, decide: Decide) => Promise<BareClient>

export interface SmokeOptions {
  /** Whether the model is told about a deny in the same turn. Otherwise the turn ends. */
  readonly goesOnAfterDeny: boolean
}

/** Counts how often the agent said a text. Some agents add notes of their own to the text of the model. */
const timesSaid = (pieces: readonly string[], text: string) => pieces.join('').split(text).length - 1

export function describeAgent(title: string, name: string, start: StartClient, options: SmokeOptions): void {
  describe(title, () => {
    const { home, cwd, remove } = createAgentHome()
    const asked: string[] = []
    let decision: 'allow' | 'deny' = 'allow'
    let model: ModelServer
    let client: BareClient

    beforeAll(async () => {
      model = await ModelServer.start()
      const recipe = agentRecipe(name, { model: model.url, home, cwd })
      recipe.prepare()
      client = await start(recipe, cwd, text => {
        asked.push(text)
        return decision
      })
    })
    afterAll(async () => {
      await client?.close()
      await expectNoProcessLeft(home)
      remove()
      await model.close()
    })

    it(`${title} streams the text of the model in pieces`, async () => {
      model.script('count to five', say('one two three four five'))
      const { pieces } = await client.prompt('Please count to five.')

      expect(timesSaid(pieces, 'one two three four five')).toBe(1)
      expect(pieces.length).toBeGreaterThan(1)
      expect(processesOf(home)).not.toEqual([])
    })

    it(`${title} asks before a command, runs it when it is allowed, and reports its output to the model`, async () => {
      decision = 'allow'
      model.script('allowed command', shell('echo ran >> allowed.txt; expr 40 + 2', 'call_allowed'))
      const { pieces } = await client.prompt('Run the allowed command.')

      expect(asked.join('\n')).toContain('allowed.txt')
      expect(model.toolResult('call_allowed')).toContain('42')
      expect(readFileSync(join(cwd, 'allowed.txt'), 'utf8')).toBe('ran\n')
      expect(timesSaid(pieces, 'done')).toBe(1)
    })

    it(`${title} does not run a command that is denied`, async () => {
      decision = 'deny'
      model.script('denied command', shell('echo ran >> denied.txt', 'call_denied'), say('after the deny'))
      model.script('say goodbye', say('goodbye'))
      const { pieces } = await client.prompt('Run the denied command.')
      const next = await client.prompt('Now say goodbye.')

      expect(asked.join('\n')).toContain('denied.txt')
      expect(existsSync(join(cwd, 'denied.txt'))).toBe(false)
      expect(timesSaid(pieces, 'after the deny')).toBe(options.goesOnAfterDeny ? 1 : 0)
      expect(model.toolResult('call_denied'), 'what the model is told about the call').toBeTruthy()
      expect(timesSaid(next.pieces, 'goodbye')).toBe(1)
    })
  })
}
