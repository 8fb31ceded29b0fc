/** The texts from which the id and the digest of a request are computed. The gateway computes both, and the agent's side checks them (G11). */
import type { Ask } from './ask.ts'
import type { SessionId } from './ids.ts'
import { canonicalJson } from './json.ts'

const digestVersion = 1

/** Returns the text from which the id of a request is computed, so that asking twice cannot create two requests (G4). */
export function requestIdText(session: SessionId, key: string): string {
  return `${session}\0${key}`
}

/** Returns the canonical text of a request, with the fields that decide what runs, but without titles and descriptions (G7). The digest of the request is the SHA-256 of this text. */
export function digestText(session: SessionId, ask: Ask): string {
  const version = digestVersion
  switch (ask.kind) {
    case 'approval': {
      const { kind, tool, input, action, cwd, plan } = ask
      return canonicalJson({ version, session, kind, tool, input, action, cwd, plan })
    }
    case 'questions': {
      const { kind, questions } = ask
      return canonicalJson({ version, session, kind, questions })
    }
    case 'form': {
      const { kind, schema, url } = ask
      return canonicalJson({ version, session, kind, schema, url })
    }
  }
}
