/** Texts of `holdpoint mcp`. Agents read most of them as results of their calls. */
export const mcpTexts = {
  waiting: 'Waiting for a person to answer',
  instructions:
    'Use ask_person if you need a decision, a preference or a fact from a person. Use request_approval before you do something that a person should allow first. Both wait until a person answers, which can take hours.',
  askPerson:
    'Asks a person a question and waits for the answer, which can take hours. The result is the answer. Offer options if you know the likely answers; the person can always write another one.',
  requestApproval:
    'Asks a person to allow a tool call, and waits for the answer, which can take hours. The result is JSON: {"behavior":"allow","updatedInput":…} with the input to use, which the person may have changed, or {"behavior":"deny","message":…}. Do nothing without an allow.',
  setVariable:
    'Sets a variable of your session that a file with watchers declares as yours. People and watchers read it. The value is true, false, a number or a string.',
  variableIsSet: (name: string, value: boolean | number | string) => `${name} is now ${JSON.stringify(value)}.`,
  variableNotSet: (name: string, problem: string) => `${name} was not set: ${problem}`,
  unknownTool: (name: string) => `There is no tool ${name}`,
  badArguments: (problem: string) => `The arguments are not valid: ${problem}`,
  declined: 'A person declined to answer.',
  declinedBecause: (reason: string) => `A person declined to answer: ${reason}`,
  notAnswered: 'Nobody answered this question, because the request was withdrawn.',
  notAsked: (problem: string) =>
    `Nobody could be asked, so nothing is allowed: ${problem}. Do not continue without an answer; tell the person about this problem`,
  gatewayAway: 'The gateway cannot be reached right now. The request is kept.',
  unknownTask: (id: string) => `There is no task ${id}`,
  taskEnded: (status: string) => `This task has the status “${status}” and can no longer be canceled`,
  taskCancelled: 'This task was canceled: its request was withdrawn, or its session has ended',
  serving: (url: string, tokenFile: string, folder: string | undefined) =>
    [
      `MCP clients can connect to ${url}`,
      '',
      `  Token    ${tokenFile} (sent as the header Authorization: Bearer TOKEN)`,
      `  Claude   claude mcp add --transport http holdpoint ${url} --header "Authorization: Bearer $(cat '${tokenFile}')"`,
      '',
      folder === undefined
        ? 'Rules can deny the calls of these clients, but not allow them, because any client can name any folder. If all of them work in one folder, name it: --folder PATH'
        : `Rules that allow apply to clients that work in ${folder}. Rules can only deny the calls of clients that name another folder.`,
      'The token lets a program ask people, and nothing else. Ctrl+C stops this server. Pending requests are kept.',
    ].join('\n'),
  tokenNeeded: (file: string) => `Send the header “Authorization: Bearer TOKEN” with the token from the file ${file}`,
  forClients:
    'This command waits for an MCP client. Usually, the client starts the command itself. To add it to an agent, press Ctrl+C and run: holdpoint mcp install claude',
  badPort: (port: string) => `--port ${port} is not a port. Use a number from 1 to 65535, or 0 for any free port`,
  portWithoutHttp: '--port is only for --http. Without --http, the client talks to this command over stdin and stdout',
  folderWithoutHttp:
    '--folder is only for --http. Without --http, the client’s folder is the one in which it starts this command',
  noFolder: (path: string) => `--folder ${path} is not a folder`,
  wrongPath: (path: string) => `The MCP server is at ${path}`,
  unknownSession: 'This server does not know the session. Connect again; your requests are kept',
  tooManyClients: 'Too many MCP clients are connected. Close one of them first',
  title: (client: string, folder: string) => `${client} in ${folder}`,
  wrapTitle: (client: string, server: string, folder: string) => `${client} calls ${server} in ${folder}`,
  callTitle: (server: string, tool: string) => `${server}: ${tool}`,
  denied: (reason: string) => `This call was denied and has not run: ${reason}`,
  nobodyAllowed: 'Nobody answered, so this call has not run.',
  withdrawn: 'The request for this call was withdrawn, so it has not run.',
  deniedByRule: (reason: string) => `A rule denies this call, so it has not run: ${reason}`,
  callNotAsked: (problem: string) => `This call has not run, because nobody could be asked: ${problem}`,
  unknownOutcome: (server: string) =>
    `This call was approved and sent to ${server}, and its outcome is unknown: the connection ended before the result arrived. It will not be sent a second time. Check what it has done before you call it again; a new call asks a person again`,
  runsElsewhere: 'another process of this client has sent the identical call to the server',
  note: (note: string) => `The person who allowed this added a note: ${note}`,
  serverEnded: (server: string) => `The MCP server ${server} has ended`,
  serverNotStarted: (server: string, problem: string) => `The MCP server ${server} cannot be started: ${problem}`,
  notForwarded: (server: string, problem: string) => `The MCP server ${server} cannot be reached: ${problem}`,
  noReply: (server: string) => `The connection to the MCP server ${server} ended before its reply arrived`,
  badName: (name: string) =>
    `“${name}” cannot be the name of a server; use letters, digits, dots, hyphens and single underscores`,
  fromCache:
    'This program runs from the npx cache, which npm may empty at any time. Install Holdpoint first: npm install -g holdpoint',
  installed: (agent: string) =>
    `${agent} can ask people through Holdpoint the next time it starts. Undo this with: holdpoint mcp remove ${agent}`,
  notInstalled: (agent: string) => `Holdpoint is not among the MCP servers of ${agent}.`,
  removed: (agent: string) => `Holdpoint is no longer among the MCP servers of ${agent}.`,
  agentMissing: (agent: string, program: string, variable: string) =>
    `${agent} cannot be started as “${program}”. Install it, or name its program with ${variable}`,
  agentRefused: (agent: string, output: string) => `${agent} did not change its settings: ${output}`,
  hasComments: (file: string) =>
    `The settings ${file} may contain comments, which Holdpoint would remove. Add the server there yourself`,
  noList: (file: string) => `The settings ${file} cannot be changed: “mcp” is not an object`,
}
