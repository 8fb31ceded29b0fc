/** Writes docs/api.md from the OpenAPI document of the built server: `npm run api-reference`. A test fails if the file is out of date. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const groupTitles = { people: 'People', agents: 'Agents', runners: 'Runners', admin: 'Administration' }
const callers = { owner: 'the owner', agent: 'agents', runner: 'runners', nobody: 'anyone, without a credential' }
/** Names the roles. The owner is a person, so “people” includes the owner. */
const nameCallers = roles =>
  roles.includes('person')
    ? ['people', ...roles.filter(role => role !== 'owner' && role !== 'person').map(role => callers[role])]
    : roles.map(role => callers[role])

/** The named schemas of the document that is being rendered. */
let schemas = {}

export function renderApiReference(document) {
  schemas = document.components.schemas
  const sections = [
    introduction,
    ...Object.keys(groupTitles).map(group => renderGroup(document, group)),
    streamSection,
    '## Schemas',
    ...Object.entries(schemas).map(([name, schema]) => renderNamedSchema(name, schema)),
    renderFaults(document),
  ]
  return `${sections.join('\n\n')}\n`
}

function renderGroup(document, group) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(group))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const { description } = document.tags.find(({ name }) => name === group)
  const overview = table(
    ['Operation', 'Route', 'Summary'],
    operations.map(({ path, method, operation: { operationId, summary } }) => [
      `[${operationId}](#${operationId.toLowerCase()})`,
      `\`${method} ${path}\``,
      summary,
    ]),
  )
  return [`## ${groupTitles[group]}`, description, overview, ...operations.map(renderOperation)].join('\n\n')
}

function renderOperation({ path, method, operation }) {
  const fields = [
    ...operation.parameters
      .filter(({ in: location }) => location !== 'header')
      .map(({ name, in: location, required, description, schema }) => ({
        name,
        location,
        required,
        description,
        schema,
      })),
    ...bodyFields(operation),
  ]
  const [status, success] = Object.entries(operation.responses).find(([code]) => code.startsWith('2'))
  const faults = Object.entries(operation.responses)
    .filter(([code]) => !code.startsWith('2') && code !== 'default')
    .flatMap(([, { description }]) => [...description.matchAll(/`(\w+)` \((\d+)\)/g)])
    .map(([, code, faultStatus]) => `[\`${code}\`](#faults) (${faultStatus})`)
  const output = success.content['application/json'].schema
  return [
    `### ${operation.operationId}`,
    `\`${method} /api/v1${path}\``,
    operation.summary,
    `For ${nameCallers(operation['x-roles']).join(', ')}.`,
    bodyReference(operation),
    fields.length > 0 ? `**Input**\n\n${inputTable(fields)}` : '',
    `**Output** (${status}): ${renderOutput(output)}`,
    faults.length > 0 ? `**Faults**: ${faults.join(', ')}, and the [common faults](#faults).` : '',
  ]
    .filter(Boolean)
    .join('\n\n')
}

const bodySchema = operation => operation.requestBody?.content['application/json'].schema

function bodyReference(operation) {
  const schema = bodySchema(operation)
  return schema?.$ref ? `**Input**: ${typeOf(schema)}` : ''
}

function bodyFields(operation) {
  const schema = bodySchema(operation)
  return fieldsOf(schema ?? {}).map(field => ({ ...field, location: 'body' }))
}

function inputTable(fields) {
  const rows = fields.flatMap(field => flatten(field).map(row => ({ ...row, location: field.location })))
  return table(
    ['Field', 'In', 'Type', 'Required', 'Description'],
    rows.map(({ name, location, schema, required, description }) => [
      `\`${name}\``,
      location,
      typeOf(schema),
      required ? 'yes' : '',
      describe(description, schema),
    ]),
  )
}

function renderOutput(schema) {
  const fields = fieldsOf(schema)
  if (fields.length === 0) return schema.$ref ? typeOf(schema) : 'an empty object.'
  return `an object.\n\n${fieldTable(fields)}`
}

