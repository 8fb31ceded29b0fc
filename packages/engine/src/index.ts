export { systemClock } from './clock.ts'
export { defaultSettings, type Settings } from './context.ts'
export type {
  Caller,
  Clock,
  Desk,
  DispatchOptions,
  EventFrame,
  LiveFrame,
  Momentary,
  Reply,
  Watch,
  Watcher,
  WatchOptions,
} from './desk.ts'
export { callAs, type DeskOptions, openDesk } from './gateway.ts'
export {
  type RequestCell,
  type RequestCommand,
  type RequestState,
  requestLife,
  type SessionCell,
  type SessionCommand,
  sessionLife,
} from './life.ts'
export type { Change, EventQuery, Head, Probe, Put, Query, Read, Store, StoredEvent, View, Writes } from './port.ts'
export {
  type CommandRow,
  type DraftRow,
  type IdemRow,
  type Lease,
  type RequestRow,
  type Rows,
  type RuleRow,
  type RunnerRow,
  type SessionRow,
  type Table,
  type TokenRow,
  tables,
} from './rows.ts'
