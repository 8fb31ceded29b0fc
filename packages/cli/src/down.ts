/** Stops what runs: the runner first, so that it can still give its agents back, then the gateway, and a runner that it had begun meanwhile. */
import { type Home, livingProcess } from './home.ts'

const stopMaxMs = 15_000
const lookMs = 20

export async function down(home: Home): Promise<string> {
  const stopped = new Set<string>()
  for (const name of ['runner', 'gateway', 'runner'] as const) {
    const process_ = livingProcess(home, name)
    if (!process_) continue
    process.kill(process_.pid, 'SIGTERM')
    await gone(home, name)
    stopped.add(name)
  }
  return stopped.size > 0
    ? `Stopped: ${[...stopped].join(' and ')}. Pending requests wait for the next start.`
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
