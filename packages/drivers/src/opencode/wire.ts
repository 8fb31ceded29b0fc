/** The parts of opencode's events and replies that the driver reads, as observed with the tested versions. */
import { z } from 'zod'

/** opencode writes null for some values that are missing. */
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform(value => value ?? undefined)

export const PermissionRequest = z.object({
  id: z.string(),
  sessionID: z.string(),
  /** The requested permission: `bash`, `edit`, `webfetch`, `external_directory`, or the name of an MCP tool. */
  permission: z.string(),
  patterns: z.array(z.string()).catch([]),
  metadata: z.record(z.string(), z.unknown()).catch({}),
  tool: optional(z.object({ messageID: z.string(), callID: z.string() })),
})
export type PermissionRequest = z.infer<typeof PermissionRequest>

export const QuestionRequest = z.object({
  id: z.string(),
  sessionID: z.string(),
  questions: z.array(
    z.object({
      question: z.string(),
      header: z.string().catch(''),
      options: z.array(z.object({ label: z.string(), description: optional(z.string()) })).catch([]),
      multiple: optional(z.boolean()),
    }),
  ),
})
export type QuestionRequest = z.infer<typeof QuestionRequest>

const ToolState = z.object({
  status: z.string(),
  input: z.record(z.string(), z.unknown()).catch({}),
  output: optional(z.string()),
  error: optional(z.string()),
  /** `exit` is the exit code of a command. */
  metadata: z.object({ exit: optional(z.int()) }).catch({ exit: undefined }),
})
const partIds = { id: z.string(), messageID: z.string(), sessionID: z.string() }
export const ToolPart = z.object({
  ...partIds,
  type: z.literal('tool'),
  tool: z.string(),
  callID: z.string(),
  state: ToolState,
})
export type ToolPart = z.infer<typeof ToolPart>

const Part = z.discriminatedUnion('type', [
  ToolPart,
  z.object({ ...partIds, type: z.literal('text'), text: z.string() }),
  z.object({
    ...partIds,
    type: z.literal('step-finish'),
    cost: z.number().catch(0),
    tokens: optional(
      z.object({
        input: z.number().catch(0),
        output: z.number().catch(0),
        cache: optional(z.object({ read: z.number().catch(0), write: z.number().catch(0) })),
      }),
    ),
  }),
])
export type Part = z.infer<typeof Part>

export const SessionInfo = z.object({
  id: z.string(),
  parentID: optional(z.string()),
  title: z.string().catch(''),
  agent: optional(z.string()),
  directory: optional(z.string()),
  permission: optional(z.array(z.object({ permission: z.string(), pattern: z.string(), action: z.string() }))),
})
export type SessionInfo = z.infer<typeof SessionInfo>

const sessionID = z.string()
const settled = z.object({ sessionID, requestID: z.string(), reply: optional(z.string()) })

export const OpencodeEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('session.status'),
    properties: z.object({ sessionID, status: z.object({ type: z.string() }) }),
  }),
  z.object({ type: z.literal('session.idle'), properties: z.object({ sessionID }) }),
  z.object({
    type: z.literal('session.error'),
    properties: z.object({
      sessionID: optional(sessionID),
      error: optional(
        z.object({ name: z.string(), data: z.object({ message: optional(z.string()) }).catch({ message: undefined }) }),
      ),
    }),
  }),
  // opencode sends this every 10 s.
  z.object({ type: z.literal('server.heartbeat'), properties: z.object({ sessionID: optional(z.string()) }) }),
  z.object({
    type: z.literal('message.updated'),
    properties: z.object({
      info: z.object({
        id: z.string(),
        sessionID,
        role: z.string(),
        agent: optional(z.string()),
        model: optional(z.object({ providerID: z.string(), modelID: z.string() })),
      }),
    }),
  }),
  z.object({ type: z.literal('message.part.updated'), properties: z.object({ part: Part }) }),
  z.object({
    type: z.literal('message.part.delta'),
    properties: z.object({ sessionID, partID: z.string(), field: z.string(), delta: z.string() }),
  }),
  z.object({ type: z.literal('permission.asked'), properties: PermissionRequest }),
  z.object({ type: z.literal('permission.replied'), properties: settled }),
  z.object({ type: z.literal('question.asked'), properties: QuestionRequest }),
  z.object({ type: z.literal('question.replied'), properties: settled }),
  z.object({ type: z.literal('question.rejected'), properties: settled }),
])
export type OpencodeEvent = z.infer<typeof OpencodeEvent>

/** The events that the driver reads. All others are ignored. An event of this list that cannot be parsed is an error. */
const knownTypes: ReadonlySet<unknown> = new Set(OpencodeEvent.options.map(({ shape }) => shape.type.value))
const partTypes: ReadonlySet<unknown> = new Set(Part.options.map(({ shape }) => shape.type.value))

/** Returns null if the driver does not need the event. */
export function parseEvent(data: string): OpencodeEvent | null {
  const event = JSON.parse(data) as { type?: unknown; properties?: { part?: { type?: unknown } } } // an event is always an object
  if (!knownTypes.has(event.type)) return null
  if (event.type === 'message.part.updated' && !partTypes.has(event.properties?.part?.type)) return null
  return OpencodeEvent.parse(event)
}

export const OpencodeAgent = z.object({ name: z.string(), mode: z.string(), hidden: optional(z.boolean()) })
export const OpencodeConfig = z.object({
  default_agent: optional(z.string()),
  permission: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])).catch({}),
  mcp: z.record(z.string(), z.unknown()).catch({}),
})
export type OpencodeConfig = z.infer<typeof OpencodeConfig>
export const OpencodeProviders = z.object({
  providers: z.array(z.object({ id: z.string(), models: z.record(z.string(), z.unknown()) })),
})
