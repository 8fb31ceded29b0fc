/** Formats why a watcher asks. */
import { watcherAskLabel } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import { labelled, type Row, trusted } from './span.ts'

/** Returns a row that says why a watcher asks; none if no watcher does. */
export function watcherRows({ watcher }: Pick<Request, 'watcher'>): readonly Row[] {
  return watcher ? [labelled('Watcher', trusted(watcherAskLabel(watcher), 'waiting'))] : []
}
