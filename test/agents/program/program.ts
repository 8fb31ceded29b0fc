/** The tests of an agent with the whole program: `holdpoint run` starts it by its name. An agent that speaks the Agent Client Protocol is also started by its command line in a config file. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AcpProfile, acpProfiles, executableVariable } from '@holdpoint/drivers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../../../packages/cli/test/support/cli-process.ts'
import { EventRecorder, isEvent } from '../../support/event-recorder.ts'
import { closeGateways, type GatewayProcess, startGateway } from '../../support/gateway.ts'
import { say, shell } from '../model/script.ts'
import { ModelServer } from '../model/server.ts'
import { expectNoProcessLeft } from '../process-check.ts'
import { type AgentRecipe, agentRecipe, createAgentHome } from '../recipes.ts'

export function describeProgram(name: string): void {
  const profile = acpProfiles.find(known => known.name === name)
  describe(`${name} in the whole program`, () => {
    const { home, cwd, remove } = createAgentHome()
    let model: ModelServer
    let gateway: GatewayProcess
    beforeAll(async () => {
      model = await ModelServer.start()
      const recipe = agentRecipe(name, { model: model.url, home, cwd })
      recipe.prepare()
      gateway = await startGateway({
        config: profile ? { agents: { mine: [recipe.command, ...recipe.args] } } : {},
        env: {
          ...definedOf(recipe.env),
          ...(profile && { [executableVariable(name)]: writeWrapper(profile, recipe, home) }),
        },
      })
    })
    afterAll(async () => {
      // Some agents survive a runner that is killed, so that the next one finds them.
      for (const { id } of (await gateway.call('listSessions', {})).items) await gateway.call('endSession', { id })
      await expectNoProcessLeft(cwd)
      await closeGateways()
      await expectNoProcessLeft(home)
      await model.close()
      remove()
    })

    it('holdpoint run starts the agent by its name', async () => {
      model.script('hello there', say('Hello to you.'))
      const words = ['run', name, 'hello there', '--cwd', cwd, '--home', gateway.home.path]
      const { code, out } = await runCli(words, { cwd: gateway.folder })
      expect([code, out]).toEqual([0, expect.stringContaining('Hello to you.')])
      const driver = (await gateway.call('listDrivers', {})).items.find(item => item.name === name)
      expect(driver).toMatchObject({ ready: true })
    })

    if (!profile) return
    it('an agent from the configuration asks, and runs what a person allows', async () => {
      const recorder = await EventRecorder.connect(gateway.url, gateway.token)
      model.script('run it', shell('echo ran >> mine.txt', 'call_mine'), say('It ran.'))
      const { id } = await gateway.call('startSession', { driver: 'mine', cwd, prompt: 'run it' })
      const { value: request } = await recorder.waitFor(isEvent(id, 'request.opened'))
      await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
      await recorder.waitFor(isEvent(id, 'turn.finished'))
      expect(existsSync(join(cwd, 'mine.txt'))).toBe(true)
      await recorder.close()
    })
  })
}

/** Writes a script that adds the arguments that an agent needs for the scripted model. */
function writeWrapper({ name, args: own }: AcpProfile, { command, args }: AgentRecipe, home: string): string {
  const file = join(home, `${name}.sh`)
  writeFileSync(file, `#!/bin/sh\nexec '${command}' "$@" ${args.filter(word => !own.includes(word)).join(' ')}\n`)
  chmodSync(file, 0o755)
  return file
}

function definedOf(env: AgentRecipe['env']): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}
