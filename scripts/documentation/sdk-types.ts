// packages/sdk/types/index.d.ts: all that a merchant's editor shows of the SDK, in one file. The declarations are the
// compiler's; the messages of the wire are written out from their schemas, whose words become the hover text. The file
// is under version control, so that a gateway can hand the SDK out without a compiler, and so that a change of what
// merchants see shows in the diff.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TSchema } from 'typebox'
import { wordsOf } from '../../packages/protocol/documentation/tables.ts'
import * as protocol from '../../packages/protocol/src/index.ts'

/** Types that are read off a schema or a table, by their names in the protocol. */
const written: Readonly<Record<string, (name: string) => string>> = {
  BillAnswer: (name) => interfaceOf(name, protocol.billAnswerSchema),
  CreateBody: (name) => interfaceOf(name, protocol.createBodySchema),
  CreateAnswer: (name) => interfaceOf(name, protocol.createAnswerSchema),
  OrderListAnswer: (name) => interfaceOf(name, protocol.orderListAnswerSchema),
  QueryAnswer: (name) => interfaceOf(name, protocol.queryAnswerSchema),
  CaptureAnswer: (name) => interfaceOf(name, protocol.captureAnswerSchema),
  ScanAnswer: (name) => interfaceOf(name, protocol.scanAnswerSchema),
  ReleaseAnswer: (name) => interfaceOf(name, protocol.releaseAnswerSchema),
  CancelAnswer: (name) => interfaceOf(name, protocol.cancelAnswerSchema),
  RefundOrder: (name) => interfaceOf(name, protocol.refundBodySchema),
  RefundAnswer: (name) => interfaceOf(name, protocol.refundAnswerSchema),
  CallbackAnswer: (name) => interfaceOf(name, protocol.callbackAnswerSchema),
  LinkCreateBody: (name) => interfaceOf(name, protocol.linkCreateBodySchema),
  LinkAnswer: (name) => interfaceOf(name, protocol.linkAnswerSchema),
  LinkQueryAnswer: (name) => interfaceOf(name, protocol.linkQueryAnswerSchema),
  SandboxPay: (name) => interfaceOf(name, protocol.sandboxPayBodySchema),
  SandboxAnswer: (name) => interfaceOf(name, protocol.sandboxAnswerSchema),
  SandboxListenAnswer: (name) => interfaceOf(name, protocol.sandboxListenAnswerSchema),
  SandboxRequestsAnswer: (name) => interfaceOf(name, protocol.sandboxRequestsAnswerSchema),
  PaymentResult: (name) => interfaceOf(name, protocol.paymentResultSchema),
  RefundResult: (name) => interfaceOf(name, protocol.refundResultSchema),
  OrderStatus: (name) => unionOf(name, protocol.orderStatuses),
  RefundStatus: (name) => unionOf(name, protocol.refundStatuses),
  OrderEventName: (name) => unionOf(name, protocol.orderEvents),
  RefundEventName: (name) => unionOf(name, protocol.refundEvents),
  // Without the numbers that only a strict reader knows.
  Json: () => 'type Json = null | boolean | number | string | readonly Json[] | JsonObject;',
}

