export { Board, type BoardSnapshot, blockKey } from './board.ts'
export { type Connection, type Fetch, inProcess, type Reply, Unreachable } from './connection.ts'
export { asItRan, deed, depict, type Part, type Picture, summary, toolName } from './depict.ts'
export { type AnswerDraft, type Choice, changeDraft, type Raw, spellDraft } from './draft.ts'
export { DraftKeeper, type DraftSnapshot } from './draft-keeper.ts'
export { applyEdit, type Editable, editableJson, editableOf } from './edit.ts'
export type { Entry, ErrorEntry, MessageEntry, NoteEntry, RequestEntry, ToolEntry, TurnEntry } from './entry.ts'
export { type HttpCallOptions, httpCall, inProcessCall } from './http-call.ts'
export { Inbox, type InboxOptions, type InboxSnapshot } from './inbox.ts'
export { draftKeysOf, forgetKept, type OtherDraft, readKept, type Shelf } from './kept-draft.ts'
export { type Comparison, compare, type DiffRow, type LineEnds } from './line-diff.ts'
export { gist, inOneLine, type Sign, show, signsIn, spellsOut } from './show.ts'
export {
  type SocketCall,
  type SocketCallOptions,
  type SocketConstructor,
  type SocketLike,
  socketCall,
} from './socket-call.ts'
export { createSseParser } from './sse.ts'
export { Transcript, type TranscriptOptions, type TranscriptSnapshot } from './transcript.ts'
export { type Status, type WatchOptions, watchEvents } from './watch.ts'
export {
  ago,
  deliveryWords,
  driverWords,
  lineEndWords,
  outcome,
  sessionName,
  stateWords,
  tone,
} from './words.ts'
