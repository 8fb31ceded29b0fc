/** The CLI's input stream. The stream stays open between messages, because the CLI refuses pending calls when its input ends. */
export class InputQueue<T> implements AsyncIterable<T> {
  readonly #items: T[] = []
  #closed = false
  #wake = () => {}

  push(item: T): void {
    this.#items.push(item)
    this.#wake()
  }
  close(): void {
    this.#closed = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const item = this.#items.shift()
      if (item !== undefined) yield item
      else if (this.#closed) return
      else
        await new Promise<void>(resolve => {
          this.#wake = resolve
        })
    }
  }
}
