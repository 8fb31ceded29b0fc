/** Reading Server-Sent Events by hand: chunks may end anywhere, lines in any of the three ways. */

/** Gives what stands in the `data` of each event; comments and everything else only show that the other side lives. */
export function createSseParser(onData: (data: string) => void): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder('utf-8')
  let rest = ''
  let data: string[] = []

  function take(line: string): void {
    if (line === '') {
      if (data.length > 0) onData(data.join('\n'))
      data = []
    } else if (line === 'data' || line.startsWith('data:')) {
      const value = line.slice(5)
      data.push(value.startsWith(' ') ? value.slice(1) : value)
    }
  }

  return chunk => {
    rest += decoder.decode(chunk, { stream: true })
    let from = 0
    const ends = /\r\n|\r|\n/g
    for (let end = ends.exec(rest); end; end = ends.exec(rest)) {
      // A carriage return at the very end may be the first half of a line end: its other half decides.
      if (end[0] === '\r' && ends.lastIndex === rest.length) break
      take(rest.slice(from, end.index))
      from = ends.lastIndex
    }
    rest = rest.slice(from)
  }
}
