/** An agent that you run yourself. It needs only `@holdpoint/client`, asks before it runs a command, and runs exactly the command that was approved. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { connectAgent, httpCall } from '@holdpoint/client'

const url = process.env.HOLDPOINT_URL ?? 'http://127.0.0.1:4747'
const token = process.env.HOLDPOINT_TOKEN ?? readFileSync(`${homedir()}/.holdpoint/token`, 'utf8').trim()
const command = process.argv[2] ?? 'echo hello from the client library'

const agent = await connectAgent({ call: httpCall({ url, token }), title: 'Client agent', cwd: process.cwd() })
const answer = await agent.approval('Run a command', { tool: 'Bash', input: { command }, editable: true, key: 'run-1' })
if (answer.allowed) spawnSync(answer.input.command, { shell: true, stdio: 'inherit' })
else console.error(`Not allowed: ${answer.reason}`)
await agent.end()
process.exitCode = answer.allowed ? 0 : 1
