import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { endOrphan, ProcessGroup } from '../../src/claude/cli/os-process.ts'
import { isAlive, waitUntil } from './claude-fixture.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ses_process-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const { signal } = new AbortController()
const run = (script: string) =>
  new ProcessGroup({ command: '/bin/sh', args: ['-c', script], env: { PATH: process.env.PATH }, signal }, folder)
const noted = () => JSON.parse(readFileSync(join(folder, 'process.json'), 'utf8'))
async function printed(cli: ProcessGroup): Promise<number> {
  for await (const line of cli.child.stdout) return Number(line)
  throw new Error('it printed nothing')
}

describe('a process of Claude Code', () => {
  it('ends with its whole group, and at the latest by force', async () => {
    const cli = run('trap "" TERM; sleep 60 & echo $!; while true; do sleep 1; done')
    const child = await printed(cli)
    expect((await cli.end()).signal).toBe('SIGKILL')
    await waitUntil(() => !isAlive(child))
  })

  it('takes what it started in other groups with it when it is killed', async () => {
    const cli = run('setsid sleep 60 & echo $!; wait')
    const child = await printed(cli)
    process.kill(cli.child.pid!, 'SIGKILL')
    await cli.ended
    await waitUntil(() => !isAlive(child))
  })

  it('leaves another of the same session alone when it ends', async () => {
    const first = run('echo $$; read line')
    await printed(first)
    const second = run('echo $$; read line')
    const pid = await printed(second)
    process.kill(first.child.pid!, 'SIGKILL')
    await first.ended
    expect(isAlive(pid)).toBe(true)
    expect(noted().pid).toBe(pid)
    await second.end()
  })

  it('says how much memory it holds, and what it complained about last', async () => {
    const cli = run('echo started; echo "something is wrong" >&2; read line; exit 3')
    await printed(cli)
    expect(cli.memory).toBeGreaterThan(100_000)
    cli.child.stdin.write('go\n')
    expect(await cli.ended).toEqual({ code: 3, signal: null, complaint: 'something is wrong' })
  })

  it('that outlived its runner is found again and ended; a stranger with its number is not', async () => {
    const orphan = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
    const note = (started: string) =>
      writeFileSync(join(folder, 'process.json'), JSON.stringify({ pid: orphan.pid, started, mark: 'theirs' }))
    note('1')
    endOrphan(folder)
    expect(isAlive(orphan.pid!)).toBe(true)
    const stat = readFileSync(`/proc/${orphan.pid}/stat`, 'utf8')
    note(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '')
    expect(noted().pid).toBe(orphan.pid)
    endOrphan(folder)
    await new Promise(resolve => orphan.once('exit', resolve))
  })
})
