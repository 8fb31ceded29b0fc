/** A generator agent that follows a script, for the scenarios of watchers that real agents go through too. It asks before it runs a command, except for commands that only read. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionId } from '@holdpoint/protocol'
import type { ReplyPart, ScriptedReply, ScriptedTool } from '../../../test/agents/model/script.ts'
import {
  type AgentYield,
  approval,
  choice,
  defineAgent,
  type GeneratorAgent,
  generatorDriver,
  StepFailed,
  step,
} from '../src/index.ts'
import type { WatchedAgent } from './conformance/watch-scenarios.ts'
import { openGatewayInMemory, RunnerFixture } from './runner-fixture.ts'
import { type WatchMachine, watchMachine } from './watch-machine.ts'

export class ScriptedGenerator extends RunnerFixture implements WatchedAgent {
  readonly home: string
  readonly watchers: WatchMachine
  /** Everything that the agent has read: messages, reasons and results. */
  readonly #read: string[] = []
  readonly #scripts = new Map<string, readonly ScriptedReply[]>()
  readonly model = {
    script: (marker: string, ...replies: readonly ScriptedReply[]) => void this.#scripts.set(marker, replies),
  }

  private constructor(home: string, watchers: WatchMachine, opened: Awaited<ReturnType<typeof openGatewayInMemory>>) {
    super(opened)
    this.home = home
    this.watchers = watchers
  }

  static async create(): Promise<ScriptedGenerator> {
    const home = mkdtempSync(join(tmpdir(), 'holdpoint-scripted-generator-'))
    const watchers = watchMachine(home)
    const fixture = new ScriptedGenerator(home, watchers, await openGatewayInMemory({ machine: watchers.machine }))
    await fixture.subscribe()
    fixture.startRunner([generatorDriver(fixture.#agent())])
    return fixture
  }

  #agent(): GeneratorAgent {
    const follow = (text: string) => this.#follow(text)
    return defineAgent({
      name: 'scripted',
      title: 'Scripted',
      run: async function* ({ text }) {
        yield* follow(text)
      },
    })
  }
  *#follow(text: string): Generator<AgentYield, void, unknown> {
    this.#read.push(text)
    const [, replies = []] = [...this.#scripts].find(([marker]) => text.includes(marker)) ?? []
    for (const reply of replies)
      for (const part of [reply].flat()) {
        if (typeof part === 'function') throw new Error('a generator agent cannot compute its replies')
        yield* this.#carryOut(part)
      }
  }
  *#carryOut(part: ReplyPart): Generator<AgentYield, void, unknown> {
    if (part.kind === 'text') yield part.pieces.join('')
    else if (part.kind === 'call') yield* this.#call(part.tool)
    else throw new Error(`a generator agent cannot follow "${part.kind}"`)
  }
  *#call(tool: ScriptedTool): Generator<AgentYield, void, unknown> {
    if (tool.kind === 'ask') {
      const onReject = (reason: string) => void this.#read.push(reason)
      for (const { question, options } of tool.questions) yield* choice(question, options, { onReject })
      return
    }
    if (tool.kind !== 'shell') throw new Error(`a generator agent cannot use the tool "${tool.kind}"`)
    const { command } = tool
    const input = { command }
    if (!command.startsWith('cat ')) {
      const answer = yield* approval(command, { tool: 'Bash', input })
      if (!answer.allowed) return void this.#read.push(answer.reason)
    }
    try {
      const run = () => execFileSync('/bin/sh', ['-c', command], { cwd: this.home, encoding: 'utf8', stdio: 'pipe' })
      this.#read.push(yield* step('Bash', run, { input }))
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error
      this.#read.push(error.message)
    }
  }

  start(prompt: string): Promise<SessionId> {
    return this.startSession('scripted', { cwd: this.home, prompt })
  }
  readonly goesOnInTurn = false
  async send(id: SessionId, text: string): Promise<void> {
    await this.asPerson('sendMessage', { id, text })
  }
  turnEnd(nth = 1) {
    return this.waitForTurnEnd(nth)
  }
  hasRead(text: string): boolean {
    return this.#read.some(read => read.includes(text))
  }
  readFile(name: string): string | null {
    const path = join(this.home, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  }
  writeFile(name: string, text: string): void {
    writeFileSync(join(this.home, name), text)
  }

  override async close(): Promise<void> {
    await super.close()
    rmSync(this.home, { recursive: true })
  }
}
