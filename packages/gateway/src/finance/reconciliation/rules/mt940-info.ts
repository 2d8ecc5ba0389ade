// Parses field `:86:` of an MT940 entry in the two European conventions, `?20` … `?63` with SEPA keywords and
// `/EREF/` … `/REMI/`; other content is free text.

export interface Info {
  /** Certain references. */
  readonly named: readonly (string | undefined)[]
  /** The first is shown to people. */
  readonly texts: readonly string[]
  readonly party: string | undefined
  readonly isReturn: boolean
  /** Possible accounts of the other party. */
  readonly accounts: readonly (string | undefined)[]
}

/** German business transaction codes for returns. */
const returnCodes = new Set(['108', '109', '159', '183', '184'])

export function readInfo(lines: readonly string[]): Info {
  const whole = lines.join('')
  if (/^\d{3}[^\w\s]\d\d/.test(whole)) return readSubfields(whole)
  if (/^\/[A-Z]{2,4}\//.test(whole)) return readSlashes(whole)
  // Lines are cut at 65 characters, even within words. Some start with the other party's account.
  const [first] = lines[0]?.split(' ') ?? []
  return { named: [], texts: [lines.join(' '), whole], party: undefined, isReturn: false, accounts: [first] }
}

/** `166?00CREDIT?20EREF+T01?21SVWZ+INVOICE 7?32ADA`, with any separator. */
function readSubfields(whole: string): Info {
  const [code = '', ...subfields] = whole.split(whole.charAt(3))
  const of = (isWanted: (number: number) => boolean) =>
    subfields.flatMap((each) => (isWanted(Number(each.slice(0, 2))) ? [each.slice(2)] : []))
  const purpose = of((number) => (number >= 20 && number <= 29) || (number >= 60 && number <= 63)).join('')
  const words = new Map(
    purpose
      .split(/(?=(?:EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|RREF|BREF|PURP|IBAN|BIC)\+)/)
      .map((each) => [each.slice(0, each.indexOf('+')), each.slice(each.indexOf('+') + 1)] as const),
  )
  const text = words.get('SVWZ') ?? purpose
  return {
    named: [words.get('EREF'), words.get('KREF'), words.get('RREF'), words.get('MREF')],
    texts: [text, ...(text === purpose ? [] : [purpose])],
    party: of((number) => number === 32 || number === 33).join('') || undefined,
    isReturn: returnCodes.has(code) || words.has('RREF'),
    accounts: [...of((number) => number === 31 || number === 38), words.get('IBAN')],
  }
}

/** `/EREF/T01//CNTP/IBAN/BIC/Ada///REMI/USTD//Invoice 7/`. */
function readSlashes(whole: string): Info {
  const words = new Map<string, string>()
  const pieces = whole.split(
    /\/(EREF|PREF|IREF|MARF|CSID|CNTP|REMI|RTRN|ORDP|BENM|TRTP|NAME|IBAN|BIC|PURP|ULTC|ULTD)\//,
  )
  for (let at = 1; at < pieces.length; at += 2) words.set(pieces[at] ?? '', pieces[at + 1] ?? '')
  const value = (word: string) => words.get(word)?.replace(/\/+$/, '')
  const remittance = value('REMI')?.replace(/^(?:USTD|STRD\/CUR)\/+/, '')
  return {
    named: [
      ...(remittance === undefined ? [] : [remittance.length <= 35 ? remittance : undefined]),
      value('EREF'),
      value('PREF'),
      value('MARF'),
    ],
    texts: [remittance ?? whole, ...(remittance === undefined ? [] : [whole.replaceAll('/', ' ')])],
    party: value('NAME') ?? value('CNTP')?.split('/')[2],
    isReturn: words.has('RTRN'),
    accounts: [value('IBAN')?.split('/')[0], value('CNTP')?.split('/')[0]],
  }
}
