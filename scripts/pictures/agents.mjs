/**
 * Starts a session with each real agent, from the page and with `holdpoint run`, and saves what a person sees.
 * `npm run pictures:agents -- FOLDER [--all | --only NAME,NAME]`
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const [folder, ...selection] = process.argv.slice(2)
if (folder === undefined || folder.startsWith('-')) {
  console.log('npm run pictures:agents -- FOLDER [--all | --only NAME,NAME]')
  process.exit(1)
}
mkdirSync(folder, { recursive: true })
const tests = fileURLToPath(new URL('../../test/agents/run.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [tests, ...selection, 'test/agents/program'], {
  env: { ...process.env, HOLDPOINT_PICTURES: resolve(folder) },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
