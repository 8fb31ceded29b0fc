/** The parts of Codex's app-server protocol that the driver reads. Everything else is ignored, so that a newer Codex can add to it. */
import { JsonObject } from '@holdpoint/protocol'
import { z } from 'zod'

/** Codex counts its requests from 0. */
export const RpcId = z.union([z.int(), z.string()])
export type RpcId = z.infer<typeof RpcId>

const optionalText = z.string().nullish()
const inThread = { threadId: z.string() }
const inTurn = { ...inThread, turnId: z.string() }

const Amendment = z.array(z.string())
const NetworkAmendment = z.object({ host: z.string(), action: z.string() })

export const CommandApproval = z.object({
  ...inTurn,
  itemId: z.string(),
  /** `command` starts a command, `writeStdin` sends text to a running command. Some versions know only commands and send no kind. */
  kind: z.string().default('command'),
  reason: optionalText,
  command: optionalText,
  cwd: optionalText,
  networkApprovalContext: z.object({ host: z.string(), protocol: z.string() }).nullish(),
  additionalPermissions: JsonObject.nullish(),
  proposedExecpolicyAmendment: Amendment.nullish(),
  proposedNetworkPolicyAmendments: z.array(NetworkAmendment).nullish(),
})
export type CommandApproval = z.infer<typeof CommandApproval>

export const FileApproval = z.object({
  ...inTurn,
  itemId: z.string(),
  reason: optionalText,
  grantRoot: optionalText,
})
export type FileApproval = z.infer<typeof FileApproval>

export const PermissionApproval = z.object({
  ...inTurn,
  itemId: z.string(),
  cwd: z.string(),
  reason: optionalText,
  permissions: JsonObject,
})
export type PermissionApproval = z.infer<typeof PermissionApproval>

export const UserInput = z.object({
  ...inTurn,
  itemId: z.string(),
  autoResolutionMs: z.number().nullish(),
  questions: z.array(
    z.object({
      id: z.string(),
      header: z.string().default(''),
      question: z.string(),
      isOther: z.boolean().default(false),
      isSecret: z.boolean().default(false),
      options: z.array(z.object({ label: z.string(), description: z.string().default('') })).nullish(),
    }),
  ),
})
export type UserInput = z.infer<typeof UserInput>

/** Codex sends the approval of an MCP tool as an elicitation too, with these fields. */
const ToolApproval = z.object({
  codex_approval_kind: z.literal('mcp_tool_call'),
  persist: z.array(z.string()).default([]),
  tool_description: optionalText,
  tool_params: JsonObject.nullish(),
})
export const Elicitation = z.object({
  ...inThread,
  turnId: z.string().nullish(),
  serverName: z.string(),
  mode: z.string(),
  message: z.string().default(''),
  requestedSchema: z.unknown().optional(),
  url: optionalText,
  _meta: z.unknown().optional(),
})
export type Elicitation = z.infer<typeof Elicitation>
export type ToolApproval = z.infer<typeof ToolApproval>
export function toolApprovalIn({ _meta: meta }: Elicitation): ToolApproval | null {
  return ToolApproval.safeParse(meta).data ?? null
}

const FileChange = z.object({
  path: z.string(),
  kind: z.object({ type: z.string(), move_path: optionalText }),
  diff: z.string(),
})
export type FileChange = z.infer<typeof FileChange>

const times = { completedAtMs: z.number().nullish() }
const CodexItem = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('userMessage'),
    id: z.string(),
    clientId: optionalText,
    content: z.array(z.unknown()),
    ...times,
  }),
  z.object({ type: z.literal('agentMessage'), id: z.string(), text: z.string(), ...times }),
  z.object({ type: z.literal('plan'), id: z.string(), text: z.string(), ...times }),
  z.object({
    type: z.literal('commandExecution'),
    id: z.string(),
    command: z.string(),
    cwd: z.string(),
    status: z.string(),
    aggregatedOutput: optionalText,
    exitCode: z.number().nullish(),
    ...times,
  }),
  z.object({
    type: z.literal('fileChange'),
    id: z.string(),
    changes: z.array(FileChange),
    status: z.string(),
    ...times,
  }),
  z.object({
    type: z.literal('mcpToolCall'),
    id: z.string(),
    server: z.string(),
    tool: z.string(),
    status: z.string(),
    arguments: z.unknown().optional(),
    result: z.object({ content: z.array(z.unknown()) }).nullish(),
    error: z.object({ message: z.string() }).nullish(),
    ...times,
  }),
  z.object({
    type: z.literal('collabAgentToolCall'),
    id: z.string(),
    tool: z.string(),
    status: z.string(),
    prompt: optionalText,
    receiverThreadIds: z.array(z.string()).default([]),
    ...times,
  }),
  z.object({ type: z.literal('webSearch'), id: z.string(), query: optionalText, ...times }),
  z.object({ type: z.literal('imageView'), id: z.string(), path: z.string(), ...times }),
])
export type CodexItem = z.infer<typeof CodexItem>

/** Returns the item, or null if the driver does not know its type. */
export function itemIn(value: unknown): CodexItem | null {
  return CodexItem.safeParse(value).data ?? null
}

const TurnFailure = z.object({
  message: z.string(),
  codexErrorInfo: z.unknown().optional(),
  additionalDetails: optionalText,
})
export type TurnFailure = z.infer<typeof TurnFailure>
export const CodexTurn = z.object({
  id: z.string(),
  status: z.string(),
  error: TurnFailure.nullish(),
  items: z.array(z.unknown()).default([]),
})
export type CodexTurn = z.infer<typeof CodexTurn>

/** The settings that Codex runs with. Only values that a mode of the driver uses are distinguished. */
export const ThreadSettings = z.object({
  model: z.string().optional(),
  approvalPolicy: z.unknown().optional(),
  activePermissionProfile: z.object({ id: z.string() }).nullish(),
  approvalsReviewer: z.unknown().optional(),
})
export type ThreadSettings = z.infer<typeof ThreadSettings>

export const ThreadReply = z.object({
  model: z.string(),
  thread: z.object({
    id: z.string(),
    parentThreadId: optionalText,
    agentNickname: optionalText,
    agentRole: optionalText,
    status: z.object({ type: z.string() }),
  }),
  initialTurnsPage: z.object({ data: z.array(CodexTurn) }).nullish(),
})
export type ThreadReply = z.infer<typeof ThreadReply>

export const notifications = {
  'turn/started': z.object({ ...inThread, turn: CodexTurn }),
  'turn/completed': z.object({ ...inThread, turn: CodexTurn }),
  'item/started': z.object({ ...inTurn, item: z.unknown() }),
  'item/completed': z.object({ ...inTurn, item: z.unknown() }),
  'item/agentMessage/delta': z.object({ ...inTurn, itemId: z.string(), delta: z.string() }),
  'serverRequest/resolved': z.object({ ...inThread, requestId: RpcId }),
  'thread/tokenUsage/updated': z.object({
    ...inTurn,
    tokenUsage: z.object({ last: z.object({ inputTokens: z.int(), outputTokens: z.int() }) }),
  }),
  'thread/settings/updated': z.object({ ...inThread, threadSettings: ThreadSettings }),
  'mcpServer/startupStatus/updated': z.object({ name: z.string(), status: z.string(), error: optionalText }),
  error: z.object({ ...inTurn, error: TurnFailure, willRetry: z.boolean() }),
} as const
