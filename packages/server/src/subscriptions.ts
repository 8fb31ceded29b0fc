/** Manages all subscriptions of one server. The server disconnects a subscriber that reads too slowly or whose credential is revoked. */
import type { Caller, FrameListener, Gateway, SerializedFrame, SubscribeOptions, Subscription } from '@holdpoint/engine'
import { Fault, limits } from '@holdpoint/protocol'
import { type Log, toFault } from './http-message.ts'
import type { Revocations } from './revocations.ts'

/** The transport of one subscription: an event stream or a socket. */
export interface FrameSink {
  /** Sends `hello` and the missed events. Returns the number of bytes, and calls `onSent` when all of them are on their way to the client. */
  start(subscription: Subscription, onSent: () => void): number
  send(frames: readonly SerializedFrame[]): void
  /** Returns the number of bytes of frames that the client has not read yet. */
  buffered(): number
  heartbeat(): void
  /** Ends the stream after all buffered frames are sent. */
  close(): void
  /** Ends the stream at once and discards buffered frames. */
  destroy(): void
}

export interface ClientSubscription {
  /** Sends `hello`, the missed events and the frames that have arrived since the subscription started, and then every new frame. Calls `onStarted` when `hello` and the missed events are on their way to the client. */
  open(sink: FrameSink, onStarted: () => void): void
  unsubscribe(): void
}

export interface SubscriptionHub {
  subscribe(caller: Caller, options: SubscribeOptions): Promise<ClientSubscription>
  /** Ends every stream after its buffered frames are sent, and refuses new subscriptions. */
  close(): void
}

export function createSubscriptionHub(
  gateway: Pick<Gateway, 'subscribe'>,
  revocations: Revocations,
  log: Log,
): SubscriptionHub {
  const active = new Set<ActiveSubscription>()
  let closed = false
  let withNewFrames: ActiveSubscription[] = []
  let heartbeat: NodeJS.Timeout | null = null

  function scheduleFlush(subscription: ActiveSubscription): void {
    // Flush once per turn of the event loop, so that all events of one group commit are sent in one write.
    if (withNewFrames.push(subscription) === 1) setImmediate(flush)
  }
  function flush(): void {
    const subscriptions = withNewFrames
    withNewFrames = []
    for (const subscription of subscriptions) subscription.flush()
  }
  function remove(subscription: ActiveSubscription): void {
    active.delete(subscription)
    if (active.size === 0 && heartbeat) {
      clearInterval(heartbeat)
      heartbeat = null
    }
  }

  return {
    async subscribe(caller, options) {
      if (closed) throw new Fault('draining', 'This gateway is shutting down. Subscribe again in a moment.')
      const subscription = new ActiveSubscription({ scheduleFlush, remove, log, callerName: caller.name })
      active.add(subscription)
      subscription.onEnd(revocations.watch(caller.token, () => subscription.disconnect('its credential was revoked')))
      heartbeat ??= setInterval(() => {
        for (const each of active) each.heartbeat()
      }, limits.heartbeatMs).unref()
      try {
        subscription.start(await gateway.subscribe(caller, options, subscription))
      } catch (error) {
        subscription.unsubscribe()
        throw error
      }
      return subscription
    },
    close() {
      closed = true
      for (const subscription of active) subscription.close()
    },
  }
}

interface SubscriptionContext {
  readonly scheduleFlush: (subscription: ActiveSubscription) => void
  readonly remove: (subscription: ActiveSubscription) => void
  readonly log: Log
  readonly callerName: string
}

class ActiveSubscription implements ClientSubscription, FrameListener {
  /** The gateway's subscription, which provides the frames; null until the gateway has accepted it. */
  #source: Subscription | null = null
  #sink: FrameSink | null = null
  #queued: SerializedFrame[] = []
  #ended = false
  #onEnd: () => void = () => {}
  /** The number of bytes that the client may leave unread: the limit plus the size of the snapshot, because a snapshot can be larger than the limit. */
  #bufferMaxBytes = limits.subscriptionBufferMaxBytes
  readonly #context: SubscriptionContext

  constructor(context: SubscriptionContext) {
    this.#context = context
  }

  start(source: Subscription): void {
    this.#source = source
    // The server may have shut down, or the credential was revoked, while the gateway prepared the subscription.
    if (this.#ended) source.stop()
  }

  /** Calls `callback` when the subscription ends, or at once if it has ended. */
  onEnd(callback: () => void): void {
    if (this.#ended) callback()
    else this.#onEnd = callback
  }

  frame(frame: SerializedFrame): void {
    if (this.#ended) return
    if (this.#queued.push(frame) === 1 && this.#sink) this.#context.scheduleFlush(this)
  }

  open(sink: FrameSink, onStarted: () => void): void {
    const source = this.#source
    if (this.#ended || !source) {
      sink.destroy()
      return
    }
    this.#sink = sink
    this.#guard(() => {
      this.#bufferMaxBytes += sink.start(source, onStarted)
    })
    if (this.#queued.length > 0) this.flush()
  }

  flush(): void {
    const sink = this.#sink
    if (!sink || this.#ended) return
    const frames = this.#queued
    this.#queued = []
    if (sink.buffered() > this.#bufferMaxBytes)
      this.disconnect(`the client left more than ${this.#bufferMaxBytes} bytes of frames unread`)
    else this.#guard(() => sink.send(frames))
  }

  heartbeat(): void {
    const sink = this.#sink
    if (sink) this.#guard(() => sink.heartbeat())
  }

  close(): void {
    this.#guard(() => this.#sink?.close())
    this.unsubscribe()
  }

  disconnect(reason: string): void {
    if (this.#ended) return
    this.#context.log({ disconnected: this.#context.callerName, reason })
    this.#sink?.destroy()
    this.unsubscribe()
  }

  /** Calls `send` and ends only this subscription if `send` throws. Frames are sent from timers, so an uncaught error would end the process. */
  #guard(send: () => void): void {
    try {
      send()
    } catch (error) {
      this.disconnect(toFault(error, this.#context.log).message)
    }
  }

  unsubscribe(): void {
    if (this.#ended) return
    this.#ended = true
    this.#queued = []
    this.#source?.stop()
    this.#context.remove(this)
    this.#onEnd()
  }
}
