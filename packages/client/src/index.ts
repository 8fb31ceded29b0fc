export { Board, type BoardSnapshot, blockKey } from './board.ts'
export { type Connection, type Fetch, inProcess, Unreachable } from './connection.ts'
export { type HttpCallOptions, httpCall, inProcessCall } from './http-call.ts'
export { Inbox, type InboxOptions, type InboxSnapshot } from './inbox.ts'
export {
  type SocketCall,
  type SocketCallOptions,
  type SocketConstructor,
  type SocketLike,
  socketCall,
} from './socket-call.ts'
export { createSseParser } from './sse.ts'
export { type Status, type WatchOptions, watchEvents } from './watch.ts'