function fieldTable(fields) {
  return table(
    ['Field', 'Type', 'Description'],
    fields
      .flatMap(flatten)
      .map(({ name, schema, required, description }) => [
        `\`${name}\`${required ? '' : ' (optional)'}`,
        typeOf(schema),
        describe(description, schema),
      ]),
  )
}

function renderNamedSchema(name, schema) {
  return [`### ${name}`, schema.description, renderSchemaBody(schema)].filter(Boolean).join('\n\n')
}

function renderSchemaBody(schema) {
  if (schema.allOf) return schema.allOf.map(renderSchemaBody).join('\n\n')
  if (schema.oneOf)
    return schema.oneOf
      .map(renderVariant)
      .join('\n\n')
      .replace(/^(- .*)\n\n(?=- )/gm, '$1\n')
  const fields = fieldsOf(schema)
  if (fields.length > 0) return fieldTable(fields)
  return schema.type === 'object' ? '' : `Type: ${typeOf(schema)}`
}

/** Renders one alternative of a union: a link, or the discriminating field and a table of the other fields. */
function renderVariant(schema) {
  if (schema.$ref) return `- ${typeOf(schema)}: ${describe(undefined, schema)}`
  const fields = fieldsOf(schema)
  const constant = fields.find(field => field.schema.const !== undefined || field.name === 'type')
  const others = fields.filter(field => field !== constant)
  const title = `**${constant.name}: ${typeOf(constant.schema)}**: ${constant.description}`
  return others.length > 0 ? `${title}\n\n${fieldTable(others)}` : title
}

function fieldsOf({ properties = {}, required = [] }) {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    schema,
    description,
    required: required.includes(name),
  }))
}

/** Returns the field and, for an object without a name, also the fields inside the object. */
function flatten(field) {
  const { name, schema } = field
  const [inner, suffix] = schema.items
    ? [schema.items, '[]']
    : [schema.anyOf?.find(each => each.properties) ?? schema, '']
  const nested = fieldsOf(inner).map(each => ({ ...each, name: `${name}${suffix}.${each.name}` }))
  return [field, ...nested.flatMap(flatten)]
}

function typeOf(schema) {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1)
    return `[${name}](#${name.toLowerCase()})`
  }
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map(value => `\`${JSON.stringify(value)}\``).join(' or ')
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.type === 'array') return `array of ${typeOf(schema.items)}`
  if (schema.additionalProperties?.$ref) return `object of ${typeOf(schema.additionalProperties)}`
  if (schema.pattern && !schema.format) return `string like \`${schema.pattern}\``
  return [schema.type ?? 'any JSON'].flat().join(' or ')
}

/** Returns the description of a field with the limits of its value. A field without a description gets the first sentence of its named schema. */
function describe(description, schema) {
  const named = schemas[schema.$ref?.split('/').at(-1)]?.description ?? ''
  return [description ?? named.match(/^.*?[.](?= |$)/)?.[0] ?? named, limitsOf(schema)].filter(Boolean).join(' ')
}

function limitsOf({ type, minLength, maxLength, minimum, maximum, minItems, maxItems, default: initial }) {
  const range = (least, most, unit) => {
    const [hasLeast, hasMost] = [least > 0, most !== undefined && most < Number.MAX_SAFE_INTEGER]
    if (hasLeast && hasMost) return `${least} to ${most}${unit}.`
    if (hasMost) return `At most ${most}${unit}.`
    return hasLeast ? `At least ${least}${unit}.` : ''
  }
  const limits =
    type === 'string'
      ? range(minLength, maxLength, ' characters')
      : type === 'array'
        ? range(minItems, maxItems, ' items')
        : range(minimum, maximum, '')
  return [limits, initial === undefined ? '' : `Default: \`${JSON.stringify(initial)}\`.`].filter(Boolean).join(' ')
}

function renderFaults(document) {
  return [
    '## Faults',
    'Every error reply is a [Fault](#fault): `{"error": {"code", "message", "detail"}}`. Common faults can come from every operation.',
    table(
      ['Code', 'Status', 'Common', 'Meaning'],
      document['x-faults'].map(({ code, status, isCommon, description }) => [
        `\`${code}\``,
        String(status),
        isCommon ? 'yes' : '',
        description,
      ]),
    ),
  ].join('\n\n')
}

