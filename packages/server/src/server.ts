/** Puts the server together: one gateway, reachable in process or over HTTP. */
import type { CrashPoint, Gateway } from '@holdpoint/engine'
import { limits } from '@holdpoint/protocol'
import type { Log } from './http-message.ts'
import { handleFetch } from './in-process.ts'
import { type ConnectionLimits, type Listening, listen } from './listen.ts'
import { RequestHandler } from './request-handler.ts'
import { openStaticFiles } from './static-files.ts'

export interface ServerOptions {
  readonly gateway: Gateway
  /** Additional host names of this gateway; localhost and the loopback addresses always work. */
  readonly hosts?: readonly string[]
  /** Additional origins that serve the page, such as a reverse proxy. */
  readonly origins?: readonly string[]
  /** The folder of the built page. */
  readonly staticDir?: string
  readonly version?: string
  readonly crashPoint?: CrashPoint
  /** Receives bugs and disconnected clients. By default each is one line of JSON on stderr. */
  readonly log?: Log
  /** Connection limits that replace those of the protocol. */
  readonly connectionLimits?: Partial<ConnectionLimits>
}

export interface Server {
  /** Handles a request without a port. The base URL is http://localhost. */
  fetch(request: Request): Promise<Response>
  /** Listens on the loopback address unless another host is given. Port 0 picks any free port. */
  listen(address: { readonly port: number; readonly host?: string }): Promise<Listening>
}

/** The port of http://localhost. */
const portInProcess = 80

export function createServer(options: ServerOptions): Server {
  const { staticDir, version = '0.0.0', log = logToStderr, connectionLimits, ...rest } = options
  const staticFiles = openStaticFiles(staticDir)
  const createHandler = (port: number) => new RequestHandler({ ...rest, staticFiles, version, log, port })
  const inProcess = createHandler(portInProcess)
  return {
    fetch: request => handleFetch(inProcess, request),
    listen: ({ port, host = '127.0.0.1' }) => listen({ port, host }, createHandler, { ...limits, ...connectionLimits }),
  }
}

/** JSON escapes line breaks, so that an error with several lines stays one log line. */
function logToStderr(line: object): void {
  console.error(JSON.stringify(line))
}
