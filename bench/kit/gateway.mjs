/** A gateway as people run it: `holdpoint up` in a process of its own, in a home folder of its own. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endProcess } from './process.mjs'
import { openWire } from './wire.mjs'

const program = fileURLToPath(new URL('../../packages/cli/bin/holdpoint.js', import.meta.url))
const patienceMs = 20_000

export async function startGateway({ home, runner = 'none', execArgv = [] }) {
  mkdirSync(home, { recursive: true })
  const args = [...execArgv, program, 'up', '--port', '0', '--home', home, '--runner', runner, '--json']
  const child = spawn(process.execPath, args, { cwd: home, stdio: ['ignore', 'pipe', 'inherit'] })
  const { url, tokenFile } = JSON.parse(await firstLine(child))
  return {
    url,
    pid: child.pid,
    token: readFileSync(tokenFile, 'utf8').trim(),
    runnerPid: () => notedPid(home, 'runner'),
    /** A runner is detached and outlives its gateway; this one has no agents to part from. */
    async stop() {
      const running = notedPid(home, 'runner')
      await endProcess(child.pid)
      if (running) await endProcess(running, 'SIGKILL')
    },
  }
}

function notedPid(home, name) {
  try {
    return JSON.parse(readFileSync(join(home, `${name}.json`), 'utf8')).pid
  } catch {
    return null
  }
}

export function firstLine(child) {
  return new Promise((resolve, reject) => {
    let text = ''
    const late = setTimeout(() => reject(new Error(`no line within ${patienceMs} ms`)), patienceMs)
    child.stdout.on('data', chunk => {
      text += chunk
      if (!text.includes('\n')) return
      clearTimeout(late)
      resolve(text.slice(0, text.indexOf('\n')))
    })
    child.once('exit', code => {
      clearTimeout(late)
      reject(new Error(`the process ended with ${code} before it said anything`))
    })
  })
}

/** An agent's credential, made as people make it. */
export async function makeAgent({ url, token }) {
  const wire = await openWire(url)
  const { secret } = await wire.post('/tokens', token, { role: 'agent', name: 'bench' })
  wire.close()
  return secret
}
