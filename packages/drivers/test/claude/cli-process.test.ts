/** Tests `CliProcess` and `endOrphan` with real processes. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CliProcess, endOrphan } from '../../src/claude/cli/cli-process.ts'
import { isAlive, waitUntil } from './claude-fixture.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ses_process-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const { signal } = new AbortController()
const run = (script: string) =>
  new CliProcess({ command: '/bin/sh', args: ['-c', script], env: { PATH: process.env.PATH }, signal }, folder)
const readRecord = () => JSON.parse(readFileSync(join(folder, 'process.json'), 'utf8'))
async function printedNumber(cli: CliProcess): Promise<number> {
  for await (const line of cli.child.stdout) return Number(line)
  throw new Error('the process printed nothing')
}

describe('CliProcess', () => {
  it('CliProcess.end() sends SIGKILL to a process group that ignores SIGTERM', async () => {
    const cli = run('trap "" TERM; sleep 60 & echo $!; while true; do sleep 1; done')
    const child = await printedNumber(cli)
    expect((await cli.end()).signal).toBe('SIGKILL')
    await waitUntil(() => !isAlive(child))
  })

  it('CliProcess keeps the input open until the process group is killed', async () => {
    const cli = run('echo $$; read line')
    await printedNumber(cli)
    const states: boolean[] = []
    cli.child.prependOnceListener('exit', () => states.push(cli.stdin.destroyed))
    cli.child.once('exit', () => states.push(cli.stdin.destroyed))
    await cli.end()
    expect(states).toEqual([false, true])
  })

  it('CliProcess ends the children of a killed process in other process groups too', async () => {
    const cli = run('setsid sleep 60 & echo $!; wait')
    const child = await printedNumber(cli)
    process.kill(cli.child.pid!, 'SIGKILL')
    await cli.exited
    await waitUntil(() => !isAlive(child))
  })

  it('CliProcess does not end another process of the same session when its own process ends', async () => {
    const first = run('echo $$; read line')
    await printedNumber(first)
    const second = run('echo $$; read line')
    const pid = await printedNumber(second)
    process.kill(first.child.pid!, 'SIGKILL')
    await first.exited
    expect(isAlive(pid)).toBe(true)
    expect(readRecord().pid).toBe(pid)
    await second.end()
  })

  it('CliProcess reports the memory usage of the process, and after the exit what it last wrote to stderr', async () => {
    const cli = run('echo started; echo "something is wrong" >&2; read line; exit 3')
    await printedNumber(cli)
    expect(cli.memoryBytes).toBeGreaterThan(100_000)
    cli.stdin.write('go\n')
    expect(await cli.exited).toEqual({ code: 3, signal: null, stderr: 'something is wrong' })
  })

  it('endOrphan kills the recorded process, but not another process that has the same pid', async () => {
    const orphan = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
    const writeRecord = (startTime: string) =>
      writeFileSync(join(folder, 'process.json'), JSON.stringify({ pid: orphan.pid, startTime, tag: 'orphan' }))
    writeRecord('1')
    endOrphan(folder)
    expect(isAlive(orphan.pid!)).toBe(true)
    const stat = readFileSync(`/proc/${orphan.pid}/stat`, 'utf8')
    writeRecord(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '')
    expect(readRecord().pid).toBe(orphan.pid)
    endOrphan(folder)
    await new Promise(resolve => orphan.once('exit', resolve))
  })
})
