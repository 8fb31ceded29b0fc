/** `holdpoint open`: opens the page in the browser of this person and signs it in. `holdpoint link`: prints a link for another browser. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type DataFolder, writeAtomically } from '../config/data-folder.ts'
import { isLoopback } from '../gateway/loopback.ts'
import type { GatewayClient } from '../gateway-client/gateway-client.ts'
import { out } from '../output/output.ts'
import { untrustedCode } from '../output/span.ts'
import { openTexts as texts } from './texts.ts'

/** A program that opens a browser either exits at once or runs as long as the browser. A program that still runs after this time has not failed. */
const failMaxMs = 3000

export async function openPage({ url, call }: GatewayClient, dataFolder: DataFolder): Promise<void> {
  const { href: link } = new URL(`${url}/#code=${(await call('makeLink', {})).code}`)
  const program = browserProgram(process.platform, process.env)
  if (program === null) return console.log(texts.noBrowser(link))
  const file = join(dataFolder.path, 'open.html')
  writeAtomically(file, redirectPage(link))
  const opened = await started(program, pathToFileURL(file).href)
  console.log(opened ? texts.opened(link) : texts.noBrowser(link))
}

/** Prints only the link, so that a script can use it, and at a terminal also what the link is not good for. */
export async function printLink({ url, call }: GatewayClient): Promise<void> {
  const { code } = await call('makeLink', {})
  out.printLines([[untrustedCode(`${url}/#code=${code}`)]])
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  if (isLoopback(host)) out.printHint(texts.onlyHere)
}

/** Returns the program that opens an address, or null if there is no screen, because xdg-open would then start a text browser in the terminal. */
function browserProgram(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string | null {
  if (platform === 'darwin') return 'open'
  return env.DISPLAY || env.WAYLAND_DISPLAY || env.BROWSER ? 'xdg-open' : null
}

/** Returns a page that leads to the link. Every user of the machine could read the link in the arguments of a program, but not in a file of the data folder. */
function redirectPage(link: string): string {
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url=${link}"><title>Holdpoint</title>`
}

async function started(program: string, address: string): Promise<boolean> {
  const child = spawn(program, [address], { stdio: 'ignore', detached: true })
  child.unref()
  const failed = new Promise<boolean>(done => {
    child.once('error', () => done(false))
    child.once('exit', code => done(code === 0))
  })
  return Promise.race([failed, delay(failMaxMs, true)])
}
