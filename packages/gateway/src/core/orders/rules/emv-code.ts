// A payment address as an EMV QR code (EMVCo, QR Code Specification for Payment Systems: Merchant-Presented Mode 1.1):
// fields of two digits of id, two digits of length, and a value, with a checksum at the end. Cameras do not open such a
// code, so pages show it beside the plain QR code of the address.
import { toDecimalText } from '@tillgate/protocol'
import type { Merchant } from '../../merchants/rules/merchant.ts'
import type { Order } from './order.ts'

export interface EmvPayment {
  /** The checkout of an order, or a payment link. */
  readonly url: string
  /** `dynamic`: for one payment. */
  readonly initiation: 'static' | 'dynamic'
  readonly merchantName: string
  readonly place: EmvPlace
  readonly currency: string
  /** Undefined: the consumer types the amount. */
  readonly amountMinor?: bigint | undefined
  readonly number?: string | undefined
}

/** The country (ISO 3166) and city of the operator. */
export interface EmvPlace {
  readonly country: string
  readonly city: string
}

/** Names our fields among those of other payment networks: a UUID without hyphens. */
const networkId = '6f1d0c5a94f84b7e9a3a54494c4c4741'
/** An address is longer than the 99 characters of a field, so its parts are in consecutive fields. */
const firstAccountId = 26
const lastAccountId = 51
const maxValueLength = 99
const partLength = maxValueLength - field('00', networkId).length - field('01', '').length

const maxNameLength = 25
const maxCityLength = 15
const maxAmountLength = 13
const maxNumberLength = 25
/** The specification's common character set: printable ASCII. */
const commonPattern = /^[ -~]+$/

export function emvCode(payment: EmvPayment): string {
  const { url, initiation, merchantName, place, currency, amountMinor, number = '' } = payment
  const amount = amountMinor === undefined ? '' : toDecimalText(amountMinor, currency)
  const name = shortened(merchantName, maxNameLength)
  const plainName = common(merchantName, maxNameLength)
  const fields = [
    field('00', '01'),
    field('01', initiation === 'static' ? '11' : '12'),
    ...partsOf(url).map((part, index) =>
      field(String(firstAccountId + index), field('00', networkId) + field('01', part)),
    ),
    field('52', '0000'),
    field('53', numericCode(currency)),
    amount !== '' && amount.length <= maxAmountLength && field('54', amount),
    field('58', place.country),
    field('59', plainName || 'Merchant'),
    field('60', common(place.city, maxCityLength) || 'Online'),
    commonPattern.test(number) && number.length <= maxNumberLength && field('62', field('05', number)),
    name !== plainName && field('64', field('00', 'en') + field('01', name)),
    '6304',
  ]
  const text = fields.filter((each) => each !== false).join('')
  return text + checksum(text)
}

export function emvCodeOfOrder(
  { order, merchant }: { readonly order: Order; readonly merchant: Pick<Merchant, 'name'> },
  url: string,
  place: EmvPlace,
): string {
  const { currency, paymentAmountMinor: amountMinor, orderNo: number } = order
  return emvCode({
    url,
    initiation: 'dynamic',
    merchantName: merchant.name,
    place,
    currency,
    amountMinor,
    number,
  })
}

/** The address in a code of this network; undefined for another network’s code and for any other text. */
export function addressInEmvCode(text: string): string | undefined {
  const end = text.length - 4
  if (!text.startsWith('000201') || text.slice(end - 4, end) !== '6304') return undefined
  if (checksum(text.slice(0, end)) !== text.slice(end).toUpperCase()) return undefined
  const fields = readFields(text)
  if (!fields) return undefined
  let url = ''
  for (let id = firstAccountId; id <= lastAccountId; id++) {
    const account = readFields(fields.get(String(id)) ?? '')
    if (account?.get('00') === networkId) url += account.get('01') ?? ''
  }
  return url || undefined
}

/** The path of a checkout or a payment link at one of these origins, from an EMV code or the address itself. */
export function payAddress(text: string, origins: readonly string[]): string | undefined {
  const given = text.trim()
  const url = URL.parse(addressInEmvCode(given) ?? given)
  if (!url || !origins.includes(url.origin)) return undefined
  return /^\/(?:checkout\/\w+\/\w+\/[\w-]+|l\/\w+)$/.test(url.pathname) ? url.pathname : undefined
}

