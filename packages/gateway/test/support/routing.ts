// Reads a statement of ours and says where it would be wrong on a cluster that spreads the merchants' tables: a spread
// table reached without its merchant, a spread and a local table joined, rows of several merchants locked. It knows the
// SQL that we write and no more: no quoted names, no schemas, no row comparisons as keys, and views only by `views`. A
// statement that it cannot read (COPY, DO) passes.
import { spreadColumn, type TablePlace, tablePlans } from '../../src/platform/database/tables.ts'

type Token = string | readonly Token[]

/** A table within one FROM, UPDATE, DELETE or INSERT. */
interface Reference {
  readonly table: string
  readonly alias: string
  readonly place: TablePlace
  /** Rows of it are made from values, each of which goes to its own shard. */
  readonly isInserted: boolean
}

interface Scope {
  readonly references: readonly Reference[]
  readonly outer: Scope | undefined
}

/** Views of spread tables alone. */
const views: Readonly<Record<string, TablePlace>> = { callbacks_with_progress: 'spread' }

/** Everything that is wrong, each as a sentence; empty when all is well. */
export function routingFaults(text: string): string[] {
  const tokens = tokensOf(text)
  const faults = faultsOfGroup(nest(tokens, 0).group, undefined)
  const isSpread = tokens.some((token) => (tablePlans[token]?.place ?? views[token]) === 'spread')
  // Citus reads a query within another one first, and cannot keep a result without columns.
  if (isSpread && tokens.some((token, at) => at > 0 && token === 'select' && tokens[at + 1] === 'from'))
    faults.push('a query within it selects no column: write `select 1 from`')
  return [...new Set(faults)]
}

const tokenPattern =
  /\s+|--[^\n]*|\/\*.*?\*\/|'(?:[^']|'')*'|"[^"]*"|\$\d+|\d+(?:\.\d+)?|[a-z_][a-z0-9_]*|::|<=|>=|<>|!=|\|\||->>?|./gis

function tokensOf(text: string): string[] {
  return (text.match(tokenPattern) ?? [])
    .filter((token) => !/^(\s|--|\/\*)/.test(token))
    .map((token) => (token.startsWith("'") ? token : token.toLowerCase()))
}

function nest(tokens: readonly string[], from: number): { group: Token[]; next: number } {
  const group: Token[] = []
  let at = from
  while (at < tokens.length) {
    const token = tokens[at++] as string
    if (token === ')') break
    if (token !== '(') group.push(token)
    else {
      const inner = nest(tokens, at)
      group.push(inner.group)
      at = inner.next
    }
  }
  return { group, next: at }
}

/** A query, several of them by UNION, or an expression with queries in it. */
function faultsOfGroup(group: readonly Token[], outer: Scope | undefined): string[] {
  return splitAt(group, /^(union|intersect|except|;)$/).flatMap((block) => faultsOfBlock(block, outer))
}

function faultsOfBlock(block: readonly Token[], outer: Scope | undefined): string[] {
  const references = referencesOf(block)
  const scope = references.length > 0 ? { references, outer } : outer
  const spread = references.filter(({ place }) => place === 'spread')
  const faults = block.flatMap((token) => (typeof token === 'string' ? [] : faultsOfGroup(token, scope)))
  const local = references.find(({ place }) => place === 'local')
  const joined = spread.find(({ isInserted }) => !isInserted)
  if (local && !local.isInserted && joined)
    faults.push(`${joined.table} is spread and ${local.table} is local, and they are joined`)
  if (references.length > 0) faults.push(...correlationFaults(block, references, outer))

  const pins = pinsOf(
    block,
    spread.filter(({ isInserted }) => !isInserted),
  )
  for (const { table, alias, isInserted } of spread)
    if (!isInserted && !pins.has(alias))
      faults.push(`${table} (${alias}) is reached without its ${spreadColumn}`)
  if (isLocking(block) && spread.some(({ alias }) => pins.get(alias) !== 'one'))
    faults.push(`rows of ${spread[0]?.table} are locked for several merchants`)
  return faults
}

const clauseWords =
  /^(where|on|using|set|order|group|limit|join|left|right|inner|cross|full|for|returning|values|select|having|window|union|default|offset|lateral)$/

