/** The tests that every agent must pass with a bare client. They also show that scripts work with every agent. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BareClient, StartClient } from '../clients/bare-client.ts'
import { ask, createSignal, say, shell, waitFor, writeFile } from '../model/script.ts'
import { ModelServer } from '../model/server.ts'
import { expectNoProcessLeft, processesOf } from '../process-check.ts'
import { agentRecipe, createAgentHome } from '../recipes.ts'

export interface SmokeOptions {
  /** Whether the model is told about a deny in the same turn. Otherwise the turn ends. */
  readonly goesOnAfterDeny: boolean
  /** Whether the agent offers the model a tool that asks the person. */
  readonly hasQuestions: boolean
}

export function describeAgent(title: string, name: string, start: StartClient, options: SmokeOptions): void {
  describe(title, () => {
    let folders: ReturnType<typeof createAgentHome>
    const asked: string[] = []
    let decision: 'allow' | 'deny' = 'allow'
    let model: ModelServer
    let client: BareClient

    beforeAll(async () => {
      folders = createAgentHome()
      const { home, cwd } = folders
      model = await ModelServer.start()
      const recipe = agentRecipe(name, { model: model.url, home, cwd })
      recipe.prepare()
      client = await start(recipe, cwd, {
        decide: text => {
          asked.push(text)
          return decision
        },
        choose: (_, labels) => labels[1] ?? '',
      })
    })
    afterAll(async () => {
      await client?.close()
      await expectNoProcessLeft(folders.home)
      folders.remove()
      await model.close()
    })

    /** Counts how often the agent said a text in this turn. Some agents add notes of their own to the text of the model. */
    const timesSaid = (text: string) => client.pieces.join('').split(text).length - 1
    const inFolder = (file: string) => join(folders.cwd, file)
    const fileText = (file: string) => (existsSync(inFolder(file)) ? readFileSync(inFolder(file), 'utf8') : null)

    it(`${title} streams the text of the model while the model is still writing`, async () => {
      const signal = createSignal()
      model.script('count to five', [say('one two three '), waitFor(signal.fired), say('four five')])
      const turn = client.prompt('Please count to five.')
      await expect.poll(() => timesSaid('one two'), { timeout: 60_000 }).toBe(1)
      expect(timesSaid('four')).toBe(0)
      signal.fire()
      await turn

      expect(timesSaid('one two three four five')).toBe(1)
      expect(client.pieces.length).toBeGreaterThan(1)
      expect(processesOf(folders.home)).not.toEqual([])
    })

    it(`${title} asks before a command, runs it when it is allowed, and reports its output to the model`, async () => {
      decision = 'allow'
      model.script('allowed command', shell('echo ran >> allowed.txt; expr 40 + 2', 'call_allowed'))
      await client.prompt('Run the allowed command.')

      expect(asked.join('\n')).toContain('allowed.txt')
      expect(model.toolResult('call_allowed')).toContain('42')
      expect(fileText('allowed.txt')).toBe('ran\n')
      expect(timesSaid('done')).toBe(1)
    })

    it(`${title} does not run a command that is denied`, async () => {
      decision = 'deny'
      model.script('denied command', shell('echo ran >> denied.txt', 'call_denied'), say('after the deny'))
      model.script('say goodbye', say('goodbye'))
      await client.prompt('Run the denied command.')
      expect(timesSaid('after the deny')).toBe(options.goesOnAfterDeny ? 1 : 0)
      await client.prompt('Now say goodbye.')

      expect(asked.join('\n')).toContain('denied.txt')
      expect(fileText('denied.txt')).toBeNull()
      expect(model.toolResult('call_denied'), 'what the model is told about the call').toBeTruthy()
      expect(timesSaid('goodbye')).toBe(1)
    })

    it(`${title} runs two commands that the model requests at once`, async () => {
      decision = 'allow'
      const both = [shell('echo ran >> first.txt', 'call_first'), shell('echo ran >> second.txt', 'call_second')]
      model.script('both commands', both, shell('echo ran >> third.txt', 'call_third'), say('all of them ran'))
      await client.prompt('Run both commands.')

      expect([fileText('first.txt'), fileText('second.txt'), fileText('third.txt')]).toEqual([
        'ran\n',
        'ran\n',
        'ran\n',
      ])
      expect(timesSaid('all of them ran')).toBe(1)
    })

    it(`${title} creates a file when a person allows it`, async () => {
      decision = 'allow'
      const askedBefore = asked.length
      model.script('create a file', writeFile(inFolder('new.txt'), 'written\n', 'call_write'))
      await client.prompt('Please create a file.')

      expect(asked.length).toBe(askedBefore + 1)
      expect(fileText('new.txt')?.trim()).toBe('written')
    })

    if (options.hasQuestions)
      it(`${title} passes on a question of the model, and the model reads the answer`, async () => {
        const question = { question: 'Which database?', header: 'DB', options: ['Postgres', 'Redis'] }
        model.script('ask me', ask([question], 'call_ask'))
        await client.prompt('Please ask me.')

        expect(model.toolResult('call_ask')).toContain('Redis')
        expect(timesSaid('done')).toBe(1)
      })
  })
}
