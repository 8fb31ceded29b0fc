/** The people's door, put together: one desk, reached in process or over HTTP. */
import type { Desk, Probe } from '@holdpoint/engine'
import { limits } from '@holdpoint/protocol'
import { createDoor, type DoorOptions } from './door.ts'
import type { Log } from './exchange.ts'
import { fetchThrough } from './in-process.ts'
import { type Edges, type Listening, listen } from './listen.ts'
import { openPages } from './pages.ts'

export interface ServerOptions {
  readonly desk: Desk
  /** Further names under which this gateway is reached; local ones are known. */
  readonly hosts?: readonly string[]
  /** Further origins that serve the page: those of a proxy in front. */
  readonly origins?: readonly string[]
  /** The folder of the built page. */
  readonly staticDir?: string
  readonly version?: string
  readonly probe?: Probe
  /** Told of bugs and of readers that were let go; one JSON line each on stderr by default. */
  readonly log?: Log
  /** Limits of connections that are lower than those of the protocol. */
  readonly edges?: Partial<Edges>
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
  const pages = openPages(staticDir)
  const doorAt = (port: number) => createDoor({ ...rest, pages, version, log, port } satisfies DoorOptions)
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
