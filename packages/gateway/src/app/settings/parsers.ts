// Parses the text of settings. Errors have a message that completes "NAME …".
import { availableParallelism } from 'node:os'
import { toMinorUnits } from '@tillgate/protocol'
import ipaddr from 'ipaddr.js'
import {
  type ApprovalWord,
  approvalAliases,
  approvalWords,
  approvalWordsFor,
} from '../../core/authority/rules/effects.ts'
import { roles } from '../../core/authority/rules/roles.ts'
import { normaliseEmail } from '../../core/emails/rules/email.ts'
import type { EmvPlace } from '../../core/orders/rules/emv-code.ts'
import { refusalOfPassword } from '../../identity/accounts/rules/account.ts'
import { splitServers } from '../../platform/database/server-list.ts'
import { messageOf } from '../../platform/runtime/errors.ts'
import { parseUrlPolicy } from '../../platform/runtime/ssrf-guard.ts'
import { isVisible } from '../../platform/runtime/visible-text.ts'

const gatewayRoles = ['api', 'worker'] as const
export type GatewayRole = (typeof gatewayRoles)[number]

export function parseGatewayRoles(value: string): readonly GatewayRole[] {
  const words = value.split(',').map((word) => word.trim())
  return [...new Set(words.map(oneOf(...gatewayRoles)))]
}

export function processes(value: string): number {
  return value === 'auto' ? availableParallelism() : integer({ from: 1, to: 256 })(value)
}

export function text(value: string): string {
  return value
}

