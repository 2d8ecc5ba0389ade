// Decides which addresses a merchant may use and the gateway may connect to. One pure rule for order creation and
// delivery, so that they always agree.
import { maxUrlLength } from '@tillgate/protocol'
import ipaddr from 'ipaddr.js'
import { remember } from './remember.ts'

export type Mode = 'sandbox' | 'live'

export interface UrlPolicy {
  readonly mode: Mode
  /** True in live mode, and for merchants that signed up to the sandbox on their own. */
  readonly isPublicOnly: boolean
  readonly allowedTargets: readonly AllowedTarget[]
  readonly ownListeners: OwnListeners | undefined
}

/** The gateway's own listeners, to which no callback or rail message may go, even if allowed otherwise. */
export interface OwnListeners {
  readonly ports: () => readonly number[]
  /** This machine's addresses other than loopback. */
  readonly addresses: () => readonly string[]
}

/** An entry without a port covers every port. */
export type AllowedTarget =
  | { readonly kind: 'name'; readonly name: string; readonly port: number | undefined }
  | { readonly kind: 'range'; readonly range: [Address, number]; readonly port: number | undefined }

export type UrlRefusal = 'url_not_allowed' | 'address_not_public'

export type UrlCheck =
  | { readonly kind: 'allowed'; readonly url: URL }
  | { readonly kind: 'refused'; readonly reason: UrlRefusal; readonly detail: string }

export type AddressCheck =
  | { readonly kind: 'allowed'; readonly address: string }
  | { readonly kind: 'refused'; readonly detail: string }

