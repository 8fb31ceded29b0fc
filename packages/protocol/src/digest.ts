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
  const base = { version: digestVersion, session, kind: ask.kind }
  switch (ask.kind) {
    case 'approval':
      return canonicalJson({
        ...base,
        tool: ask.tool,
        input: ask.input,
        action: ask.action,
        cwd: ask.cwd,
        plan: ask.plan,
      })
    case 'questions':
      return canonicalJson({ ...base, questions: ask.questions })
    case 'form':
      return canonicalJson({ ...base, schema: ask.schema, url: ask.url })
  }
}
