// Commands generated from the actions: parameters are arguments, fields are options, and the answer is printed.
import assert from 'node:assert/strict'
import { pipeline } from 'node:stream/promises'
import { Failure } from '@tillgate/protocol'
import { type Command, Option } from 'commander'
import type { TSchema } from 'typebox'
import type { Action, ActionCommand, GivenFile, RawInput, Reply } from '../../actions/action.ts'
import { isFile } from '../../actions/answers.ts'
import { displayOf } from '../../actions/fields.ts'
import { readInput } from '../../actions/read-input.ts'
import { runAction } from '../../actions/running/run-action.ts'
import { commandName, type OutputOptions, print, type Terminal, type WithContext } from './context.ts'
import { namedFile, readTextFile } from './files.ts'
import { describeAnswer } from './show-answer.ts'

type Options = Readonly<Record<string, string | boolean>> & OutputOptions

export function addActionCommand(
  parent: Command,
  action: Action & { command: ActionCommand },
  parts: { readonly withContext: WithContext; readonly terminal: Terminal },
): void {
  const { command: declared, params, input } = action
  const taken = Object.keys(params?.properties ?? {}).concat(declared.arguments ?? [])
  const fields = { ...params?.properties, ...input?.properties }
  const must = [...(params?.required ?? []), ...(input?.required ?? []), ...(declared.required ?? [])]
  const isRequired = (field: string, schema: TSchema) =>
    must.includes(field) && displayOf(schema).initial === undefined
  const command = parent.command(action.name.slice(action.name.indexOf('.') + 1)).description(action.summary)
  if (action.takesFile) command.argument('<file>', 'The file, or - for standard input.')
  for (const field of taken) {
    const schema = fields[field] as TSchema
    const name = displayOf(schema).option ?? field
    command.argument(must.includes(field) ? `<${name}>` : `[${name}]`, descriptionOf(schema))
  }
  const options = Object.entries(input?.properties ?? {}).filter(
    ([field]) => !taken.includes(field) && !declared.omits?.includes(field),
  )
  for (const [field, schema] of options)
    command.addOption(toOption(field, schema, { isRequired: isRequired(field, schema) }))
  for (const [name, description] of Object.entries(declared.flags ?? {}))
    command.option(`--${name}`, description)
  if (!isFile(action.answer)) command.option('--json', 'Print JSON')
  if (declared.help !== undefined) command.addHelpText('after', `\n${declared.help}`)
  command.action((...given: unknown[]) => {
    // Safe: commander calls with the arguments, the options and the command.
    const [path] = action.takesFile ? (given as string[]) : []
    const rest = action.takesFile ? given.slice(1) : given
    const texts = rest.slice(0, taken.length) as (string | undefined)[]
    const chosen = rest[taken.length] as Options
    const raw: RawInput = Object.fromEntries([
      ...taken.map((field, index) => [field, texts[index]]),
      ...options.map(([field, schema]) => [field, textOf(chosen[camel(optionOf(field, schema))], schema)]),
      ...Object.keys(declared.flags ?? {}).map((name) => [name, chosen[name] ? 'true' : undefined]),
    ])
    return run(action, declared.read?.(raw) ?? raw, chosen, {
      ...parts,
      file: path === undefined ? undefined : namedFile(path),
    })
  })
}

