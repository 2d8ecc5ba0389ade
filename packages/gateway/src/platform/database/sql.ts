// SQL as text with its values where they stand: sql`… where login = ${login}` is a statement with $1 and [login]. A
// fragment within another brings its text and its values along. Only what is written in the program is text; whatever
// comes from outside is a value.

export interface Sql {
  readonly text: string
  readonly values: readonly unknown[]
}

class Fragment implements Sql {
  readonly text: string
  readonly values: readonly unknown[]
  readonly #strings: readonly string[]
  readonly #parts: readonly unknown[]

  constructor(strings: readonly string[], parts: readonly unknown[]) {
    this.#strings = strings
    this.#parts = parts
    const values: unknown[] = []
    this.text = this.writeTo(values)
    this.values = values
  }

  writeTo(values: unknown[]): string {
    return this.#strings.reduce((text, string, index) => {
      const part = this.#parts[index - 1]
      return `${text}${part instanceof Fragment ? part.writeTo(values) : `$${values.push(part)}`}${string}`
    })
  }
}

export function sql(strings: TemplateStringsArray, ...parts: readonly unknown[]): Sql {
  return new Fragment(strings, parts)
}

/** Parsed and planned once a connection, under this name. */
export function prepared(name: string) {
  return (strings: TemplateStringsArray, ...parts: readonly unknown[]) => ({
    name,
    ...sql(strings, ...parts),
  })
}

/** Text of the program's own: a name of a column, a condition without values. */
export function plainSql(text: string): Sql {
  return new Fragment([text], [])
}

/** The conditions that are there, all of them: for what follows `where`. */
export function allOf(conditions: readonly (Sql | false | undefined)[]): Sql {
  const wanted = conditions.filter((condition) => condition instanceof Fragment)
  return wanted.length === 0 ? plainSql('true') : joined(wanted, ' and ')
}

/** Of one merchant where one is given, else of all. A merchant in so many words is what finds the machine of their rows. */
export function merchantIs(alias: Sql, merchantId: string | undefined): Sql {
  return merchantId === undefined ? plainSql('true') : sql`${alias}.merchant_id = ${merchantId}`
}

export function unionAll(selects: readonly Sql[]): Sql {
  return joined(selects, ' union all ')
}

/** With commas in between. */
export function listed(parts: readonly Sql[]): Sql {
  return joined(parts, ', ')
}

function joined(parts: readonly Sql[], separator: string): Sql {
  return new Fragment(['', ...parts.slice(1).map(() => separator), ''], parts)
}

/** What many items hold under each of these names, an array a name: for `unnest`. */
export function columnsOf<Item>(items: readonly Item[], ...names: readonly (keyof Item)[]): unknown[][] {
  return names.map((name) => items.map((item) => item[name]))
}
