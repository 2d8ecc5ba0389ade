// SQL text with inline values: sql`… where login = ${login}` becomes $1 and [login]. A nested fragment contributes
// its text and values. Only literals in the program become text; all other input is a value.

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

/** Parsed and planned once per connection under this name. */
export function prepared(name: string) {
  return (strings: TemplateStringsArray, ...parts: readonly unknown[]) => ({
    name,
    ...sql(strings, ...parts),
  })
}

/** Only for text written in the program: a column name or a condition without values. */
export function plainSql(text: string): Sql {
  return new Fragment([text], [])
}

export function allOf(conditions: readonly (Sql | false | undefined)[]): Sql {
  const wanted = conditions.filter((condition) => condition instanceof Fragment)
  return wanted.length === 0 ? plainSql('true') : joined(wanted, ' and ')
}

/** Limits a statement to one merchant, if given. The explicit condition lets Citus find the merchant's machine. */
export function merchantIs(alias: Sql, merchantId: string | undefined): Sql {
  return merchantId === undefined ? plainSql('true') : sql`${alias}.merchant_id = ${merchantId}`
}

export function unionAll(selects: readonly Sql[]): Sql {
  return joined(selects, ' union all ')
}

export function listed(parts: readonly Sql[]): Sql {
  return joined(parts, ', ')
}

function joined(parts: readonly Sql[], separator: string): Sql {
  return new Fragment(['', ...parts.slice(1).map(() => separator), ''], parts)
}

/** Returns one array per name, for `unnest`. */
export function columnsOf<Item>(items: readonly Item[], ...names: readonly (keyof Item)[]): unknown[][] {
  return names.map((name) => items.map((item) => item[name]))
}
