/** Reports each unavailable MCP server once, because an agent does not mention that the server's tools are missing. */
import type { McpServerStatus } from '@anthropic-ai/claude-agent-sdk'
import type { AgentEvent } from '@holdpoint/protocol'
import { errorEvent } from '../error-events.ts'
import { cliErrors } from '../messages.ts'

export function isUnavailable({ status }: { readonly status: string }): boolean {
  return status === 'failed' || status === 'needs-auth'
}

export class McpStatusReporter {
  readonly #reported = new Set<string>()

  /** Returns error events for the unavailable servers that have not been reported yet. */
  newProblems(servers: readonly McpServerStatus[]): readonly AgentEvent[] {
    const unavailable = servers.filter(server => isUnavailable(server) && !this.#reported.has(server.name))
    for (const { name } of unavailable) this.#reported.add(name)
    return unavailable.map(({ name, status, error }) =>
      status === 'needs-auth'
        ? errorEvent('mcp_server', cliErrors.mcpSignIn(name))
        : errorEvent('mcp_server', cliErrors.mcpNotStarted(name), error ?? ''),
    )
  }
}
