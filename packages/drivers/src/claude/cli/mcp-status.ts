/** MCP servers that are not there: said once each, for an agent that lacks a tool says nothing of it. */
import type { McpServerStatus } from '@anthropic-ai/claude-agent-sdk'
import type { AgentEvent } from '@holdpoint/protocol'
import { errorEvent } from '../error-events.ts'

export function isAway({ status }: { readonly status: string }): boolean {
  return status === 'failed' || status === 'needs-auth'
}

export class McpStatusReporter {
  readonly #told = new Set<string>()

  /** What is to be said of those that are not there and of which nothing was said yet. */
  trouble(servers: readonly McpServerStatus[]): readonly AgentEvent[] {
    const news = servers.filter(server => isAway(server) && !this.#told.has(server.name))
    for (const { name } of news) this.#told.add(name)
    return news.map(({ name, status, error }) =>
      status === 'needs-auth'
        ? errorEvent(
            'mcp_server',
            `The MCP server ${name} wants a sign-in; its tools are not there. Run \`claude\` and /mcp`,
          )
        : errorEvent('mcp_server', `The MCP server ${name} could not be started; its tools are not there`, error ?? ''),
    )
  }
}
