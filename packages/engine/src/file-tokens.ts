/** The tokens of the owner and of the local runner. The data folder of this gateway holds both in files. */
import type { Role, RunnerId } from '@holdpoint/protocol'
import type { Caller } from './gateway.ts'

/** Writes the token files of the data folder. */
export interface TokenFiles {
  /** Replaces the token of this role in its file, durably and at once. Throws a Fault if the file cannot be written. */
  write(role: Role, secret: string): void
}

export class FileTokens {
  readonly #files: TokenFiles | null
  readonly #registered = new Map<Role, { readonly dataFolder: RunnerId; readonly caller: Caller }>()
  #lastRotation: Promise<unknown> = Promise.resolve()

  constructor(files: TokenFiles | null) {
    this.#files = files
  }

  /** Remembers the token that the file contains now. */
  register(dataFolder: RunnerId, caller: Caller): void {
    this.#registered.set(caller.role, { dataFolder, caller })
  }
  callerOf(role: Role): Caller {
    const registered = this.#registered.get(role)
    if (!registered) throw new Error(`the data folder has no token for the ${role}`)
    return registered.caller
  }
  /** Returns whether the token of this role and data folder is in a file that this gateway can write. */
  canWrite(role: Role, dataFolder: RunnerId): boolean {
    return this.#files !== null && this.#registered.get(role)?.dataFolder === dataFolder
  }
  write(role: Role, secret: string): void {
    this.#files?.write(role, secret)
  }
  /** Runs rotations one after another, so that the token that was written last is the one that stays valid. */
  rotate<T>(run: () => Promise<T>): Promise<T> {
    const rotation = this.#lastRotation.then(run)
    // The caller of a failed rotation gets its error. The next rotation runs anyway.
    this.#lastRotation = rotation.catch(() => {})
    return rotation
  }
}
