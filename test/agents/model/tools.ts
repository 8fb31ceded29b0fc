/** Translates the scripted tools into the tools that an agent offers. An agent is recognized by the names of its tools. */
import type { ScriptedQuestion, ScriptedTool, ToolCall } from './script.ts'

type Offer<Kind extends ScriptedTool['kind']> = Readonly<
  Record<string, (tool: Extract<ScriptedTool, { kind: Kind }>) => object>
>

/** The shell tools: codex, opencode and copilot, claude, gemini and qwen, goose. */
const shellTools: Offer<'shell'> = {
  // Without these permissions, codex asks only if its policy is “untrusted”, and otherwise runs the command in its sandbox.
  exec_command: ({ command }) => ({
    cmd: command,
    sandbox_permissions: 'require_escalated',
    justification: 'a command',
  }),
  bash: ({ command }) => ({ command, description: 'a command' }),
  Bash: ({ command }) => ({ command, description: 'a command' }),
  run_shell_command: ({ command }) => ({ command, description: 'a command', is_background: false }),
  shell: ({ command }) => ({ command }),
}
/** The tools that create a file: opencode, claude, gemini and qwen, copilot, goose, codex. */
const writeTools: Offer<'write'> = {
  Write: ({ path, text }) => ({ file_path: path, content: text }),
  write_file: ({ path, text }) => ({ file_path: path, content: text }),
  create: ({ path, text }) => ({ path, file_text: text }),
  write: ({ path, text }) => ({ path, filePath: path, content: text }),
  // Codex offers unknown models no tool that creates a file. It recognizes this command and treats it as a change of files.
  exec_command: ({ path, text }) => ({
    cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n${text
      .replace(/\n$/, '')
      .split('\n')
      .map(line => `+${line}`)
      .join('\n')}\n*** End Patch\nEOF`,
  }),
}
const withDescriptions = (options: readonly string[]) => options.map(label => ({ label, description: label }))
const shortHeader = ({ question, header, options }: ScriptedQuestion) => ({
  question,
  header,
  options: withDescriptions(options),
})
/** The tools that ask the person: codex, opencode, claude, qwen. */
const askTools: Offer<'ask'> = {
  request_user_input: ({ questions }) => ({
    questions: questions.map(question => ({ id: question.header.toLowerCase(), ...shortHeader(question) })),
  }),
  question: ({ questions }) => ({
    questions: questions.map(question => ({ ...shortHeader(question), multiple: question.multiple ?? false })),
  }),
  AskUserQuestion: ({ questions }) => ({
    questions: questions.map(question => ({ ...shortHeader(question), multiSelect: question.multiple ?? false })),
  }),
  ask_user_question: ({ questions }) => ({
    questions: questions.map(question => ({ ...shortHeader(question), multiSelect: question.multiple ?? false })),
  }),
}

/** Returns whether the tools are those of an agent's main loop. Requests for other purposes, such as titles, offer no shell. */
export function offersShell(offered: readonly string[]): boolean {
  return offered.some(name => name in shellTools)
}

export function offersQuestions(offered: readonly string[]): boolean {
  return offered.some(name => name in askTools)
}

/** Returns the call of the offered tool that does what the script wants. */
export function translate(tool: ScriptedTool, offered: readonly string[]): Omit<ToolCall, 'id'> {
  switch (tool.kind) {
    case 'named': {
      const { kind: _, ...named } = tool
      return named
    }
    case 'shell':
      return choose(shellTools, tool, offered)
    case 'write':
      return choose(writeTools, tool, offered)
    case 'ask':
      return choose(askTools, tool, offered)
  }
}

function choose<Kind extends ScriptedTool['kind']>(
  known: Offer<Kind>,
  tool: Extract<ScriptedTool, { kind: Kind }>,
  offered: readonly string[],
): Omit<ToolCall, 'id'> {
  const [name, inputOf] = Object.entries(known).find(([name]) => offered.includes(name)) ?? []
  if (!name || !inputOf) throw new Error(`the agent offers no tool to ${tool.kind}, only ${offered.join(', ')}`)
  return { name, input: inputOf(tool) }
}
