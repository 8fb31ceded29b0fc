/** Stops what runs: the gateway first, so that it starts no new runner, then the runner, which parks its agents. */
import { type Home, livingProcess } from './home.ts'

const stopMaxMs = 15_000
const lookMs = 50

export async function down(home: Home): Promise<string> {
  const stopped: string[] = []
  for (const name of ['gateway', 'runner'] as const) {
    const process_ = livingProcess(home, name)
    if (!process_) continue
    process.kill(process_.pid, 'SIGTERM')
    await gone(home, name)
    stopped.push(name)
  }
  return stopped.length > 0
    ? `Stopped: ${stopped.join(' and ')}. Pending requests wait for the next start.`
    : 'Nothing runs.'
}

async function gone(home: Home, name: 'gateway' | 'runner'): Promise<void> {
  for (let waited = 0; waited < stopMaxMs; waited += lookMs) {
    if (!livingProcess(home, name)) return
    await new Promise(resolve => setTimeout(resolve, lookMs))
  }
  const process_ = livingProcess(home, name)
  if (process_) process.kill(process_.pid, 'SIGKILL')
}