function table(heads, rows) {
  const line = cells => `| ${cells.map(cell => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

const introduction = `# API reference

This file is generated from the contract in \`packages/protocol/src\`. Do not edit this file. Change the contract and run \`npm run api-reference\`.
A running gateway serves the same information as OpenAPI 3.1 at \`GET /api/v1/openapi.json\`.

Every path begins with \`/api/v1\`. Requests and replies are JSON in UTF-8. Times are epoch milliseconds, durations are milliseconds.
Input fields come from the path, from the query (\`GET\` and \`DELETE\`) or from the body; an unknown field is an error. Clients must ignore unknown fields in replies.

- **Credentials.** Send \`Authorization: Bearer <secret>\`. A browser signs in with a one-time code and then sends a cookie together with the header \`x-holdpoint-page\`, which contains the page secret that \`signIn\` returned; a cookie alone is refused. Without a credential only \`GET /healthz\`, the files of the page, \`signIn\`, \`describeLink\` and \`proveGateway\` work.
- **Idempotency.** Every \`POST\` accepts an \`Idempotency-Key\` header. A call with the same key and body returns the first result, so a retry is safe. A call with the same key and a different body gets \`idempotency_mismatch\`.
- **Numbers.** A number must keep its value in a double: \`1.0\` and \`1e3\` are accepted, \`9007199254740993\` and \`1e-400\` are refused with \`bad_json\`. Send such numbers as strings.
- **Pages.** Lists return \`items\` and \`next\`. Pass \`next\` back as \`after\` (or as \`before\`, depending on the operation) until \`next\` is \`null\`.
- **Long polls.** Operations with \`wait\` return as soon as there is a result, and at the latest after \`wait\` milliseconds.
- **Health.** \`GET /healthz\` (without \`/api/v1\`) returns \`{"ok": true, "version": "…"}\`.

Answer a request from a shell:

\`\`\`sh
curl -s localhost:4747/api/v1/requests?status=pending -H "Authorization: Bearer $TOKEN"
curl -s localhost:4747/api/v1/requests/$ID/answer -H "Authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' -d '{"digest": "'$DIGEST'", "answer": {"kind": "allow"}}'
\`\`\``

const streamSection = `## Stream and socket

### GET /events

\`GET /api/v1/events\` is a stream of server-sent events. The query has two optional fields: \`after\` is the cursor to resume after (the header \`Last-Event-ID\` takes precedence), and \`session\` limits the stream to one session. Agents must pass \`session\`.
Each event is one JSON frame:

| Frame | Content |
| --- | --- |
| \`{"frame": "hello", "hello": …}\` | The first frame, a [Hello](#hello). With \`"resume": "gap"\`, hello contains a snapshot. With \`"resume": "ok"\`, the missed events follow. |
| \`{"frame": "event", "event": …}\` | An [Event](#event). The id of the server-sent event is the cursor of the event. |
| \`{"frame": "delta", "delta": …}\` | A [Delta](#delta) and its \`session\`. A delta has no cursor and is not stored. |
| \`{"frame": "answering", "request", "person", "active"}\` | A person has started (\`active: true\`) or stopped writing an answer. |

The gateway sends a comment every 15 seconds. The gateway disconnects a client that reads too slowly; such a client should reconnect with its last cursor.

### GET /socket

\`GET /api/v1/socket\` is a WebSocket with the same frames. The client sends JSON text frames:

| Frame | Meaning |
| --- | --- |
| \`{"id": 1, "op": "getSession", "input": {"id": "ses_…"}, "idempotencyKey": "…"}\` | Run any operation except \`signIn\` and \`signOut\`. The reply is \`{"frame": "reply", "id": 1, "status": 200, "body": …}\`. |
| \`{"cancel": 1}\` | Cancel the running operation with this id, for example a long poll. |
| \`{"subscribe": {"after": "…", "session": "…"}}\` | Start the event stream on this socket, or restart the stream with other options. Both fields are optional. |`

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { openapiDocument } = await import('../packages/server/dist/openapi.js')
  writeFileSync(new URL('../docs/api.md', import.meta.url), renderApiReference(openapiDocument('0.1.0')))
}
