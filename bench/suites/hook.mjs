/** Measures what the hook before a tool call adds to a call of Claude Code in a person's terminal, compared with a hook in Node that does nothing. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cwd } from '../kit/asks.mjs'
import { startGateway } from '../kit/gateway.mjs'
import { median } from '../kit/numbers.mjs'
import { timedProcess } from '../kit/timed-process.mjs'

const program = fileURLToPath(new URL('../../packages/cli/bin/holdpoint.js', import.meta.url))

export async function measure({ folder, quick }) {
  const home = join(folder, 'home')
  const gateway = await startGateway({ home })
  const measured = []
  const bare = []
  // Alternate between the two hooks, so that other load on the machine affects both.
  for (let i = 0; i <= (quick ? 5 : 15); i++) {
    const ms = await timedProcess([program, 'hook', 'run', 'claude', '--home', home], hookInput(i))
    // The first hook also starts the session.
    if (i > 0) measured.push(ms)
    bare.push(await timedProcess(['-e', 'process.stdin.resume()'], hookInput(i)))
  }
  await gateway.stop()
  return { hook_ms: { measured: median(measured), bare: median(bare) } }
}

function hookInput(n) {
  return JSON.stringify({
    hook_event_name: 'PreToolUse',
    session_id: 'bench',
    cwd,
    tool_name: 'Bash',
    tool_input: { command: 'npm test', description: 'Runs the tests' },
    tool_use_id: `call_${n}`,
  })
}
