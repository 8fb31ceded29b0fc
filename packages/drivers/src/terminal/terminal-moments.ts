/** Reports the moments of an agent in a person's own terminal to the watchers. The gateway cannot send this agent a message, so what the watchers say is in the replies to its hooks. */
import { randomUUID } from 'node:crypto'
import type { AgentSession } from '@holdpoint/client'
import { limits } from '@holdpoint/protocol'
import { terminalTexts } from './messages.ts'

/** Reports a message of the person, under a new key each time: agents give their messages no ids, and call the hook once for each message. Returns why the message is refused, or null, and the texts that the agent must read. */
export async function reportPrompt(
  prompt: string,
  session: AgentSession,
): Promise<{ readonly refusal: string | null; readonly texts: readonly string[] }> {
  const text = prompt.slice(0, limits.textMax).toWellFormed()
  const { say, deny, watcher } = await session.reportMoment({ moment: 'prompt', key: randomUUID(), text })
  if (deny === undefined) return { refusal: null, texts: say }
  return { refusal: terminalTexts.promptRefused(watcher?.name ?? '', deny).slice(0, limits.reasonMax), texts: [] }
}

/** Returns the text that sends the agent back to work, or null if the agent may stop. Claude Code stops anyway after it was sent back eight times in a row. */
export async function reportStop(session: AgentSession): Promise<string | null> {
  const { say, deny } = await session.reportMoment({ moment: 'stop', key: randomUUID() })
  const texts = [...(deny === undefined ? [] : [deny]), ...say]
  return texts.length === 0 ? null : texts.join('\n\n')
}