/** Undefined unless the text consists of whole fields, each at most once. */
export function readFields(text: string): ReadonlyMap<string, string> | undefined {
  const fields = new Map<string, string>()
  // Lengths count characters, which are not always one UTF-16 unit.
  const characters = [...text]
  for (let at = 0; at < characters.length; ) {
    const [id, length] = [characters.slice(at, at + 2).join(''), characters.slice(at + 2, at + 4).join('')]
    const value = characters.slice(at + 4, at + 4 + Number(length))
    const isWhole = /^\d\d\d\d$/.test(id + length) && value.length === Number(length)
    if (!isWhole || fields.has(id)) return undefined
    fields.set(id, value.join(''))
    at += 4 + value.length
  }
  return fields
}

/** CRC-16/CCITT-FALSE over the UTF-8 bytes, as four hexadecimal digits. */
export function checksum(text: string): string {
  let crc = 0xffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return crc.toString(16).toUpperCase().padStart(4, '0')
}

function field(id: string, value: string): string {
  return id + String([...value].length).padStart(2, '0') + value
}

function partsOf(url: string): string[] {
  const parts = []
  for (let at = 0; at < url.length; at += partLength) parts.push(url.slice(at, at + partLength))
  return parts
}

/** Removes accents and other characters beyond the common set. */
function common(text: string, most: number): string {
  const plain = text.normalize('NFKD').replaceAll(/[^ -~]/g, '')
  return shortened(plain.replaceAll(/ +/g, ' ').trim(), most).trim()
}

function shortened(text: string, most: number): string {
  return [...text].slice(0, most).join('')
}

/** ISO 4217’s number of a currency. */
export function numericCode(currency: string): string {
  const at = numericCodes.indexOf(currency)
  return numericCodes.slice(at + currency.length, at + currency.length + 3)
}

const numericCodes = `
AED784 AFN971 ALL008 AMD051 AOA973 ARS032 AUD036 AWG533 AZN944 BAM977 BBD052 BDT050 BHD048 BIF108 BMD060
BND096 BOB068 BOV984 BRL986 BSD044 BTN064 BWP072 BYN933 BZD084 CAD124 CDF976 CHE947 CHF756 CHW948 CLF990
CLP152 CNY156 COP170 COU970 CRC188 CUP192 CVE132 CZK203 DJF262 DKK208 DOP214 DZD012 EGP818 ERN232 ETB230
EUR978 FJD242 FKP238 GBP826 GEL981 GHS936 GIP292 GMD270 GNF324 GTQ320 GYD328 HKD344 HNL340 HTG332 HUF348
IDR360 ILS376 INR356 IQD368 IRR364 ISK352 JMD388 JOD400 JPY392 KES404 KGS417 KHR116 KMF174 KPW408 KRW410
KWD414 KYD136 KZT398 LAK418 LBP422 LKR144 LRD430 LSL426 LYD434 MAD504 MDL498 MGA969 MKD807 MMK104 MNT496
MOP446 MRU929 MUR480 MVR462 MWK454 MXN484 MXV979 MYR458 MZN943 NAD516 NGN566 NIO558 NOK578 NPR524 NZD554
OMR512 PAB590 PEN604 PGK598 PHP608 PKR586 PLN985 PYG600 QAR634 RON946 RSD941 RUB643 RWF646 SAR682 SBD090
SCR690 SDG938 SEK752 SGD702 SHP654 SLE925 SOS706 SRD968 SSP728 STN930 SVC222 SYP760 SZL748 THB764 TJS972
TMT934 TND788 TOP776 TRY949 TTD780 TWD901 TZS834 UAH980 UGX800 USD840 USN997 UYI940 UYU858 UYW927 UZS860
VED926 VES928 VND704 VUV548 WST882 XAD396 XAF950 XCD951 XCG532 XOF952 XPF953 YER886 ZAR710 ZMW967 ZWG924
`
