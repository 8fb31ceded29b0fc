/** The message lines of `holdpoint tui`: one per session, so that an unsent message stays with its session. */
import type { SessionId } from '@holdpoint/protocol'
import { type ComposerOptions, MessageComposer } from '../run/composer.ts'

export class SessionComposers {
  readonly #composers = new Map<SessionId, MessageComposer>()
  readonly #optionsFor: (id: SessionId) => ComposerOptions

  constructor(optionsFor: (id: SessionId) => ComposerOptions) {
    this.#optionsFor = optionsFor
  }

  of(id: SessionId): MessageComposer {
    const composer = this.#composers.get(id) ?? new MessageComposer(this.#optionsFor(id))
    this.#composers.set(id, composer)
    return composer
  }
  /** The messages that the person has typed and not sent, with the sessions that they are for. */
  get unsent(): readonly { readonly id: SessionId; readonly text: string }[] {
    return [...this.#composers].flatMap(([id, { line }]) =>
      line.text.trim() === '' ? [] : { id, text: line.text.trim() },
    )
  }
}
