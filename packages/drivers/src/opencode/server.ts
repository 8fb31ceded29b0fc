/** The server of one session: the process `opencode serve`, which listens on loopback with a password of its own, and its HTTP interface. */
import { randomBytes } from 'node:crypto'
import { newSecret } from '@holdpoint/protocol'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { z } from 'zod'
import { AgentProcess, type AgentProcessOptions } from '../acp/agent-process.ts'
import { opencodeExit } from './messages.ts'
import { type OpencodeEvent, parseEvent } from './wire.ts'

/** `isMissing` is true if opencode does not know what the path names, for example a permission that was answered. */
export class OpencodeRefusal extends Error {
  readonly isMissing: boolean
  constructor(message: string, status: number) {
    super(message)
    this.isMissing = status === 404
  }
}

class ConnectionFailed extends Error {}

const addressPattern = /http:\/\/127\.0\.0\.1:\d+/
const userName = 'opencode'
const detailMax = 500

export class OpencodeServer {
  readonly process: AgentProcess
  /** Commands of opencode inherit its environment, so the agent can print the password. The password has the form of Holdpoint's own credentials, so that it is masked in the log and no call that contains it is allowed. */
  readonly password = newSecret(randomBytes, 24)
  /** Resolves to the URL when the server listens. */
  readonly url: Promise<string>
  readonly #closing = new AbortController()

  constructor(options: Omit<AgentProcessOptions, 'args' | 'title'>) {
    this.process = new AgentProcess({
      ...options,
      title: 'opencode',
      args: ['serve', '--hostname', '127.0.0.1', '--port', '0'],
      env: { ...options.env, OPENCODE_SERVER_PASSWORD: this.password, OPENCODE_SERVER_USERNAME: userName },
    })
    this.url = this.#findAddress()
    // Every request awaits the address and reports the failure.
    this.url.catch(() => {})
    void this.process.exited.then(() => this.#closing.abort())
  }

  #findAddress(): Promise<string> {
    let output = ''
    const { stdout } = this.process.streams
    return new Promise((resolve, reject) => {
      stdout.setEncoding('utf8').on('data', (text: string) => {
        // opencode writes little here, but the pipe must be read so that it never fills up.
        if (!addressPattern.test(output)) output += text
        const [address] = addressPattern.exec(output) ?? []
        if (address !== undefined) resolve(address)
      })
      void this.process.exited.then(() => reject(new Error(opencodeExit.noAddress)))
    })
  }

  /** Tries a second time if the connection fails, because the first connection to a server on a port that another server has just left is often reset. */
  async get<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    const request = () => this.#request('GET', path, undefined, schema)
    return request().catch((error: unknown) => {
      if (error instanceof ConnectionFailed) return request()
      throw error
    })
  }
  send<T>(method: 'POST' | 'PATCH', path: string, body: object, schema?: z.ZodType<T>): Promise<T> {
    return this.#request(method, path, body, schema)
  }

  async #request<T>(method: string, path: string, body: object | undefined, schema?: z.ZodType<T>): Promise<T> {
    const response = await this.#fetch(path, {
      method,
      headers: { ...this.#headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new OpencodeRefusal(opencodeExit.refused(path, text.slice(0, detailMax)), response.status)
    return schema ? schema.parse(JSON.parse(text)) : (undefined as T) // a caller without a schema does not read the reply
  }

  /** Connects to the stream of events. The stream is complete from the moment at which the promise resolves. */
  async events(): Promise<AsyncIterable<OpencodeEvent>> {
    const response = await this.#fetch('/event', { headers: this.#headers })
    const { body } = response
    if (!response.ok || !body) throw new Error(opencodeExit.refused('/event', String(response.status)))
    const messages = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
    return (async function* () {
      for await (const { data } of messages) {
        const event = parseEvent(data)
        if (event) yield event
      }
    })()
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const { signal } = this.#closing
    try {
      return await fetch((await this.url) + path, { ...init, signal })
    } catch (error) {
      if (!(error instanceof TypeError) || signal.aborted) throw error
      throw new ConnectionFailed(opencodeExit.connectionFailed(String(error.cause ?? error.message)))
    }
  }

  get #headers() {
    const authorization = `Basic ${Buffer.from(`${userName}:${this.password}`).toString('base64')}`
    // opencode prefers a fixed port, so a connection that stays open could belong to an earlier server that has ended.
    return { authorization, connection: 'close' }
  }

  async end(): Promise<void> {
    this.#closing.abort()
    await this.process.end()
  }
}
