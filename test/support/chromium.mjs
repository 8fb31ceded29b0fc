/** Where a real Chromium is, and how it is started: for the tests of the page, for its figures and for its pictures. */
import { existsSync } from 'node:fs'
// biome-ignore lint/correctness/noUnresolvedImports: it exports them by a way that the linter does not follow
import playwright from 'playwright-core'

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
export const executable = process.env.HOLDPOINT_CHROMIUM ?? places.find(place => existsSync(place))
/** Chromium without what stands around a page: half the work, but it has no notifications. */
const lightPlaces = ['/usr/bin/chromium-headless-shell']
const lightExecutable = process.env.HOLDPOINT_CHROMIUM ?? lightPlaces.find(place => existsSync(place)) ?? executable
export const missing =
  'No Chromium was found: install it (on Debian: apt-get install chromium), or name one in HOLDPOINT_CHROMIUM.'

/** Nothing that Chromium does by itself may go out or disturb a measurement. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function launch() {
  return begin(executable)
}
export function launchLight() {
  return begin(lightExecutable)
}
function begin(executablePath) {
  if (executablePath === undefined) throw new Error(missing)
  return playwright.chromium.launch({ executablePath, args })
}
