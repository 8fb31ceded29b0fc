export type { Log } from './http-message.ts'
export type { Listening, SocketKeeper } from './listen.ts'
export { createServer, type Server, type ServerOptions } from './server.ts'
export { listenWithToken, type TokenServerOptions } from './token-server.ts'
