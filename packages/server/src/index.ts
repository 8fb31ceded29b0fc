export type { Log } from './exchange.ts'
export type { Listening } from './listen.ts'
export { createServer, type Server, type ServerOptions } from './server.ts'
