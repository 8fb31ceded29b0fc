/**
 * Installs the pinned agents of packages.json from the npm registry into a cache folder outside the workspace.
 * The cache has one folder per agent and pin, so that a changed pin installs only that agent again.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/**
 * @typedef {{ readonly dependencies: Readonly<Record<string, string>>, readonly executable: string }} Pin
 * @typedef {{ readonly name: string, readonly folder: string, readonly executable: string, readonly dependencies: Readonly<Record<string, string>> }} InstalledAgent
 */

const pinsText = readFileSync(new URL('./packages.json', import.meta.url), 'utf8')
/** @type {Readonly<Record<string, Pin>>} */
const pins = JSON.parse(pinsText.replaceAll('{platform}', process.platform).replaceAll('{arch}', process.arch))

/** The agents that this file installs. Claude Code is not among them, because it comes with the workspace's dependencies. */
export const installableAgents = Object.keys(pins)

/** Returns where an agent is, or will be, installed. @param {string} name @returns {InstalledAgent} */
export function locateAgent(name) {
  const pin = pins[name]
  if (!pin) throw new Error(`No agent is called ${name}. The agents are ${installableAgents.join(', ')}.`)
  const hash = createHash('sha256').update(JSON.stringify(pin)).digest('hex').slice(0, 12)
  const cache = resolve(process.env.HOLDPOINT_AGENT_CACHE ?? join(homedir(), '.cache', 'holdpoint-agents'))
  const folder = join(cache, `${name}-${hash}`)
  return { name, folder, executable: join(folder, pin.executable), dependencies: pin.dependencies }
}

/** Returns the path of an agent's executable, and fails if the agent is not installed. @param {string} name @returns {string} */
export function agentExecutable(name) {
  const { executable } = locateAgent(name)
  if (existsSync(executable)) return executable
  throw new Error(`${name} is not installed (${executable} does not exist). Run: node test/agents/install.mjs ${name}`)
}

/** Installs an agent unless it is installed. Several processes may call this function at once. @param {string} name @param {(line: string) => void} report */
export async function installAgent(name, report) {
  const agent = locateAgent(name)
  if (existsSync(agent.folder)) return
  mkdirSync(join(agent.folder, '..'), { recursive: true })
  const release = await lock(`${agent.folder}.lock`, () => report(`${name}: another process is installing it`))
  try {
    if (!existsSync(agent.folder)) await install(agent, report)
  } finally {
    release()
  }
}

/** @param {InstalledAgent} agent @param {(line: string) => void} report */
async function install({ name, folder, executable, dependencies }, report) {
  const packages = Object.entries(dependencies).map(([dependency, version]) => `${dependency}@${version}`)
  report(`${name}: downloading ${packages.join(' and ')}`)
  const startedAt = Date.now()
  const temporary = `${folder}.${process.pid}`
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary)
  try {
    writeFileSync(join(temporary, 'package.json'), `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`)
    await promisify(execFile)(
      'npm',
      ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'],
      { cwd: temporary, env: npmEnvironment(), maxBuffer: 1 << 26 },
    )
    accessSync(join(temporary, executable.slice(folder.length + 1)), constants.X_OK)
    renameSync(temporary, folder)
  } catch (error) {
    if (existsSync(folder)) return
    const { stderr = '', message } = /** @type {Error & { stderr?: string }} */ (error)
    const reason = (stderr || message).trim().split('\n').slice(0, 8).join('\n')
    throw new Error(`${name} could not be installed from the npm registry (${packages.join(', ')}):\n${reason}`)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
  report(`${name}: installed in ${Math.round((Date.now() - startedAt) / 1000)} s`)
}

/** Returns the environment without the settings that `npm run` adds, which describe the workspace and not the folder of the agent. */
function npmEnvironment() {
  const isLocal = (/** @type {string} */ name) => /^npm_(package|lifecycle|command|config_local)/.test(name)
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isLocal(name)))
}

/**
 * Waits until this process holds the lock, and returns the function that releases it. The lock only avoids downloading
 * twice: if two processes take over the lock of a dead one at once, both install, and the second one discards its copy.
 * @param {string} file @param {() => void} onWait
 */
async function lock(file, onWait) {
  for (let waits = 0; ; waits++) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      return () => rmSync(file, { force: true })
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
    }
    if (waits === 0) onWait()
    if (waits > 0 && !isHeld(file)) rmSync(file, { force: true })
    else await delay(500)
  }
}

/** @param {string} file */
function isHeld(file) {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0)
    return true
  } catch {
    return false
  }
}

/** Installs the named agents one after another, and returns those that failed. @param {readonly string[]} names */
export async function installAgents(names) {
  const failed = []
  for (const name of names)
    await installAgent(name, line => console.log(line)).catch(error => {
      failed.push(name)
      console.error(error.message)
    })
  return failed
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const failed = await installAgents(process.argv.slice(2))
  process.exitCode = failed.length > 0 ? 1 : 0
}
