/** Selects the fields of an ask that its digest covers: the fields that decide what runs, but not titles or descriptions (G7). */
import type { Ask } from './ask.ts'
import type { SessionId } from './ids.ts'
import { canonicalJson } from './json.ts'

const digestVersion = 1

/** Returns the canonical text of a request. The digest of the request is the SHA-256 of this text. */
export function digestText(session: SessionId, ask: Ask): string {
  const base = { version: digestVersion, session, kind: ask.kind }
  switch (ask.kind) {
    case 'approval':
      return canonicalJson({ ...base, tool: ask.tool, input: ask.input, cwd: ask.cwd, plan: ask.plan })
    case 'questions':
      return canonicalJson({ ...base, questions: ask.questions })
    case 'form':
      return canonicalJson({ ...base, schema: ask.schema, url: ask.url })
  }
}
