/** The names of hosts in texts and URLs, in the form in which rules compare them. */
import { hostOf } from '@holdpoint/protocol'

/** Returns the hosts of the URLs in a text, in the form in which names are compared. */
export function* urlHosts(text: string): Generator<string> {
  let left = urlsMax
  for (let at = text.indexOf('://'); at >= 0 && left > 0; at = text.indexOf('://', at + 1)) {
    left--
    const [rest = ''] = text.slice(at + 3, at + 3 + urlMax).split(urlEnd, 1)
    yield normalHost(hostOf(`https://${rest}`))
  }
}
const urlEnd = /[\s;|&<>()`]/
const urlsMax = 500
const urlMax = 1000

/** Returns the name of a host in the form in which names are compared; an empty text if it is not the name of a host alone. */
export function normalHost(host: string): string {
  return /[@/?#\\\s]/.test(host) ? '' : hostOf(`https://${host}/`).replace(/\.$/, '')
}

/** Returns a text with and without quotes in lower case. Most texts have no quotes. */
export function lowerCaseTexts(text: string, plain: string): readonly string[] {
  return text === plain ? [text.toLowerCase()] : [text.toLowerCase(), plain.toLowerCase()]
}