export interface Target {
  readonly hostname: string
  readonly port: number
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

const maxHostnameLength = 253

const publicRanges: readonly string[] = ['unicast']
const sandboxRanges: readonly string[] = [
  ...publicRanges,
  'loopback',
  'private',
  'uniqueLocal',
  'carrierGradeNat',
]

// ipaddr.js calls every unknown range "unicast", including IPv4-compatible addresses such as ::127.0.0.1, but only
// this block holds global unicast addresses.
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

// Cloud metadata services outside link-local: Azure's is in a public range, Alibaba's in the carrier range, Oracle's
// in a reserved range, others among unique local addresses.
const metadataAddresses = new Set(
  [
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    'fd00:c1::a9fe:a9fe',
    'fd00:42::42',
  ].map((text) => ipaddr.parse(text).toString()),
)

export function parseUrlPolicy(options: {
  readonly mode: Mode
  readonly allowedTargets: readonly string[]
  readonly ownListeners?: OwnListeners
}): UrlPolicy {
  const mistakes: string[] = []
  const allowedTargets: AllowedTarget[] = []
  for (const entry of options.allowedTargets) {
    const parsed = parseAllowedTarget(entry)
    if (typeof parsed === 'string') mistakes.push(`"${entry}": ${parsed}`)
    else allowedTargets.push(parsed)
  }
  if (mistakes.length > 0) throw new TypeError(`allowed targets: ${mistakes.join('; ')}`)
  const { mode, ownListeners } = options
  return { mode, isPublicOnly: mode === 'live', allowedTargets, ownListeners }
}

/** For merchants that the operator did not onboard. The operator's allowed targets do not apply to them. */
export function publicOnly(policy: UrlPolicy): UrlPolicy {
  return policy.isPublicOnly ? policy : { ...policy, isPublicOnly: true, allowedTargets: [] }
}

export function checkUrl(text: string, policy: UrlPolicy): UrlCheck {
  if (!text.isWellFormed() || /[\p{Cc}\p{Z}\\]/u.test(text)) {
    return notAllowed('a URL cannot contain spaces, control characters or backslashes')
  }
  if (text.length > maxUrlLength && [...text].length > maxUrlLength) {
    return notAllowed(`a URL has at most ${maxUrlLength} characters`)
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme !== undefined && scheme !== 'https' && scheme !== 'http')
    return notAllowed(`the scheme ${scheme.slice(0, 32)}:// is not supported; use https://`)
  const authority = authorityOf(text)
  const url = authority === undefined ? null : URL.parse(text)
  if (authority === undefined || url === null)
    return notAllowed(whyNotAbsolute(text, 'https://shop.example/callbacks'))
  if (authority.includes('@')) return notAllowed('remove the user name and password before the host')
  if (url.hostname.length > maxHostnameLength) {
    return notAllowed(`a host name has at most ${maxHostnameLength} characters`)
  }

  const target = targetOf(url)
  if (target.port === 0) return notAllowed('port 0 cannot be connected to')
  const literal = parseAddress(target.hostname)
  const isLocalhost = /(^|\.)localhost$/.test(target.hostname)
  if (isLocalhost && policy.ownListeners?.ports().includes(target.port)) return notPublic(ownListenerDetail)
  if (policy.isPublicOnly && !isListed(target, literal, policy)) {
    if (policy.mode === 'live' && url.protocol !== 'https:')
      return notAllowed('it uses http://; a live gateway sends callbacks to https:// only')
    if (policy.mode === 'live' && target.port !== 443)
      return notAllowed(`it uses port ${target.port}; a live gateway sends callbacks to port 443 only`)
    if (isLocalhost) return notPublic(`${target.hostname} is the gateway’s own machine`)
  }
  if (literal !== undefined) {
    const check = checkAddress(target.hostname, target, policy)
    if (check.kind === 'refused') return notPublic(check.detail)
  }
  return { kind: 'allowed', url }
}

function authorityOf(text: string): string | undefined {
  return /^https?:\/\/([^/?#]+)/i.exec(text)?.[1]
}

const maxShownUrlPart = 64

/** Explains why the text is not an absolute http or https URL. */
export function whyNotAbsolute(text: string, example: string): string {
  const authority = authorityOf(text)
  const shown = authority?.slice(0, maxShownUrlPart).toWellFormed()
  if (authority !== undefined && /:[^:\]]*$/.test(authority))
    return `the port of ${shown} is not a number from 1 to 65535`
  if (authority !== undefined) return `${shown} is not a host name`
  if (/^https?:\/\//i.test(text)) return `the host is missing; write a URL such as ${example}`
  if (/^https?:/i.test(text)) return `two slashes follow the scheme, as in ${example}`
  if (/^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:[:/?#]|$)/i.test(text))
    return `the scheme is missing; write https:// before ${text.split(/[/?#]/)[0]?.slice(0, maxShownUrlPart)}`
  return `write an absolute URL such as ${example}`
}

export const hostOf = remember((url: string) => new URL(url).host, { keyOf: (url) => url, most: 1_000 })

/** Omits IPv6 brackets and the final dot. */
export function targetOf(url: URL): Target {
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  return { hostname, port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port) }
}

/**
 * `address` is a resolved address of `target.hostname`, or that host itself. Returns the canonical form, with
 * IPv4-mapped addresses unwrapped.
 */
export function checkAddress(address: string, target: Target, policy: UrlPolicy): AddressCheck {
  const parsed = parseAddress(address)
  if (parsed === undefined) return { kind: 'refused', detail: `${address} is not an address` }
  const allowed: AddressCheck = { kind: 'allowed', address: parsed.toString() }
  const range = rangeOf(parsed)
  if (isOwnListener(parsed, target.port, policy)) return { kind: 'refused', detail: ownListenerDetail }
  if (isAddressListed(parsed, target.port, policy)) return allowed

  const refused: AddressCheck = {
    kind: 'refused',
    detail: `${parsed} is ${rangeWords[range] ?? 'a reserved network address'}`,
  }
  // The DNS of an allowed name may later point to a metadata service, so these need an entry with the address itself.
  if (range === 'linkLocal' || range === 'metadata') return refused
  if (isNameListed(target, policy)) return allowed
  return (policy.isPublicOnly ? publicRanges : sandboxRanges).includes(range) ? allowed : refused
}

function notAllowed(detail: string): UrlCheck {
  return { kind: 'refused', reason: 'url_not_allowed', detail }
}

function notPublic(detail: string): UrlCheck {
  return { kind: 'refused', reason: 'address_not_public', detail }
}

// Strict, because ipaddr.js also reads octal, hexadecimal and shortened IPv4, which resolvers never return and URL
// parsing has already normalized.
function parseAddress(text: string): Address | undefined {
  // Rejecting a host name in ipaddr.js takes 25 µs.
  if (!/^[\d.]+$|:/.test(text)) return undefined
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  if (!text.includes(':') || text.includes('%') || !ipaddr.IPv6.isValid(text)) return undefined
  return ipaddr.process(text)
}

const rangeWords: Readonly<Record<string, string>> = {
  private: 'a private network address',
  uniqueLocal: 'a private network address',
  loopback: 'a loopback address of this machine',
  linkLocal: 'a link-local address',
  metadata: 'a metadata address of a cloud',
  carrierGradeNat: 'a private network address of a carrier',
  multicast: 'a multicast address',
  broadcast: 'a broadcast address',
  unspecified: 'an unspecified address',
}

function rangeOf(address: Address): string {
  if (metadataAddresses.has(address.toString())) return 'metadata'
  const range = address.range()
  if (range !== 'unicast' || address instanceof ipaddr.IPv4) return range
  return address.match(globalUnicast) ? range : 'reserved'
}

const ownListenerDetail = 'the gateway itself listens there'

function isOwnListener(address: Address, port: number, { ownListeners }: UrlPolicy): boolean {
  if (!ownListeners?.ports().includes(port)) return false
  if (address.range() === 'loopback') return true
  return ownListeners.addresses().some((own) => parseAddress(own)?.toString() === address.toString())
}

function isListed(target: Target, literal: Address | undefined, policy: UrlPolicy): boolean {
  return literal === undefined ? isNameListed(target, policy) : isAddressListed(literal, target.port, policy)
}

function isNameListed({ hostname, port }: Target, { allowedTargets }: UrlPolicy): boolean {
  return allowedTargets.some(
    (entry) => entry.kind === 'name' && entry.name === hostname && (entry.port ?? port) === port,
  )
}

function isAddressListed(address: Address, port: number, { allowedTargets }: UrlPolicy): boolean {
  return allowedTargets.some(
    (entry) =>
      entry.kind === 'range' &&
      (entry.port ?? port) === port &&
      entry.range[0].kind() === address.kind() &&
      address.match(entry.range),
  )
}

// Returns a reason if the entry is invalid.
function parseAllowedTarget(entry: string): AllowedTarget | string {
  if (entry.includes('/')) return parseRange(entry)
  const bare = parseAddress(entry)
  if (bare !== undefined) return single(bare, undefined)

  const [, host, portText] = /^(\[.+\]|[^:]+)(?::(\d{1,5}))?$/.exec(entry) ?? []
  if (host === undefined) return 'write a host name, an address, host:port, [IPv6]:port or a range'
  const port = portText === undefined ? undefined : Number(portText)
  if (port !== undefined && (port < 1 || port > 65535)) return 'a port is from 1 to 65535'
  if (host.includes('*')) return 'wildcards are not supported; list each name'

  const hostname = URL.parse(`http://${host}/`)?.hostname.replace(/\.$/, '')
  if (hostname === undefined || !/^[\p{L}\p{N}._:[\]-]+$/u.test(host)) return 'this is not a host name'
  const address = parseAddress(hostname.replace(/^\[(.*)\]$/, '$1'))
  if (address === undefined) return { kind: 'name', name: hostname, port }
  // 010.0.0.1 is 8.0.0.1 to some parsers and 10.0.0.1 to others.
  return parseAddress(host.replace(/^\[(.*)\]$/, '$1')) === undefined
    ? `write this address in full: ${address}`
    : single(address, port)
}

function single(address: Address, port: number | undefined): AllowedTarget {
  return { kind: 'range', range: [address, address.kind() === 'ipv4' ? 32 : 128], port }
}

function parseRange(entry: string): AllowedTarget | string {
  const [, addressText = '', lengthText = ''] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? []
  const address = parseAddress(addressText)
  if (address === undefined) return 'write a range as address/length, such as 10.1.0.0/16'
  if (addressText.includes(':') && address.kind() === 'ipv4') return 'write an IPv4 range in its IPv4 form'
  const length = Number(lengthText)
  if (length > (address.kind() === 'ipv4' ? 32 : 128)) return 'the length is longer than the address'
  if (length === 0) return 'a range of every address would turn the guard off'
  const network = networkOf(address, length)
  if (network.toString() !== address.toString()) return `the range of that length starts at ${network}`
  return { kind: 'range', range: [address, length], port: undefined }
}

function networkOf(address: Address, length: number): Address {
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, length - index * 8))
    return byte & (0xff << (8 - kept)) & 0xff
  })
  return ipaddr.fromByteArray(bytes)
}
