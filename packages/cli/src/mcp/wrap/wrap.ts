/** `holdpoint mcp wrap -- SERVER…`: starts an MCP server, or connects to its URL, and asks before each call of its tools. */
import { basename } from 'node:path'
import { withoutHoldpointVariables } from '@holdpoint/drivers'
import { Fault, messageOf, systemClock } from '@holdpoint/protocol'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { openDataFolder } from '../../config/data-folder.ts'
import type { GatewayAddress } from '../../gateway-client/gateway-client.ts'
import { printNotice } from '../../output/notice.ts'
import { closeWithClient, connectTo } from '../mcp.ts'
import { mcpTexts } from '../texts.ts'
import { type ServerTransport, UrlServer } from './url-server.ts'
import { WrapProxy } from './wrap-proxy.ts'

export interface WrapOptions extends GatewayAddress {
  readonly name?: string
  readonly allowReadOnly?: boolean
}

/** Returns the exit code: 1 if the server ended before the client. */
export async function runWrap(
  words: readonly string[],
  { name = nameOf(words), allowReadOnly = false, ...address }: WrapOptions,
): Promise<number> {
  if (!/^[\w.-]{1,60}$/.test(name) || name.includes('__')) throw new Fault('bad_input', mcpTexts.badName(name))
  const client = new StdioServerTransport()
  const proxy = new WrapProxy({
    client,
    server: serverTransport(words),
    name,
    allowReadOnly,
    dataFolder: openDataFolder(address.home),
    connect: () => connectTo(address),
    cwd: process.cwd(),
    clock: systemClock,
  })
  closeWithClient(client)
  try {
    if ((await proxy.run()) === 'client') return 0
    printNotice(mcpTexts.serverEnded(name))
  } catch (error) {
    printNotice(mcpTexts.serverNotStarted(name, messageOf(error)))
  }
  return 1
}

function isUrl([first = '', ...rest]: readonly string[]): boolean {
  return rest.length === 0 && /^https?:\/\//.test(first)
}

function serverTransport(words: readonly string[]): ServerTransport {
  const [command = '', ...args] = words
  if (isUrl(words)) return new UrlServer(new URL(command), systemClock)
  const env = Object.entries(withoutHoldpointVariables(process.env)).filter(entry => entry[1] !== undefined)
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: Object.fromEntries(env) as Record<string, string>, // variables without a value were removed
    cwd: process.cwd(),
    // A server that inherits our stderr would keep it open after this process was killed, and the client would not notice that.
    stderr: 'pipe',
  })
  transport.stderr?.pipe(process.stderr)
  return transport
}

/** Words such as `npx` and `uv run`, after which the command line names the server that they start. */
const launchers = /^(?:npx|bunx|uvx|node|bun|deno|python3?|uv|run|tool|exec|docker|pnpm|yarn|dlx)$/

/** Returns a name for the server: that of its package, its program or its host. */
function nameOf(words: readonly string[]): string {
  const [first = ''] = words
  if (isUrl(words)) return new URL(first).hostname
  const program = words.find(word => !word.startsWith('-') && !launchers.test(basename(word))) ?? first
  const [withoutVersion = ''] = basename(program).split('@')
  const base = withoutVersion.replace(/\.(?:m?js|ts|py|sh)$/, '')
  return (
    base
      .replace(/[^\w.-]/g, '-')
      .replace(/_+/g, '_')
      .slice(0, 60) || 'server'
  )
}
