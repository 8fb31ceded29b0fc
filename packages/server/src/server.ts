/** Creates the server, which makes one gateway available in process and over HTTP. */
import type { CrashPoint, Gateway } from '@holdpoint/engine'
import { limits } from '@holdpoint/protocol'
import { Admission } from './admission.ts'
import type { Log } from './http-message.ts'
import { handleFetch } from './in-process.ts'
import { type ConnectionLimits, type ListenAddress, type Listening, listen } from './listen.ts'
import { RequestHandler } from './request-handler.ts'
import { Revocations } from './revocations.ts'
import { openSockets } from './socket.ts'
import { openStaticFiles } from './static-files.ts'
import { WrongAttempts } from './wrong-attempts.ts'

export interface ServerOptions {
  readonly gateway: Gateway
  /** Additional host names of this gateway. Localhost and the loopback addresses are always accepted. */
  readonly hosts?: readonly string[]
  /** Additional origins of the page, for example of a reverse proxy. */
  readonly origins?: readonly string[]
  /** The folder that contains the built page. */
  readonly staticDir?: string
  readonly version?: string
  readonly crashPoint?: CrashPoint
  /** Receives a log line for every bug and for every client that the server disconnects. By default each log line is written to stderr as JSON. */
  readonly log?: Log
  /** Connection limits that replace the limits of the protocol package. */
  readonly connectionLimits?: Partial<ConnectionLimits>
}

export interface Server {
  /** Handles a request without a port. The base URL is http://localhost. */
  fetch(request: Request): Promise<Response>
  listen(address: ListenAddress): Promise<Listening>
}

/** The port of http://localhost, the base URL of requests in process. */
const portInProcess = 80

export function createServer(options: ServerOptions): Server {
  const { staticDir, version = '0.0.0', log = logToStderr, connectionLimits, ...rest } = options
  const staticFiles = openStaticFiles(staticDir)
  const shared = {
    staticFiles,
    version,
    log,
    admission: new Admission(),
    wrongAttempts: new WrongAttempts(),
    revocations: new Revocations(options.gateway),
  }
  const createHandler = (port: number, host: string | null) => {
    const hosts = host === null ? rest.hosts : [...(rest.hosts ?? []), host]
    return new RequestHandler({ ...rest, ...shared, ...(hosts && { hosts }), port })
  }
  const inProcess = createHandler(portInProcess, null)
  return {
    fetch: request => handleFetch(inProcess, request),
    listen: address =>
      listen(
        address,
        (port, host) => {
          const handler = createHandler(port, host)
          return { handler, sockets: openSockets(handler) }
        },
        { ...limits, ...connectionLimits },
      ),
  }
}

/** Logs one line of JSON. JSON escapes line breaks, so an error with several lines stays one log line. */
function logToStderr(line: object): void {
  console.error(JSON.stringify(line))
}
