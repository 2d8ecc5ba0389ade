// Explains why JSON.parse rejected a text: the position, what is there, and the usual correction. It repeats one
// character or a word of its own list, never more, because the text may be a secret body.

/** The scan has limited the text's depth before. */
export function explainBrokenJson(text: string): string {
  const trouble = foreignFormat(text) ?? new SecondLook(text).trouble()
  if (trouble === undefined) throw new Error('JSON.parse refuses the text, and nothing in it is wrong')
  return trouble
}

/** For a valid text in which an object has a key twice. */
export function describeRepeatedKey(text: string): string {
  const key = new SecondLook(text).repeatedKey()
  if (key === undefined) throw new Error('the text has fewer members than colons, and no key is repeated')
  const shown = key.length <= maxShownKey ? key : `${key.slice(0, maxShownKey).toWellFormed()}…`
  return `the key ${JSON.stringify(shown)} is in one object twice; keep one of the two`
}

const maxShownKey = 64

/** The format of the text if it is recognizably not JSON. */
export function foreignFormat(text: string): string | undefined {
  return foreignFormats.find(([pattern]) => pattern.test(text))?.[1]
}

// Bytes read as UTF-8: invalid ones have become U+FFFD.
const foreignFormats: readonly (readonly [RegExp, string])[] = [
  [/^[ \t\n\r]*$/, 'it is empty'],
  [/^[^ -~\s]\ufffd[\b]/, 'it is compressed with gzip; send it as it is'],
  [/^(?:\ufffd\ufffd)?(?:.\0.\0|\0.\0.)/, 'it is UTF-16; send it as UTF-8'],
  [/^\ufeff/, 'it begins with a byte order mark at position 0; send UTF-8 without one'],
  [/^[\w.%+-]+=/, 'it is a form, name=value; send a JSON object, {"name":"value"}'],
  [/^--\S+\s+content-/i, 'it is a multipart form; send a JSON object'],
  [/^</, 'it begins with `<` at position 0, as XML and HTML do; send a JSON object'],
  [/^\[object \w+\]$/, 'it is `[object …]`; send the output of JSON.stringify'],
]

