/** The people's door, put together: one gateway, reached in process or over HTTP. */
import type { CrashPoint, Gateway } from '@holdpoint/engine'
import { limits } from '@holdpoint/protocol'
import type { Log } from './http-message.ts'
import { fetchThrough } from './in-process.ts'
import { type ConnectionLimits, type Listening, listen } from './listen.ts'
import { createRequestHandler, type RequestHandlerOptions } from './request-handler.ts'
import { openStaticFiles } from './static-files.ts'

export interface ServerOptions {
  readonly gateway: Gateway
  /** Further names under which this gateway is reached; local ones are known. */
  readonly hosts?: readonly string[]
  /** Further origins that serve the page: those of a proxy in front. */
  readonly origins?: readonly string[]
  /** The folder of the built page. */
  readonly staticDir?: string
  readonly version?: string
  readonly crashPoint?: CrashPoint
  /** Told of bugs and of readers that were let go; one JSON line each on stderr by default. */
  readonly log?: Log
  /** Limits of connections that are lower than those of the protocol. */
  readonly edges?: Partial<ConnectionLimits>
}

export interface Server {
  /** The whole server without a port; its own address is http://localhost. */
  fetch(request: Request): Promise<Response>
  /** Loopback unless another host is given; port 0 takes any. */
  listen(address: { readonly port: number; readonly host?: string }): Promise<Listening>
}

/** The port of http://localhost. */
const portInProcess = 80

export function createServer({ staticDir, version = '0.0.0', log = logLine, edges, ...rest }: ServerOptions): Server {
  const pages = openStaticFiles(staticDir)
  const doorAt = (port: number) =>
    createRequestHandler({ ...rest, pages, version, log, port } satisfies RequestHandlerOptions)
  const inProcess = doorAt(portInProcess)
  return {
    fetch: request => fetchThrough(inProcess, request),
    listen: ({ port, host = '127.0.0.1' }) => listen({ port, host }, doorAt, { ...limits, ...edges }),
  }
}

/** JSON keeps a line one line, whatever an error's text holds. */
function logLine(line: object): void {
  console.error(JSON.stringify(line))
}