async function run(
  action: Action & { command: ActionCommand },
  raw: RawInput,
  options: Options,
  {
    withContext,
    terminal,
    file,
  }: { withContext: WithContext; terminal: Terminal; file: GivenFile | undefined },
) {
  const { params, input, errors } = readInput(action, raw, {
    required: action.command.required,
    nameOf: (field) => nameOf(field, action),
  })
  if (errors.length > 0)
    throw new Failure('invalid_field', {
      message: errors.map(({ message }) => inOptions(message, action)).join('\n'),
    })
  await withContext(async ({ operations, context, clock }) => {
    const call = {
      operations,
      operator: undefined,
      actor: context.actor,
      nowMs: clock.now(),
      params,
      input,
      idempotencyKey: undefined,
      file,
    }
    const ran = await runAction(action, call).catch((error: unknown) => {
      if (error instanceof Failure && error.failure === 'invalid_field')
        throw new Failure('invalid_field', { message: inOptions(error.message, action), cause: error })
      throw error
    })
    assert(ran.kind === 'done', 'the command line cannot ask for approval')
    const { answer } = ran
    // Safe, both: an action's answer follows its schema.
    if (isFile(action.answer)) return pipeline(answer as AsyncIterable<string>, terminal.out, { end: false })
    const lines = action.reply
      ? linesOf(action.reply(answer, { params, input }))
      : describeAnswer(answer as object, action.answer, action.command.columns)
    print(terminal, options, { value: answer, lines })
  })
}

function linesOf({ text, secrets = [], block, next }: Reply): string[] {
  const width = Math.max(...secrets.map(([label]) => label.length))
  return [
    text,
    ...(secrets.length === 0
      ? []
      : [
          '',
          ...secrets.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`),
          '',
          'Shown only once: store it now.',
        ]),
    ...(block === undefined ? [] : ['', block.trimEnd()]),
    ...(next === undefined ? [] : ['', `Next: ${commandName} ${next}`]),
  ]
}

const kinds: Readonly<Record<string, string>> = { integer: 'number', array: 'list' }

function toOption(field: string, schema: TSchema, { isRequired }: { isRequired: boolean }): Option {
  const { type, enum: values } = schema as { type?: string; enum?: string[] }
  const display = displayOf(schema)
  const { initial, placeholder, fromOption } = display
  const isLong = display.kind === 'long'
  const name = optionOf(field, schema)
  const kind = isLong ? 'file' : timeName(field) ? 'time' : (kinds[type ?? ''] ?? 'text')
  const description = [
    descriptionOf(schema),
    ...(isLong ? ['- reads standard input.'] : []),
    ...(placeholder === undefined ? [] : [`Example: ${placeholder}.`]),
    ...(isRequired ? ['(required)'] : []),
    // A converted value is in another unit than what a person types.
    ...(initial !== undefined && type !== 'boolean' && fromOption === undefined
      ? [`(default: ${initial})`]
      : []),
  ].join(' ')
  if (type === 'boolean') return new Option(`--${name}`, description)
  const option = new Option(`--${name} <${kind}>`, description)
  if (values) option.choices(values)
  return option.makeOptionMandatory(isRequired)
}

function textOf(given: string | boolean | undefined, schema: TSchema): string | undefined {
  const { initial, kind, fromOption } = displayOf(schema)
  if (given === undefined || typeof given === 'boolean') return given ? 'true' : initial
  if (kind === 'long') return readTextFile(given)
  return fromOption?.(given) ?? given
}

function descriptionOf(schema: TSchema): string {
  return displayOf(schema).hint ?? (schema as { description?: string }).description ?? ''
}

function nameOf(field: string, { params, input, command }: Action): string {
  const schema = input?.properties[field] ?? params?.properties[field] ?? {}
  const isArgument = params?.properties[field] !== undefined || command?.arguments?.includes(field)
  return isArgument ? (displayOf(schema).option ?? field) : `--${optionOf(field, schema)}`
}

/** Messages name fields, such as onDay; on the command line they name options. */
function inOptions(message: string, action: Action): string {
  return Object.keys(action.input?.properties ?? {}).reduce(
    (said, field) =>
      said.replace(
        new RegExp(/[A-Z]/.test(field) ? `\\b${field}\\b` : `^${field}\\b`),
        nameOf(field, action),
      ),
    message,
  )
}

/** requestsPerSecond is --requests-per-second, sinceMs is --since. */
function optionOf(field: string, schema: TSchema): string {
  const { option } = displayOf(schema)
  return option ?? (timeName(field) ?? field).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function timeName(field: string): string | undefined {
  return /^(\w+)Ms$/.exec(field)?.[1]
}

function camel(option: string): string {
  return option.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
