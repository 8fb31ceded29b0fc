/** A gateway as people run it: `holdpoint up` in a process of its own, in a home folder of its own. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
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
    runnerPid: () => runnerPid(home),
    /** A runner is detached and outlives its gateway; this one has no agents to part from. */
    async stop() {
      const pid = runner === 'process' ? await runnerPid(home) : null
      await endProcess(child.pid)
      if (!pid) return
      await endProcess(pid, 'SIGKILL')
      // Whoever tidies up later must not take its number for a process that lives.
      rmSync(join(home, 'runner.json'))
    },
  }
}

/** The runner notes itself down when it begins, a moment after the gateway has said that it is ready. */
async function runnerPid(home) {
  const note = join(home, 'runner.json')
  for (const lateAt = Date.now() + patienceMs; !existsSync(note); await sleep(20))
    if (Date.now() > lateAt) throw new Error('the gateway has started no runner')
  return JSON.parse(readFileSync(note, 'utf8')).pid
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
