/** A bare client of an agent: it sends a message and answers approvals, with as little code as the agent's protocol permits. The smoke tests and the bench use it. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { AgentRecipe } from '../recipes.ts'

export interface BareClient {
  /** The pieces of text that the agent has streamed since the last message. */
  readonly pieces: readonly string[]
  /** Sends a message and waits until the agent's turn ends. */
  prompt(text: string): Promise<void>
  /** Ends the agent and everything that it started. */
  close(): Promise<void>
}
/** Answers the agent's permissions and questions. */
export interface Person {
  /** Decides about a permission. The text is the command or the title that the agent shows. */
  decide(text: string): 'allow' | 'deny' | Promise<'allow' | 'deny'>
  /** Chooses an option of a question. */
  choose(question: string, options: readonly string[]): string
}
export type StartClient = (recipe: AgentRecipe, cwd: string, person: Person) => Promise<BareClient>

/** An agent's process, in a process group of its own. */
export class AgentProcess {
  readonly child: ChildProcess
  /** Resolves when the process has exited. */
  readonly exited: Promise<void>
  #errors = ''

  constructor({ command, args, env }: Omit<AgentRecipe, 'prepare'>, cwd: string) {
    this.child = spawn(command, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    this.child.stderr?.on('data', chunk => {
      this.#errors += chunk
    })
    this.exited = new Promise((resolve, reject) => {
      this.child.once('error', reject)
      this.child.once('exit', () => resolve())
    })
  }

  /** Returns everything that the agent has written to its standard error. */
  get errors(): string {
    return this.#errors
  }

  /** Waits until the agent has written a text that matches the pattern, for example its address. */
  findInOutput(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<string> {
    let written = ''
    return new Promise((resolve, reject) => {
      this.child[stream]?.on('data', chunk => {
        written += chunk
        const found = pattern.exec(written)
        if (found) resolve(found[0])
      })
      const fail = () => reject(new Error(`the agent exited and did not write ${pattern}: ${written}${this.#errors}`))
      this.exited.then(fail, reject)
    })
  }

  /** Kills the process group, because a program that starts an agent does not always end it. */
  async kill(): Promise<void> {
    try {
      if (this.child.pid !== undefined) process.kill(-this.child.pid, 'SIGKILL')
    } catch {
      // The group has ended already.
    }
    await this.exited
  }
}
