/** Starts a gateway in its own process with its own data folder: by default without the supervisor that `holdpoint up` adds. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openHttpClient } from './http-client.mjs'
import { endProcess } from './process-stats.mjs'

const program = fileURLToPath(new URL('../../packages/cli/bin/holdpoint.js', import.meta.url))
const startMaxMs = 20_000

export async function startGateway({ home, runner = 'none', execArgv = [], command = 'gateway' }) {
  mkdirSync(home, { recursive: true })
  const args = [...execArgv, program, command, '--port', '0', '--home', home, '--runner', runner, '--json']
  const child = spawn(process.execPath, args, { cwd: home, stdio: ['ignore', 'pipe', 'inherit'] })
  const { url, tokenFile } = JSON.parse(await firstLine(child))
  return {
    url,
    pid: child.pid,
    token: readFileSync(tokenFile, 'utf8').trim(),
    runnerPid: () => runnerPid(home),
    /** Stops the gateway and kills its runner, which is detached and would outlive the gateway. Killing the runner is safe because it has no agents. */
    async stop() {
      const pid = runner === 'process' ? await runnerPid(home) : null
      await endProcess(child.pid)
      if (!pid) return
      await endProcess(pid, 'SIGKILL')
      // Remove runner.json. Otherwise the final cleanup would kill the pid in this file, which may belong to another process by then.
      rmSync(join(home, 'runner.json'))
    },
  }
}

/** Waits for runner.json, which appears shortly after the gateway prints that it is ready. */
async function runnerPid(home) {
  const pidFile = join(home, 'runner.json')
  for (const giveUpAt = Date.now() + startMaxMs; !existsSync(pidFile); await sleep(20))
    if (Date.now() > giveUpAt) throw new Error('the gateway did not start a runner')
  return JSON.parse(readFileSync(pidFile, 'utf8')).pid
}

export function firstLine(child) {
  return new Promise((resolve, reject) => {
    let text = ''
    const timer = setTimeout(() => reject(new Error(`no line within ${startMaxMs} ms`)), startMaxMs)
    child.stdout.on('data', chunk => {
      text += chunk
      if (!text.includes('\n')) return
      clearTimeout(timer)
      resolve(text.slice(0, text.indexOf('\n')))
    })
    child.once('exit', code => {
      clearTimeout(timer)
      reject(new Error(`the process ended with ${code} before its first line`))
    })
  })
}

/** Creates an agent's token over the API. */
export async function makeAgent({ url, token }) {
  const http = await openHttpClient(url)
  const { secret } = await http.post('/tokens', token, { role: 'agent', name: 'bench' })
  http.close()
  return secret
}
