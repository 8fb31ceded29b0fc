/** The scripts of the scripted model: its replies to messages of the person, written in the same way for every agent. */

/** One part of a reply. A tool is named by what it does, and the server chooses the tool of that kind that the agent offers. */
export type ReplyPart =
  | { readonly kind: 'text'; readonly pieces: readonly string[] }
  | { readonly kind: 'call'; readonly id?: string; readonly tool: ScriptedTool }
  | { readonly kind: 'wait'; readonly until: Promise<unknown> }
  | { readonly kind: 'refusal'; readonly status: number; readonly message: string }

export type ScriptedTool =
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'ask'; readonly questions: readonly ScriptedQuestion[] }
  | { readonly kind: 'named'; readonly name: string; readonly input: object; readonly namespace?: string }

export interface ScriptedQuestion {
  readonly question: string
  readonly header: string
  readonly options: readonly string[]
  readonly multiple?: boolean
}

/** A reply, or a function that computes the reply from the request. */
export type ScriptedReply = ReplyPart | readonly ReplyPart[] | ((call: ModelCall) => ReplyPart | readonly ReplyPart[])

/** One call of the model by an agent's main loop, in the shape that is common to all dialects. */
export interface ModelCall extends ModelRequest {
  /** The text that selected the script. */
  readonly marker: string
  /** How many replies with tool calls the model has given since the message with the marker. */
  readonly round: number
  /** Resolves when the reply is complete (`sent`) or the agent has closed the connection before (`aborted`). */
  readonly outcome: Promise<'sent' | 'aborted'>
}

/** A request of an agent, in the shape that is common to all dialects. */
export interface ModelRequest {
  readonly dialect: string
  readonly streams: boolean
  /** The model that the agent names. */
  readonly model: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly string[]
  /** The request's body as JSON text, so that tests can search it. */
  readonly body: string
}
export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ToolCall[] }
  | { readonly role: 'result'; readonly id: string; readonly text: string }

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly input: object
  /** Codex groups the tools of an MCP server in a namespace. */
  readonly namespace?: string
}

/** Replies with text, streamed word by word. */
export const say = (text: string): ReplyPart => ({ kind: 'text', pieces: text.match(/\S+\s*|\s+/g) ?? [] })
/** Calls the agent's shell tool. */
export const shell = (command: string, id?: string): ReplyPart => call({ kind: 'shell', command }, id)
/** Creates a file with the agent's own tool for that. */
export const writeFile = (path: string, text: string, id?: string): ReplyPart => call({ kind: 'write', path, text }, id)
/** Asks the person with the agent's own question tool. */
export const ask = (questions: readonly ScriptedQuestion[], id?: string): ReplyPart =>
  call({ kind: 'ask', questions }, id)
/** Calls a tool by its name, for example a tool of an MCP server. */
export const callTool = (
  name: string,
  input: object,
  { id, namespace }: { readonly id?: string; readonly namespace?: string } = {},
): ReplyPart => call({ kind: 'named', name, input, ...(namespace !== undefined && { namespace }) }, id)
/** Pauses the reply until the promise resolves. */
export const waitFor = (until: Promise<unknown>): ReplyPart => ({ kind: 'wait', until })
/** Refuses the request with an HTTP status, as a model provider does. Must be the only part of a reply. */
export const refuse = (status: number, message: string): ReplyPart => ({ kind: 'refusal', status, message })

function call(tool: ScriptedTool, id: string | undefined): ReplyPart {
  return { kind: 'call', tool, ...(id !== undefined && { id }) }
}

/** A promise that a test resolves, for `waitFor`. */
export function createSignal(): { readonly fired: Promise<void>; fire(): void } {
  const { promise, resolve } = withResolvers()
  return { fired: promise, fire: resolve }
}
/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve }
}