export function sdkTypes(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tillgate-types-'))
  try {
    compile(folder)
    return bundle(join(folder, 'sdk/src/index.d.ts'), join(folder, 'protocol/src/index.d.ts'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function compile(outDir: string): void {
  const root = join(import.meta.dirname, '../..')
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: join(root, 'packages'),
      outDir,
      typeRoots: [join(root, 'node_modules/@types')],
      // What the compiler comes to by node_modules first it takes for somebody else's, and writes no types of it: which way
      // it comes first is a race of its threads.
      paths: { '@tillgate/protocol': [join(root, 'packages/protocol/src/index.ts')] },
    },
    files: ['protocol', 'sdk'].map((name) => join(root, `packages/${name}/src/index.ts`)),
    include: [],
  }
  const path = join(outDir, 'tsconfig.json')
  writeFileSync(path, JSON.stringify(config))
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--project', path], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the types of the SDK do not compile:\n${stdout}`)
}

interface Module {
  /** By name; a function with overloads has several. */
  readonly declarations: ReadonlyMap<string, string>
  /** Names that come from elsewhere: from which module, and what they are called there. */
  readonly borrowed: ReadonlyMap<string, { readonly from: string; readonly name: string }>
  /** Modules of which everything is passed on. */
  readonly passedOn: readonly string[]
}

/** Every declaration that the entry exports, and every other that those speak of, each under one name. */
function bundle(entry: string, protocolEntry: string): string {
  const modules = new Map<string, Module>()
  const moduleOf = (path: string): Module => {
    const known = modules.get(path) ?? readModule(path, protocolEntry)
    modules.set(path, known)
    return known
  }
  const find = (path: string, name: string): { path: string; name: string } | undefined => {
    if (path.startsWith('node:')) return { path, name }
    const { declarations, borrowed, passedOn } = moduleOf(path)
    if (declarations.has(name)) return { path, name }
    const from = borrowed.get(name)
    if (from) return find(from.from, from.name)
    return passedOn.map((each) => find(each, name)).find((found) => found !== undefined)
  }

  const shown = [...moduleOf(entry).borrowed.keys()]
  const output = new Map<string, { readonly key: string; readonly text: string }>()
  const external = new Map<string, Set<string>>()
  const add = (path: string, name: string): void => {
    const found = find(path, name)
    // A word of the language or of Node.js.
    if (found === undefined) return
    if (found.path.startsWith('node:')) {
      external.set(found.path, (external.get(found.path) ?? new Set()).add(found.name))
      return
    }
    const key = `${found.path} ${found.name}`
    const known = output.get(name)
    if (known?.key === key) return
    if (known) throw new Error(`two types are called ${name}: ${known.key}, ${key}`)
    const isOfProtocol = found.path.startsWith(dirname(protocolEntry))
    const text =
      (isOfProtocol && written[found.name]?.(name)) ||
      (moduleOf(found.path).declarations.get(found.name) ?? '')
    output.set(name, { key, text })
    for (const word of new Set(withoutComments(text).match(/\b[A-Z]\w*/g))) {
      if (word !== name) add(isOfProtocol && Object.hasOwn(written, word) ? protocolEntry : found.path, word)
    }
  }
  for (const name of shown) add(entry, name)

  return [
    '// Made by scripts/documentation.ts from the sources of the SDK and the schemas of the protocol.',
    ...[...external].map(([path, names]) => `import type { ${[...names].join(', ')} } from '${path}';`),
    '',
    ...[...output].map(([name, { text }]) => (shown.includes(name) ? exported(text) : text)),
    // What is not exported above stays inside.
    'export {};',
    '',
  ].join('\n')
}

/** The compiler writes each statement from the first column on, and all that is inside of one further in. */
const statementStart = /^(?=(?:\/\*\*|import |export |declare |interface |type ))/m

function readModule(path: string, protocolEntry: string): Module {
  const resolved = (specifier: string): string => {
    if (specifier === '@tillgate/protocol') return protocolEntry
    return specifier.startsWith('.') ? join(dirname(path), specifier.replace(/\.ts$/, '.d.ts')) : specifier
  }
  const declarations = new Map<string, string>()
  const borrowed = new Map<string, { from: string; name: string }>()
  const passedOn: string[] = []
  let comment = ''
  for (const statement of existsSync(path) ? readFileSync(path, 'utf8').split(statementStart) : []) {
    if (/^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.test(statement)) {
      comment += statement
      continue
    }
    const [, , names, from] = /^(import|export) (?:type )?\{([^}]*)\} from '([^']+)'/.exec(statement) ?? []
    const [, everything] = /^export \* from '([^']+)'/.exec(statement) ?? []
    const [, declared] =
      /^(?:export )?(?:declare )?(?:function|class|interface|type|const) (\w+)/.exec(statement) ?? []
    if (everything !== undefined) passedOn.push(resolved(everything))
    if (names !== undefined && from !== undefined) {
      for (const [, name = '', alias = name] of names.matchAll(
        /(?:\btype )?\b(\w+)(?: as (\w+))?\s*(?:,|$)/g,
      ))
        borrowed.set(alias, { from: resolved(from), name })
    }
    if (declared !== undefined) {
      const text = `${comment}${statement.trim().replace(/^export /, '')}`
      declarations.set(declared, [declarations.get(declared), text].filter(Boolean).join('\n'))
    }
    comment = ''
  }
  return { declarations, borrowed, passedOn }
}

function exported(text: string): string {
  return text.replace(/^(declare|interface|type) /gm, 'export $1 ')
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '')
}

function interfaceOf(name: string, schema: TSchema): string {
  return `interface ${name} ${shapeOf(schema, '')}`
}

interface ShownSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly items?: TSchema
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
}

/** Names for the choices that have one. */
const statusTypes: Readonly<Record<string, string>> = {
  [`${Object.keys(protocol.orderStatuses)}`]: 'OrderStatus',
  [`${Object.keys(protocol.refundStatuses)}`]: 'RefundStatus',
}

function shapeOf(schema: TSchema, indent: string): string {
  const { type = [], enum: choices, items, properties = {}, required = [] } = schema as unknown as ShownSchema
  if (choices) return statusTypes[`${choices}`] ?? choices.map((each) => `'${each}'`).join(' | ')
  if (items) return `${shapeOf(items, indent)}[]`
  if (type !== 'object') return [type].flat().join(' | ').replace('integer', 'number')
  const fields = Object.entries(properties).map(([name, field]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${indent}    /** ${wordsOf(field)} */\n${indent}    ${name}${mark}: ${shapeOf(field, `${indent}    `)};\n`
  })
  return `{\n${fields.join('')}${indent}}`
}

function unionOf(name: string, meanings: Readonly<Record<string, { readonly meaning: string }>>): string {
  const rows = Object.entries(meanings).map(([each, { meaning }]) => ` * - \`${each}\`: ${meaning}\n`)
  const values = Object.keys(meanings).map((each) => `'${each}'`)
  return `/**\n${rows.join('')} */\ntype ${name} = ${values.join(' | ')};`
}
