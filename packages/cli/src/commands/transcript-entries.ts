/** Loads the entries of a transcript for a command that prints them once. */
import type { Transcript } from '@holdpoint/client'

/** Waits until this many entries of the transcript, or all of its entries, are loaded. */
export async function loadEntries(transcript: Transcript, count: number): Promise<void> {
  await new Promise<void>(resolve => {
    const check = () => {
      const { loaded, problem } = transcript.getSnapshot()
      if (loaded || problem) resolve()
    }
    transcript.subscribe(check)
    check()
  })
  const { problem } = transcript.getSnapshot()
  if (problem) throw problem
  for (;;) {
    const { entries, earlier } = transcript.getSnapshot()
    if (earlier !== 'some' || entries.length >= count) return
    await transcript.loadEarlier()
  }
}
