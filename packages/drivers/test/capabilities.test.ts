/** Pins the capabilities that each driver reports for its agents. The suite in packages/drivers/test/conformance shows them with the real agents. */
import { tmpdir } from 'node:os'
import { type Capability, externalInfo } from '@holdpoint/protocol'
import { expect, it } from 'vitest'
import { acpCapabilities, acpProfiles, customProfile } from '../src/acp/profiles.ts'
import { claudeDriver } from '../src/claude/driver.ts'
import { codexDriver } from '../src/codex/driver.ts'
import { generatorDriver } from '../src/generator/generator.ts'
import { opencodeDriver } from '../src/opencode/driver.ts'
import { rehearsal } from '../src/rehearsal/rehearsal.ts'

const env = { PATH: '' }
const folder = tmpdir()
const agents: Readonly<Record<string, readonly Capability[]>> = {
  claude: (await claudeDriver({ folder, env, executable: process.execPath }).info()).capabilities,
  codex: (await codexDriver({ folder, env }).info()).capabilities,
  opencode: (await opencodeDriver({ folder, env }).info()).capabilities,
  ...Object.fromEntries(acpProfiles.map(profile => [profile.name, acpCapabilities(profile)])),
  custom: acpCapabilities(customProfile('custom', ['custom'])),
  rehearsal: (await generatorDriver(rehearsal).info()).capabilities,
  external: externalInfo.capabilities,
}

const everyone = ['approvals', 'note', 'messages', 'interrupt']
/** The capabilities of each agent in addition to those that all agents have. */
const table: Readonly<Record<string, string>> = {
  claude: 'questions forms concurrentRequests denyAndContinue editInput resumable checksEveryTool attachments',
  codex: 'questions forms concurrentRequests denyAndContinue resumable sharedTerminal attachments',
  opencode: 'questions concurrentRequests denyAndContinue resumable sharedTerminal attachments',
  gemini: 'denyAndContinue resumable attachments',
  goose: 'denyAndContinue resumable attachments',
  qwen: 'questions resumable attachments',
  copilot: 'concurrentRequests resumable attachments',
  'codex-acp': 'forms concurrentRequests resumable attachments',
  'claude-agent-acp': 'forms denyAndContinue resumable attachments',
  custom: 'forms concurrentRequests denyAndContinue resumable attachments',
  rehearsal: 'questions forms concurrentRequests denyAndContinue editInput resumable portable parkable attachments',
  external: 'questions forms concurrentRequests denyAndContinue editInput',
}

it.each(Object.entries(table))('the driver of %s reports exactly what its agents can do', (name, expected) => {
  expect([...(agents[name] ?? [])].sort()).toEqual([...everyone, ...expected.split(' ')].sort())
})
it('the table of expected capabilities lists every driver', () => {
  expect(Object.keys(agents).sort()).toEqual(Object.keys(table).sort())
})
