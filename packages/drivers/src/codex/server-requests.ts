/** Reads the requests of Codex that people answer. */
import type { z } from 'zod'
import { commandCall } from './command-approvals.ts'
import { elicitationCall } from './elicitations.ts'
import { fileCall } from './file-approvals.ts'
import type { ItemLog } from './item-log.ts'
import type { NativeCall } from './native-call.ts'
import { permissionsCall } from './permission-approvals.ts'
import { questionsCall } from './questions.ts'
import { CommandApproval, Elicitation, FileApproval, PermissionApproval, UserInput } from './wire.ts'

/** Returns null if people cannot answer the request, because the driver does not know its method or its parameters. */
export function nativeCall(method: string, params: unknown, items: ItemLog, cwd: string): NativeCall | null {
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return read(CommandApproval, params, approval => commandCall(approval, cwd))
    case 'item/fileChange/requestApproval':
      return read(FileApproval, params, approval =>
        fileCall(approval, items.changesOf(approval.itemId, approval.turnId), cwd),
      )
    case 'item/permissions/requestApproval':
      return read(PermissionApproval, params, permissionsCall)
    case 'item/tool/requestUserInput':
      return read(UserInput, params, questionsCall)
    case 'mcpServer/elicitation/request': {
      const running = items.openItems.flatMap(({ item }) => (item.type === 'mcpToolCall' ? [item] : []))
      return read(Elicitation, params, elicitation => elicitationCall(elicitation, running, cwd))
    }
    default:
      return null
  }
}

function read<T extends z.ZodType>(
  schema: T,
  params: unknown,
  toCall: (params: z.infer<T>) => NativeCall | null,
): NativeCall | null {
  const parsed = schema.safeParse(params)
  return parsed.success ? toCall(parsed.data) : null
}