export function oneOf<const T extends string>(...allowed: readonly T[]): (value: string) => T {
  return (value) => {
    const found = allowed.find((word) => word === value)
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}`)
    return found
  }
}

export function integer({ from, to }: { from: number; to: number }): (value: string) => number {
  return (value) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= from && number <= to)) throw new Error(`must be a whole number from ${from} to ${to}`)
    return number
  }
}

/** 0 lets the system choose, which tests use. */
export function port(value: string): number {
  const number = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN
  if (!(number <= 65_535)) throw new Error('must be a port number from 1 to 65535')
  return number
}

export function portOrOff(value: string): number | undefined {
  return value === 'off' || value === '0' ? undefined : port(value)
}

export function webAddress(value: string): string {
  const url = URL.parse(value)
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error('must be an http or https address')
  if (url.username || url.password) throw new Error('must not contain a user name or a password')
  if (url.search || url.hash) throw new Error('must not have a query or a fragment')
  return url.href.replace(/\/+$/, '')
}

/** The address of a page for people, which may have a query and a fragment. */
export function pageAddress(value: string): string {
  const url = URL.parse(value)
  if (!url || !/^(https?|mailto):$/.test(url.protocol)) throw new Error('must be an https or mailto address')
  return url.href
}

export function emvPlace(value: string): EmvPlace {
  const [, country = '', city = ''] = /^([A-Z]{2}) ([ -~]{1,15})$/.exec(value) ?? []
  if (country === '') throw new Error('must be a country code and a city of at most 15 ASCII characters')
  return { country, city }
}

export function databaseAddress(value: string): string {
  // Parses each server separately, because URL parsers support only one.
  for (const server of splitServers(value)) {
    const url = URL.parse(server)
    if (!url || !/^postgres(ql)?:$/.test(url.protocol)) {
      throw new Error('must be a PostgreSQL address that starts with postgres://')
    }
  }
  return value
}

export function mailServer(value: string) {
  const url = URL.parse(value)
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    throw new Error('must be the address of a mail server that starts with smtp:// or smtps://')
  if (url.search || url.hash || url.pathname.length > 1)
    throw new Error('must end with the host or its port, without a path')
  const isSecure = url.protocol === 'smtps:'
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isSecure ? 465 : 587) : Number(url.port),
    isSecure,
    login:
      url.username === ''
        ? undefined
        : { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) },
  }
}

export function sender(value: string) {
  const [, name = '', address = value] = /^"?([^"<>]*?)"?\s*<([^<>]+)>$/.exec(value) ?? []
  if (!isVisible(name)) throw new Error('must have a name without control characters')
  return { name: name.trim(), address: emailAddress(address) }
}

export function emailAddress(value: string): string {
  const email = normaliseEmail(value)
  if (email === undefined) throw new Error(`must be an email address, and "${value.trim()}" is not`)
  return email
}

export function rolesByGroup(value: string): ReadonlyMap<string, (typeof roles)[number]> {
  return new Map(
    value.split(',').map((pair) => {
      const at = pair.lastIndexOf('=')
      const group = pair.slice(0, at).trim()
      if (at < 0 || group === '') throw new Error('must be pairs such as tillgate-admins=admin')
      return [group, oneOf(...roles)(pair.slice(at + 1).trim())] as const
    }),
  )
}

export function share(value: string): number {
  const number = /^\d(\.\d+)?$/.test(value) ? Number(value) : Number.NaN
  if (!(number <= 1)) throw new Error('must be a number from 0 to 1')
  return number
}

export function hostNames(value: string): readonly string[] {
  const names = value.split(',').map((name) => name.trim().toLowerCase())
  if (names.some((name) => !/^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/.test(name)))
    throw new Error('must be host names without a port, separated by commas')
  return names
}

export function openIdScopes(value: string): readonly string[] {
  const scopes = value.split(/[\s,]+/).filter((scope) => scope !== '')
  // The characters that RFC 6749 allows in a scope. The comma separates scopes here; no known scope contains one.
  const unfit = scopes.find((scope) => !/^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]+$/.test(scope))
  if (unfit !== undefined)
    throw new Error(`must be scopes separated by spaces or commas; ${unfit} is invalid`)
  return scopes
}

export function token(value: string): string {
  if (!/^[\x21-\x7e]{16,}$/.test(value)) {
    throw new Error(
      'must have at least 16 printable characters without spaces; generate one with: openssl rand -hex 16',
    )
  }
  return value
}

export function operatorPassword(value: string): string {
  const refusal = refusalOfPassword(value)
  if (refusal !== undefined) throw new Error(refusal)
  return value
}

export function amountsByCurrency(value: string): ReadonlyMap<string, bigint> {
  const limits = new Map<string, bigint>()
  for (const limit of value.split(',')) {
    const [, amount = '', currency = ''] = /^\s*(\S+)\s+([A-Za-z]{3})\s*$/.exec(limit) ?? []
    const code = currency.toUpperCase()
    try {
      if (limits.has(code)) throw new Error(`${code} appears twice`)
      limits.set(code, toMinorUnits(amount, code, 'amount'))
    } catch (error) {
      throw new Error(
        `must be amounts with their currencies, separated by commas, and "${limit.trim()}" is not: ${messageOf(error)}`,
        { cause: error },
      )
    }
  }
  return limits
}

export function approvalEffects(value: string): readonly ApprovalWord[] {
  const words = value.split(',').flatMap((name) => {
    const found = approvalWordsFor(name.trim())
    if (found) return found
    throw new Error(
      `must be one or more of ${approvalWords.join(', ')} (or an earlier word: ${approvalAliases.join(', ')}), not "${name.trim()}"`,
    )
  })
  return [...new Set(words)]
}

export function allowedTargets(value: string): readonly string[] {
  const targets = value.split(',').map((target) => target.trim())
  try {
    parseUrlPolicy({ mode: 'live', allowedTargets: targets })
  } catch (error) {
    throw new Error(`cannot be used: ${messageOf(error)}`, { cause: error })
  }
  return targets
}

export function addressRanges(value: string): readonly string[] {
  if (value === 'none') return []
  const ranges = value.split(',').map((range) => range.trim())
  for (const range of ranges) {
    const [address = '', length] = range.split('/')
    const isRight =
      length === undefined ? isAddress(address) : ipaddr.isValidCIDR(range) && isAddress(address)
    if (!isRight)
      throw new Error(`must be addresses or ranges separated by commas, and "${range}" is neither`)
    if (length === '0') throw new Error(`must not trust all addresses, as "${range}" would`)
  }
  return ranges
}

/** A complete address: programs read shortened ones such as "1.2.3" differently. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !text.includes('%'))
}
