// The correct string to sign, and the usual wrong ones. Each variant is a mistake with a name.

export interface StringVariant {
  readonly text: string
  readonly kind: string | undefined
  readonly problem: string
}

export interface StringParts {
  /** Every field except `sign` and `body`, with defaults. */
  readonly fields: Readonly<Record<string, string>>
  /** The names in the order of the envelope, only those that it contains. */
  readonly sentOrder: readonly string[]
  readonly body: string
  readonly encryptedBody: string
}

const defaultNames = ['charset', 'encryptType', 'format', 'signType']

export function stringVariants({ fields, sentOrder, body, encryptedBody }: StringParts): StringVariant[] {
  const all: Record<string, string> = { ...fields, body }
  const names = Object.keys(all).sort()
  const sent = sentOrder.filter((name) => name !== 'sign')
  const write = (order: readonly string[], from: Record<string, string> = all) =>
    order.map((name) => `${name}=${from[name] ?? ''}`).join('&')
  const right = write(names)
  const insertion = [...new Set([...sent, ...names])]
  const without = (...left: string[]) => names.filter((name) => !left.includes(name))
  const entries: [string | undefined, string, string][] = [
    [undefined, '', right],
    [
      'encrypted_body_signed',
      'The encrypted body was signed. Sign the plain body, then encrypt it.',
      write(names, { ...all, body: encryptedBody }),
    ],
    [
      'field_order',
      'The fields are in the order of the envelope instead of being sorted by name.',
      write(insertion),
    ],
    [
      'field_order',
      'The fields are sorted, but body stands at the end.',
      write([...without('body'), 'body']),
    ],
    ['field_order', 'The fields are sorted backwards.', write(names.toReversed())],
    [
      'defaults_missing',
      'The fields with defaults (charset, encryptType, format, signType) are not in the string.',
      write(without(...defaultNames)),
    ],
    ...defaultNames.map((name): [string, string, string] => [
      'defaults_missing',
      `${name} is not in the string. Fields take part with their default too.`,
      write(without(name)),
    ]),
    [
      'defaults_missing',
      'Only the fields that were sent are in the string, in their order.',
      write([...sent]),
    ],
    [
      'url_encoded_value',
      'The values in the string are URL-encoded.',
      names.map((name) => `${name}=${encodeURIComponent(all[name] ?? '')}`).join('&'),
    ],
    [
      'url_encoded_value',
      'The values in the string are form-encoded.',
      new URLSearchParams(names.map((name): [string, string] => [name, all[name] ?? ''])).toString(),
    ],
    [
      'sign_in_string',
      'The string contains an empty sign field.',
      write([...names, 'sign'].sort(), { ...all, sign: '' }),
    ],
    ['string_layout', 'The body alone was signed.', body],
    ['string_layout', 'The body is not in the string.', write(without('body'))],
    ['string_layout', 'The values are joined without their names.', names.map((name) => all[name]).join('')],
    [
      'string_layout',
      'The fields are not joined with &.',
      names.map((name) => `${name}=${all[name]}`).join(''),
    ],
    [
      'string_layout',
      'The fields are joined with line breaks instead of &.',
      names.map((name) => `${name}=${all[name]}`).join('\n'),
    ],
    [
      'string_layout',
      'The whole envelope as JSON was signed.',
      JSON.stringify(Object.fromEntries(insertion.map((name) => [name, all[name]]))),
    ],
    ['trailing_newline', 'The string has a line break at its end.', `${right}\n`],
    ['trailing_ampersand', 'The string ends with &.', `${right}&`],
  ]
  const seen = new Set<string>()
  return entries
    .map(([kind, problem, text]) => ({ kind, problem, text }))
    .filter(({ text }) => !seen.has(text) && seen.add(text))
}
