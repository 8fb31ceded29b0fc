/** Finds and starts a real Chromium for the page tests, benchmarks and screenshots. */
import { existsSync } from 'node:fs'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot resolve the exports of playwright-core
import playwright from 'playwright-core'

const executables = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
export const executable = process.env.HOLDPOINT_CHROMIUM ?? executables.find(path => existsSync(path))
/** The headless shell uses about half the CPU time, but does not support notifications. */
const headlessShells = ['/usr/bin/chromium-headless-shell']
const lightExecutable = process.env.HOLDPOINT_CHROMIUM ?? headlessShells.find(path => existsSync(path)) ?? executable
export const missing =
  'No Chromium was found. Install it (on Debian: apt-get install chromium), or set HOLDPOINT_CHROMIUM to its path.'

/** Turns off Chromium's own network requests and background work, which would disturb measurements. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function launch() {
  return start(executable)
}
/** @param {readonly string[]} moreArgs */
export function launchLight(moreArgs = []) {
  // A process of its own for the GPU costs a sixth of the CPU time of the page tests.
  return start(lightExecutable, ['--in-process-gpu', ...moreArgs])
}
/**
 * @param {string | undefined} executablePath
 * @param {readonly string[]} moreArgs
 */
function start(executablePath, moreArgs = []) {
  if (executablePath === undefined) throw new Error(missing)
  return playwright.chromium.launch({ executablePath, args: [...args, ...moreArgs] })
}
