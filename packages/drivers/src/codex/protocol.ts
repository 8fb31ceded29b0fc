/** Tells the session loop how to run Codex: what survives the loss of a process, and how a turn continues. */
import type { Session } from '@holdpoint/protocol'
import { cwdProblem } from '../claude/setup/cwd-check.ts'
import type {
  AgentConnection,
  AgentMessage,
  AgentProtocol,
  ConnectionOptions,
  InterruptedTurn,
  ResumePlan,
  SettingsChange,
} from '../session/agent-connection.ts'
import { AppServer } from './app-server.ts'
import { CodexConnection } from './connection.ts'
import { codexLog, codexSettings } from './messages.ts'
import { isCodexMode, profileArguments } from './modes.ts'
import { ProgressFile } from './progress.ts'

export interface CodexProtocolOptions {
  readonly info: Session
  readonly executable: string
  /** The session's folder. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** A folder that commands in the sandbox cannot read. */
  readonly protectedFolder: string | undefined
  /** Whether the session may change to the mode that never asks. */
  readonly mayHaveFullAccess: boolean
}

/** Without this feature, Codex lets its model ask the person only in its plan mode. */
const questionArguments = ['-c', 'features.default_mode_request_user_input = true']

export class CodexProtocol implements AgentProtocol {
  readonly title = 'Codex'
  readonly startHint = codexSettings.startHint
  readonly #options: CodexProtocolOptions
  readonly #progress: ProgressFile

  constructor(options: CodexProtocolOptions) {
    this.#options = options
    this.#progress = new ProgressFile(options.folder)
  }

  /** A server that an earlier runner has left still has its calls. */
  get keepsAfterLoss(): 'calls' | 'conversation' {
    return this.#findServer() ? 'calls' : 'conversation'
  }

  connect(options: ConnectionOptions): AgentConnection {
    const { info, executable, folder, env, protectedFolder } = this.#options
    const args = [...profileArguments(protectedFolder), ...questionArguments]
    return new CodexConnection({
      ...options,
      executable,
      progress: this.#progress,
      findServer: () => this.#findServer(),
      startServer: () => AppServer.start({ executable, folder, cwd: info.cwd, env, args }),
    })
  }

  async planResume(turn: InterruptedTurn, message: AgentMessage | null): Promise<ResumePlan> {
    const server = this.#findServer()
    if (turn.interrupted) {
      // The server would continue the turn, so it must end.
      await server?.end()
      return { kind: 'interrupted' }
    }
    const isReceived = message === null || this.#progress.current.receivedMessage === message.id
    if (!isReceived) return { kind: 'message' }
    if (server) return { kind: 'continue' }
    return turn.requests.size > 0 ? { kind: 'summary' } : { kind: 'failed', reason: codexLog.runnerLost }
  }

  startProblem(): string | null {
    return cwdProblem(this.#options.info.cwd)
  }

  settingsProblem({ mode }: SettingsChange): string | null {
    if (mode === undefined) return null
    if (!isCodexMode(mode)) return codexSettings.noSuchMode(mode)
    return mode === 'full-access' && !this.#options.mayHaveFullAccess ? codexSettings.fullAccessDenied : null
  }

  #findServer(): AppServer | null {
    return AppServer.find(this.#options.folder)
  }
}
