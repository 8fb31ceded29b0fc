/** Texts of the first screen of an empty gateway. */

export const firstUseTexts = {
  title: 'Give your first answer',
  introduction: 'When an agent needs an approval or an answer, its request appears here. Start with any of these:',
  rehearse: {
    title: 'Rehearse',
    text: 'A small built-in agent shows you every kind of request. It needs no API key and changes nothing.',
    start: 'Start a rehearsal',
    again: 'Rehearse again',
    starting: 'Starting…',
    done: 'done',
  },
  agent: {
    title: 'Start a session with an agent',
    text: 'These agents are installed here. Their requests appear on this page.',
    loading: 'Looking for agents that are installed here…',
    none: 'No agent is installed here yet. Install Claude Code, Codex or another agent, and it appears here.',
    notReady: 'An agent is installed here, but something is missing:',
    noReason: 'it isn’t ready.',
    all: 'All agents…',
  },
  terminal: {
    title: 'Connect Claude Code in your own terminal',
    text: 'Install Holdpoint (npm install -g holdpoint), and run this once on the machine where Holdpoint runs. Then everything that claude asks in a terminal also appears here.',
    command: 'holdpoint hook install',
  },
  script: {
    title: 'Connect a script',
    text: 'Run this in a terminal on the same machine. The question appears here, and the script prints your answer.',
    command: "npx holdpoint ask 'Deploy to production?'",
    guard: 'npx holdpoint guard -- ./deploy.sh',
    guardText: 'Or run a command only if somebody allows it:',
  },
} as const
