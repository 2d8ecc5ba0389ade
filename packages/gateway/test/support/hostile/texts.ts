// What somebody writes into a field in the hope that a page, a mail or a spreadsheet runs it. Each text bears a marker of
// its own, by which it is found again wherever it is shown.

/** Called where a text runs; a page's own scripts know nothing of it. */
export const hitFunction = 'hit'
/** The host that no page may ask anything of. */
export const hostileHost = 'hostile.invalid'
export const markerPattern = /hx[0-9a-z]{3}xh/g
/** What template syntax would make of `7*191`. */
export const computed = '1337'

interface Payload {
  readonly write: (marker: string) => string
  /** With marks that nobody sees: fields of one line refuse them. */
  readonly isHidden?: true
}

const payloads: readonly Payload[] = [
  { write: (m) => `"><script>hit('${m}')</script>` },
  { write: (m) => `'><svg onload=hit('${m}')>` },
  { write: (m) => `javascript:hit('${m}')` },
  { write: (m) => `=HYPERLINK("http://${hostileHost}/${m}")` },
  { write: (m) => `" data-hostile onfocus=hit('${m}') autofocus x="` },
  { write: (m) => `' data-hostile onmouseover='hit("${m}")' y='` },
  { write: (m) => `<img src=//${hostileHost}/${m} onerror=hit('${m}')>` },
  { write: (m) => `+1+cmd|'/c ${m}'!A0` },
  { write: (m) => `</title></style></textarea></script><script>hit('${m}')</script>` },
  { write: (m) => `{{7*191}}${m}\${7*191}${m}<%=7*191%>${m}#{7*191}${m}` },
  { write: (m) => `--><iframe srcdoc="<script>parent.hit('${m}')</script>">` },
  { write: (m) => `-2+3+${m}` },
  { write: (m) => `data:text/html,<script>hit('${m}')</script>` },
  { write: (m) => `]]><math href=javascript:hit('${m}')>` },
  { write: (m) => `&lt;hostile-${m}&gt;&#60;hostile-${m}&#62;` },
  { write: (m) => `%3Chostile-${m}%3E\\u003chostile-${m}\\u003e\\x3chostile-${m}\\x3e` },
  { write: (m) => `@SUM(1)${m}` },
  { write: (m) => `\`-hit('${m}')-\`";hit('${m}');//';hit('${m}')//` },
  { write: (m) => `}</style><style>*{background:url(//${hostileHost}/${m})}` },
  { write: (m) => `<base href=//${hostileHost}/${m}><meta http-equiv=refresh content=0;url=/${m}>` },
  { write: (m) => `<form action=//${hostileHost}/${m}><button formaction=javascript:hit('${m}')>` },
  { write: (m) => `</bdi></main></body></html><hostile-${m}>` },
  { write: (m) => `\u202e${m}\u2066<hostile-${m}>`, isHidden: true },
  { write: (m) => `<a href="\u200bjavascript:hit('${m}')">\ufeff<hostile-${m}>`, isHidden: true },
]

const visible = payloads.filter(({ isHidden }) => !isHidden)
const hidden = payloads.filter(({ isHidden }) => isHidden)

export interface Planted {
  readonly field: string
  readonly text: string
}

export interface TextOptions {
  readonly max?: number
  /** The field takes marks that nobody sees. */
  readonly takesHidden?: true
}

/** Hands out hostile texts, and knows by their markers what was given to which field. */
export class HostileTexts {
  readonly planted = new Map<string, Planted>()
  #next = 0

  /** As many as fit, one behind the other; each time another one first, and what is hidden behind it. */
  text(field: string, { max = 256, takesHidden }: TextOptions = {}): string {
    const number = this.planted.size
    const marker = `hx${number.toString(36).padStart(3, '0')}xh`
    const first = this.#next++ % visible.length
    const pieces = [...visible.slice(first), ...visible.slice(0, first)]
    if (takesHidden) pieces.splice(1, 0, ...hidden)
    let text = ''
    for (const { write } of pieces) {
      const piece = write(marker)
      if ([...text, ...piece].length <= max) text += piece
    }
    if (text === '') throw new Error(`nothing hostile fits into ${max} characters`)
    this.planted.set(marker, { field, text })
    return text
  }

  /** An address that holds one, as far as an address can. */
  url(field: string, address: string): string {
    return `${address}?x=${this.text(field, { max: 200 }).replaceAll(/[\s\\]/g, '+')}`
  }

  /** So many that each of them stands first once. */
  static readonly kinds = visible.length

  fieldsOf(markers: Iterable<string>): Set<string> {
    return new Set([...markers].flatMap((marker) => this.planted.get(marker)?.field ?? []))
  }
}
