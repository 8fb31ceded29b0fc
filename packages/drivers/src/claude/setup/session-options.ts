/** Parses the options that a person sets when starting a session. Unknown and invalid options are errors, because a person would otherwise believe that these options apply. */
import type { Options } from '@anthropic-ai/claude-agent-sdk'
import { Fault, limits, type Session } from '@holdpoint/protocol'
import { z } from 'zod'
import { optionProblems as problems } from '../messages.ts'
import type { TranscriptStore } from '../transcript/transcript-store.ts'

export interface SessionOptions extends Pick<Options, 'mcpServers' | 'agents' | 'additionalDirectories'> {
  readonly fork?: boolean
  /** Allows the session to change to bypassPermissions later. */
  readonly allowBypass?: boolean
  readonly idleParkMs?: number
}

const text = z.string(problems.text).min(1, problems.text)
const textList = z.array(text, problems.textList)
const textMap = z.record(z.string(), z.string(problems.text), problems.textMap)
const flag = z.boolean(problems.boolean)
const milliseconds = z.int(problems.milliseconds).min(0, problems.milliseconds)

/** Objects for the SDK keep unknown fields, because the SDK may support fields that are not checked here. */
const stdioServer = z.looseObject(
  { type: z.literal('stdio').default('stdio'), command: text, args: textList.optional(), env: textMap.optional() },
  problems.object,
)
const remoteServer = z.looseObject(
  { type: z.enum(['http', 'sse']), url: text, headers: textMap.optional() },
  problems.object,
)
const server = z.discriminatedUnion('type', [stdioServer, remoteServer], {
  error: issue => (issue.code === 'invalid_union' ? problems.serverType : problems.object),
})
const optionalAgentFields = { tools: textList.optional(), disallowedTools: textList.optional(), model: text.optional() }
const agent = z.looseObject({ description: text, prompt: text, ...optionalAgentFields }, problems.object)

const schemas: Readonly<Record<keyof SessionOptions, z.ZodType>> = {
  fork: flag,
  allowBypass: flag,
  mcpServers: z.record(z.string(), server, problems.named),
  agents: z.record(z.string(), agent, problems.named),
  additionalDirectories: textList,
  idleParkMs: milliseconds.max(limits.deadlineMaxMs, problems.milliseconds),
}

export function parseSessionOptions({
  options,
  conversationId,
}: Pick<Session, 'options' | 'conversationId'>): SessionOptions {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(schemas, name)) throw invalid([name], problems.unknown(Object.keys(schemas)))
    const parsed = schemas[name as keyof SessionOptions].safeParse(value) // `Object.hasOwn` has shown that `schemas` has this name
    const issue = parsed.error?.issues[0]
    if (issue) throw invalid([name, ...issue.path], issue.message)
  }
  const checked = options as SessionOptions // every option was parsed above
  if (checked.fork && conversationId === null) throw invalid(['fork'], problems.forkNeedsConversation)
  return checked
}

function invalid(path: readonly PropertyKey[], problem: string): Fault {
  return new Fault('bad_input', `options.${z.core.toDotPath([...path])}: ${problem}`)
}

/** Returns whether the session can enter bypassPermissions, because it was started in that mode or with the option `allowBypass`. The mode can change later, so the first call stores whether the session was started in bypassPermissions. */
export function mayBypass(transcript: TranscriptStore, info: Session): boolean {
  const stored = transcript.meta.mayBypass ?? info.mode === 'bypassPermissions'
  if (transcript.meta.mayBypass === undefined) transcript.updateMeta({ mayBypass: stored })
  return stored || parseSessionOptions(info).allowBypass === true
}