const space = /[ \t\n\r]*/y
/** All characters except quotes, backslashes and control characters. */
const plainText = /[ !#-[\]-\u{10ffff}]*/uy
const wholeEscape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const begunEscape = /\\(?:u[0-9a-fA-F]*)?/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const begunNumber = /-?(?:(?:0|[1-9]\d*)(?:(?:\.\d+)?[eE][+-]?\d*|\.\d*)?)?/y
const word = /[A-Za-z_$][\w$]*/y

const literals = ['true', 'false', 'null']
const noSuchNumber = 'JSON has no such number'
/** Literals of other languages, and their JSON equivalents. */
const foreignWords: ReadonlyMap<string, string> = new Map([
  ['NaN', noSuchNumber],
  ['Infinity', noSuchNumber],
  ['Inf', noSuchNumber],
  ['undefined', 'write null, or leave the field out'],
  ...['None', 'Null', 'NULL', 'nil'].map((found) => [found, 'write null'] as const),
  ...['True', 'TRUE'].map((found) => [found, 'write true'] as const),
  ...['False', 'FALSE'].map((found) => [found, 'write false'] as const),
])
const hints: readonly (readonly [RegExp, string])[] = [
  [/['‘’“”`]/, 'JSON allows only double quotes'],
  [/[/#]/, 'JSON has no comments'],
  [/\+/, 'a number cannot start with a plus sign'],
  [/\./, 'a number needs a digit before the point'],
]

class Broken extends Error {}

class SecondLook {
  readonly #text: string
  #at = 0
  #repeatedKey: string | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** Undefined if the text is valid JSON. */
  trouble(): string | undefined {
    try {
      this.#readValue('a value')
      if (this.#next() !== '') throw this.#unexpected('the end')
      return undefined
    } catch (error) {
      if (error instanceof Broken) return error.message
      throw error
    }
  }

  /** Of a valid text: the first key that its object already has. */
  repeatedKey(): string | undefined {
    this.#readValue('a value')
    return this.#repeatedKey
  }

  #readValue(expected: string): void {
    const next = this.#next()
    if (next === '{') this.#readObject()
    else if (next === '[') this.#readArray()
    else if (next === '"') this.#readString()
    else if (/[-\d]/.test(next)) this.#readNumber()
    else this.#readWord(expected)
  }

  #readArray(): void {
    this.#at++
    if (this.#skips(']')) return
    this.#readValue('a value or ]')
    while (!this.#skips(']')) {
      if (!this.#skips(',')) throw this.#unexpected('a comma or ]')
      this.#readValue('a value')
    }
  }

  #readObject(): void {
    this.#at++
    if (this.#skips('}')) return
    const keys = new Set<string>()
    this.#readMember('a key in double quotes or }', keys)
    while (!this.#skips('}')) {
      if (!this.#skips(',')) throw this.#unexpected('a comma or }')
      this.#readMember('a key in double quotes', keys)
    }
  }

  #readMember(expected: string, keys: Set<string>): void {
    if (this.#next() !== '"') throw this.#unexpected(expected)
    const start = this.#at
    this.#readString()
    // Compared as parsed, because escapes spell one key in several ways.
    const key: string = JSON.parse(this.#text.slice(start, this.#at))
    if (keys.has(key)) this.#repeatedKey ??= key
    keys.add(key)
    if (!this.#skips(':')) throw this.#unexpected('a colon')
    this.#readValue('a value')
  }

  #readString(): void {
    const start = this.#at++
    for (this.#take(plainText); this.#here !== '"'; this.#take(plainText)) {
      if (this.#here === '\\') this.#readEscape()
      else if (this.#here === '') throw this.#cutOff(`inside the string that begins at position ${start}`)
      else throw this.#wrong('inside a string', 'write it as an escape such as \\n or \\u0001')
    }
    this.#at++
  }

  #readEscape(): void {
    if (this.#take(wholeEscape) !== '') return
    this.#take(begunEscape)
    if (this.#here === '') throw this.#cutOff('inside an escape')
    throw this.#wrong(
      'inside an escape',
      'JSON has \\" \\\\ \\/ \\b \\f \\n \\r \\t and four digits as in \\u00e9',
    )
  }

  #readNumber(): void {
    const whole = matchAt(number, this.#text, this.#at)
    const begun = this.#take(begunNumber)
    if (begun === whole && !/[\w.+-]/.test(this.#here)) return
    if (this.#here === '') throw this.#cutOff('inside a number')
    const isZeroFirst = /^-?0$/.test(begun) && /\d/.test(this.#here)
    const hint = isZeroFirst ? 'a number must not begin with 0' : foreignWords.get(this.#word)
    throw this.#wrong(begun === whole ? 'inside a number' : 'where a digit is expected', hint)
  }

  #readWord(expected: string): void {
    const found = this.#word
    const isLast = found !== '' && this.#at + found.length === this.#text.length
    if (literals.includes(found)) this.#at += found.length
    else if (isLast && literals.some((literal) => literal.startsWith(found)))
      throw this.#cutOff('inside a word')
    else throw this.#unexpected(expected)
  }

  /** The first character that is not white space; empty at the end. */
  #next(): string {
    this.#take(space)
    return this.#here
  }

  get #here(): string {
    const code = this.#text.codePointAt(this.#at)
    return code === undefined ? '' : String.fromCodePoint(code)
  }

  get #word(): string {
    return matchAt(word, this.#text, this.#at)
  }

  #skips(character: string): boolean {
    if (this.#next() !== character) return false
    this.#at++
    return true
  }

  #take(pattern: RegExp): string {
    const taken = matchAt(pattern, this.#text, this.#at)
    this.#at += taken.length
    return taken
  }

  #unexpected(expected: string): Broken {
    const where = `where ${expected} is expected`
    return this.#here === '' ? this.#cutOff(where) : this.#wrong(where, this.#hintFor(expected))
  }

  #cutOff(where: string): Broken {
    this.#at = this.#text.length
    return new Broken(`it is cut off at ${this.#position}, ${where}`)
  }

  #wrong(where: string, hint: string | undefined): Broken {
    const found = foreignWords.has(this.#word) ? this.#word : named(this.#here)
    return new Broken(`${found} is at ${this.#position}, ${where}${hint === undefined ? '' : `; ${hint}`}`)
  }

  #hintFor(expected: string): string | undefined {
    const before = this.#text.slice(0, this.#at).trimEnd()
    if (/[\]}]/.test(this.#here) && before.endsWith(',')) return 'remove the comma before it'
    const isQuotable = this.#word !== '' && /value|key/.test(expected)
    if (isQuotable) return foreignWords.get(this.#word) ?? 'strings begin and end with double quotes'
    return hints.find(([pattern]) => pattern.test(this.#here))?.[1]
  }

  /** The position counts from 0, as in programs; the line, if there are several, counts from 1, as in editors. */
  get #position(): string {
    const lines = this.#text.slice(0, this.#at).split('\n')
    const column = (lines.at(-1) ?? '').length + 1
    return `position ${this.#at}${lines.length === 1 ? '' : ` (line ${lines.length}, column ${column})`}`
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

function named(character: string): string {
  if (character === '\ufffd') return 'a byte that is not UTF-8'
  if (/^[!-~]$/.test(character)) return `\`${character}\``
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