function referencesOf(block: readonly Token[]): Reference[] {
  const found: Reference[] = []
  for (const [at, token] of block.entries()) {
    if (typeof token !== 'string') continue
    const before = block[at - 1]
    const isTarget =
      token === 'into' || (token === 'update' && before !== 'for' && before !== 'key' && before !== 'do')
    const isSource =
      (token === 'from' && before !== 'distinct') ||
      token === 'join' ||
      (token === 'using' && typeof block[at + 1] === 'string')
    if (!isTarget && !isSource) continue
    let next = at + 1
    for (;;) {
      if (block[next] === 'only' || block[next] === 'lateral') next += 1
      const table = block[next]
      const place = typeof table === 'string' ? (tablePlans[table]?.place ?? views[table]) : undefined
      const named = block[next + 1] === 'as' ? next + 2 : next + 1
      const word = block[named]
      const hasAlias = typeof word === 'string' && /^[a-z_]/.test(word) && !clauseWords.test(word)
      if (place !== undefined && typeof table === 'string')
        found.push({ table, alias: hasAlias ? word : table, place, isInserted: token === 'into' })
      if (token !== 'from' && token !== 'using') break
      // Further items of the same list, each behind its comma.
      let comma = next + 1
      while (comma < block.length && block[comma] !== ',' && !isClause(block[comma])) comma += 1
      if (block[comma] !== ',') break
      next = comma + 1
    }
  }
  return found
}

function isClause(token: Token | undefined): boolean {
  return typeof token === 'string' && token !== 'lateral' && clauseWords.test(token)
}

type Pin = 'one' | 'some'

/** Of which spread tables the merchant is said: one, or some of a list. Equality hands on one, and never a list. */
function pinsOf(block: readonly Token[], spread: readonly Reference[]): Map<string, Pin> {
  const flat = conditionsOf(block)
  const pins = new Map<string, Pin>()
  const equals: [string, string][] = []
  const [single] = spread
  const isUsing = flat.some(
    (token, at) =>
      token === 'using' &&
      flat[at + 1] === '(' &&
      flat.slice(at, flat.indexOf(')', at)).includes(spreadColumn),
  )
  const aliases = new Set(spread.map(({ alias }) => alias))
  for (const [at, token] of flat.entries()) {
    if (token !== spreadColumn) continue
    const isQualified = flat[at - 1] === '.'
    const alias = isQualified ? (flat[at - 2] as string) : spread.length === 1 ? single?.alias : undefined
    const start = isQualified ? at - 2 : at
    const pin = pinAt(flat, at, start)
    const isShared = !isQualified && isUsing
    if (pin)
      for (const each of isShared ? aliases : [alias])
        if (each !== undefined && aliases.has(each)) pins.set(each, pin)
    if (flat[at + 1] === '=' && flat[at + 3] === '.' && flat[at + 4] === spreadColumn && alias !== undefined)
      equals.push([alias, flat[at + 2] as string])
  }
  if (isUsing) for (const one of aliases) for (const other of aliases) equals.push([one, other])
  for (let isChanging = true; isChanging; ) {
    isChanging = false
    for (const [a, b] of equals)
      for (const [from, to] of [
        [a, b],
        [b, a],
      ] as const)
        if (pins.get(from) === 'one' && aliases.has(to) && pins.get(to) !== 'one') {
          pins.set(to, 'one')
          isChanging = true
        }
  }
  return pins
}

function pinAt(flat: readonly string[], at: number, start: number): Pin | undefined {
  if (flat[at + 1] === '=') {
    if (flat[at + 2] === 'any') return 'some'
    if (isValue(flat[at + 2])) return 'one'
  }
  return flat[start - 1] === '=' && isValue(flat[start - 2]) ? 'one' : undefined
}

function isValue(token: string | undefined): boolean {
  return token !== undefined && /^(\$\d+|'.*')$/s.test(token)
}

/** The block in one row, its parentheses kept and queries within it left out. */
function conditionsOf(block: readonly Token[]): string[] {
  return block.flatMap((token) => {
    if (typeof token === 'string') return [token]
    const isQuery = /^(select|insert|update|delete|with|values)$/.test(String(token[0]))
    return isQuery ? ['(', ')'] : ['(', ...conditionsOf(token), ')']
  })
}

/** A query within another one must not look at a row of it that lies elsewhere. */
function correlationFaults(
  block: readonly Token[],
  references: readonly Reference[],
  outer: Scope | undefined,
): string[] {
  const flat = conditionsOf(block)
  const own = new Set(references.map(({ alias }) => alias))
  const faults: string[] = []
  for (let scope = outer; scope; scope = scope.outer)
    for (const { alias, table, place } of scope.references) {
      if (own.has(alias) || !flat.some((token, at) => token === alias && flat[at + 1] === '.')) continue
      const other = references.find((reference) => reference.place !== place)
      if (other)
        faults.push(`${other.table} is ${other.place} and ${table} is ${place}, and one looks into the other`)
    }
  return faults
}

function isLocking(block: readonly Token[]): boolean {
  return block.some((token, at) => token === 'for' && /^(update|share|no|key)$/.test(String(block[at + 1])))
}

function splitAt(group: readonly Token[], separator: RegExp): Token[][] {
  const blocks: Token[][] = [[]]
  for (const token of group) {
    if (typeof token === 'string' && separator.test(token)) blocks.push([])
    else blocks.at(-1)?.push(token)
  }
  return blocks
}
