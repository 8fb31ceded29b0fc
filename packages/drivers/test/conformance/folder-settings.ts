/** Runs a real agent in a folder whose settings name commands: the agent does not start before the person has trusted them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { say } from '../../../../test/agents/model/script.ts'
import type { ProjectSettings } from '../../src/index.ts'
import { AgentFixture } from './agent-fixture.ts'
import { hostileFolders } from './hostile-folder.ts'

export function describeFolderSettings(name: string): void {
  const hostile = hostileFolders[name]
  if (!hostile) throw new Error(`there is no hostile folder for ${name}`)

  describe(`${name} in a folder with settings of its own`, () => {
    let agent: AgentFixture
    let count = 0
    beforeAll(async () => {
      agent = await AgentFixture.of(name)
      agent.startRunner()
      agent.model.script('hello there', say('Hello.'))
    })
    beforeEach(() => {
      agent.trustsProjectSettings = () => false
      agent.beginTest()
    })
    afterEach(() => agent.endTest())
    afterAll(() => agent.close())

    function createFolder() {
      const folder = join(agent.home, `project-${++count}`)
      const cwdBelow = join(folder, 'packages', 'app')
      mkdirSync(cwdBelow, { recursive: true })
      const ran = join(agent.home, `ran-${count}`)
      mkdirSync(ran)
      execFileSync('git', ['init', '--quiet'], { cwd: folder })
      const write = (path: string, text: string) => {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
      const files = hostile?.files(file => `touch ${join(ran, file)}`) ?? {}
      for (const [path, text] of Object.entries(files)) write(path, text)
      return { folder, cwdBelow, write, paths: Object.keys(files), ran: () => readdirSync(ran).sort() }
    }

    it('untrusted settings of the folder or a parent folder start no process and run nothing, and the person is told', async () => {
      const { folder, cwdBelow, paths, ran } = createFolder()
      for (const [index, cwd] of [folder, cwdBelow].entries()) {
        const session = await agent.start('hello there', { cwd })
        expect(await agent.turnEnd(index + 1)).toMatchObject({ ending: 'failed' })
        const { message } = agent.eventsOf('error.raised').at(-1) ?? {}
        expect(message).toContain('They can run commands without asking')
        for (const path of paths) expect(message).toContain(join(folder, path))
        expect(message).toContain(`holdpoint trust ${cwd}`)
        expect((await agent.asPerson('getSession', { id: session })).process).toBeNull()
      }
      expect(ran()).toEqual([])
    })

    it('trusted settings of the folder apply, and if the settings change, the agent does not start again', async () => {
      const { folder, cwdBelow, write, paths, ran } = createFolder()
      const trusted = new Set<string | null>()
      agent.trustsProjectSettings = ({ sha256 }: ProjectSettings) => trusted.add(sha256).size > 0
      if (hostile.appliedBelow.length > 0) {
        await agent.start('hello there', { cwd: cwdBelow })
        await agent.turnEnd()
        await agent.endTest()
        expect(ran()).toEqual(hostile.appliedBelow)
        agent.beginTest()
      }
      await agent.start('hello there', { cwd: folder })
      expect(await agent.turnEnd()).toMatchObject({ ending: 'done' })
      await agent.endTest()
      expect(ran()).toEqual(hostile.applied)

      // Other sessions have not changed the settings, so the trust still applies to them.
      agent.trustsProjectSettings = ({ sha256 }: ProjectSettings) => trusted.has(sha256)
      await agent.start('hello there', { cwd: folder })
      expect(await agent.turnEnd(2)).toMatchObject({ ending: 'done' })
      write(paths[0] ?? '', '{ }')
      await agent.start('hello there', { cwd: folder })
      expect(await agent.turnEnd(3)).toMatchObject({ ending: 'failed' })
    })
  })
}
