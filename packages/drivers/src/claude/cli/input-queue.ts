/** The CLI's input: stays open between messages, for an input that ends makes it refuse whatever waits. */
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
