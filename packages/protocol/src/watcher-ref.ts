/** The reference to a watcher, which requests, verdicts and events contain. */
import { z } from 'zod'

export const WatcherRef = z
  .object({
    name: z.string().describe('The name of the watcher.'),
    file: z.string().describe('The path of its file.'),
    version: z.int().describe('The version of its file.'),
  })
  .describe('The watcher that decided.')
export type WatcherRef = z.infer<typeof WatcherRef>
