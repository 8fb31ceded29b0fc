/** Tests what the Codex driver says about the Codex on this machine, with programs that only print a version. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { codexDriver } from '../src/index.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-codex-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function writeCodex(version: string): string {
  const file = join(folder, 'codex')
  writeFileSync(file, `#!/bin/sh\necho codex-cli ${version}\n`)
  chmodSync(file, 0o755)
  return file
}
const infoOf = (env: Record<string, string>) =>
  codexDriver({ folder, env: { HOME: folder, PATH: folder, ...env } }).info()

it('the Codex driver says how to get Codex if it is not installed, and reports no problem', async () => {
  expect(await infoOf({})).toMatchObject({
    ...{ name: 'codex', ready: false, installed: false },
    missing: expect.stringMatching(/install it \(`npm install -g @openai\/codex`\), or set HOLDPOINT_CODEX to/),
  })
})

it('the Codex driver is ready if Codex is on the PATH, and says that nobody is signed in', async () => {
  writeCodex('0.166.0')
  expect(await infoOf({})).toMatchObject({ ready: true, missing: expect.stringMatching(/^Codex does not seem to be/) })
  const ready = await infoOf({ OPENAI_API_KEY: 'a key' })
  expect([ready.ready, ready.missing]).toEqual([true, undefined])
})

it('the Codex driver treats Codex as signed in if its settings name another model provider', async () => {
  writeCodex('0.166.0')
  mkdirSync(join(folder, '.codex'))
  writeFileSync(join(folder, '.codex', 'config.toml'), 'model = "x"\nmodel_provider = "own"\n')
  expect((await infoOf({})).missing).toBeUndefined()
})

it('the Codex driver is ready with an untested version of Codex, and says which version was tested', async () => {
  const file = writeCodex('0.200.0')
  expect(await infoOf({ PATH: '/nowhere', HOLDPOINT_CODEX: file, OPENAI_API_KEY: 'a key' })).toMatchObject({
    ready: true,
    missing: expect.stringContaining('Codex 0.200.0 was not tested with Holdpoint; 0.166.0 was'),
  })
})

it('the Codex driver reports a problem if HOLDPOINT_CODEX names no program', async () => {
  const info = await infoOf({ HOLDPOINT_CODEX: '/nowhere/codex' })
  expect(info).toMatchObject({ ready: false, missing: expect.stringContaining('/nowhere/codex is not an executable') })
  expect(info.installed).toBeUndefined()
})
