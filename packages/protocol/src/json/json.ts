// The only parser for JSON text from outside. It is stricter than JSON.parse where parsers disagree or values get lost:
// repeated keys, lone surrogates, prototype keys, deep nesting and numbers that a double does not hold. A scan limits
// the work and finds these, and JSON.parse builds the value. Together they are twice as fast as a parser of our own
// (docs/decisions/0003-strict-json-and-schemas.md).

import { maxEnvelopeBytes, maxJsonDepth, maxJsonMarks, maxNumberDigits } from '../limits.ts'
import { describeRepeatedKey, explainBrokenJson, foreignFormat } from './broken-json.ts'

const inexactNumber = Symbol('inexactNumber')

/** A number that a double may not hold exactly, kept as text so that its field rejects it. */
export interface InexactNumber {
  readonly [inexactNumber]: string
}

export type Json = null | boolean | number | string | InexactNumber | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [key: string]: Json
}

export class JsonError extends Error {
  override readonly name = 'JsonError'
}

/** Members with the value null are omitted, because null and absent mean the same. */
export function readJson(text: string, { maxMarks = maxJsonMarks }: { maxMarks?: number } = {}): Json {
  if (text.length > maxEnvelopeBytes) throw new JsonError(`it is longer than ${maxEnvelopeBytes} characters`)
  refuseHalfPair(text)
  const scan = scanText(text, maxMarks)
  const value = scan.hasOddNumber ? parse(text, keepOddNumberApart) : parse(text)
  // JSON.parse keeps the last of members with the same key, so fewer members remain than were written.
  if (typeof value === 'object' && value !== null && tidy(value, scan) !== scan.members) {
    throw new JsonError(describeRepeatedKey(text))
  }
  if (typeof value === 'string') refuseHalfPair(value)
  return value
}

export function inexactNumberText(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null && inexactNumber in value
    ? (value as InexactNumber)[inexactNumber]
    : undefined
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

function parse(text: string, revive?: Reviver): Json {
  try {
    return JSON.parse(text, revive)
  } catch {
    // Without V8's error as its cause, because that quotes the text, which may be a secret body.
    throw new JsonError(explainBrokenJson(text))
  }
}

interface Scan {
  /** The number of `"key": value` pairs. */
  readonly members: number
  readonly hasEscape: boolean
  readonly hasOddNumber: boolean
}

const quote = 0x22
const backslash = 0x5c
const maxNumberLength = 40

/** Its findings count only after JSON.parse has accepted the text; the limits apply to any text. */
function scanText(text: string, maxMarks: number): Scan {
  const hasEscape = text.includes('\\')
  let members = 0
  let commas = 0
  let depth = 0
  let hasOddNumber = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = hasEscape ? endOfEscapedString(text, at) : endOfString(text, at)
    } else if (code === 0x3a || code === 0x2c) {
      if (code === 0x3a) members++
      else commas++
      if (members + commas > maxMarks)
        throw pastBound(text, `it has more than ${maxMarks} commas and colons; send less in one request`)
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxJsonDepth)
        throw pastBound(text, `it is nested more than ${maxJsonDepth} deep at position ${at}`)
    } else if (code === 0x7d || code === 0x5d) {
      depth--
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const end = endOfNumber(text, at)
      if (end - at > maxNumberDigits || hasExponent(text, end)) hasOddNumber = true
      at = end - 1
    }
  }
  return { members, hasEscape, hasOddNumber }
}

/** A text that is not JSON may exceed any limit. */
function pastBound(text: string, words: string): JsonError {
  return new JsonError(foreignFormat(text) ?? words)
}

/** The end of the text if the string is not closed. */
function endOfString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1)
  return end === -1 ? text.length : end
}

/** A quote ends the string unless an odd number of backslashes precedes it. */
function endOfEscapedString(text: string, start: number): number {
  for (let at = endOfString(text, start); ; at = endOfString(text, at)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes++
    if (backslashes % 2 === 0 || at === text.length) return at
  }
}

/** The end of sign, digits and point; an exponent comes after. */
function endOfNumber(text: string, start: number): number {
  let at = start + 1
  for (let code = text.charCodeAt(at); (code >= 0x30 && code <= 0x39) || code === 0x2e; )
    code = text.charCodeAt(++at)
  return at
}

function hasExponent(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x65 || code === 0x45
}

/** Counts the members, drops those that are null, and rejects forbidden keys and lone surrogates. */
function tidy(value: object, scan: Scan): number {
  if (Array.isArray(value)) return tidyArray(value, scan)
  let members = 0
  let nullKeys: string[] | undefined
  const object = value as Record<string, unknown>
  for (const key in object) {
    members++
    if (forbiddenKeys.has(key)) throw new JsonError(`the key "${key}" is not allowed`)
    const member = object[key]
    if (scan.hasEscape) refuseHalfPair(key)
    if (member === null) {
      nullKeys ??= []
      nullKeys.push(key)
    } else if (typeof member === 'object') members += tidy(member, scan)
    else if (scan.hasEscape && typeof member === 'string') refuseHalfPair(member)
  }
  if (nullKeys !== undefined) for (const key of nullKeys) delete object[key]
  return members
}

function tidyArray(array: readonly unknown[], scan: Scan): number {
  let members = 0
  for (const item of array) {
    if (typeof item === 'object' && item !== null) members += tidy(item, scan)
    else if (scan.hasEscape && typeof item === 'string') refuseHalfPair(item)
  }
  return members
}

/** Merging an object with one of these keys would change its prototype. */
const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** UTF-8 cannot contain a lone surrogate, but an escape such as \ud800 can. */
function refuseHalfPair(text: string): void {
  if (!text.isWellFormed()) throw new JsonError('a string contains an unpaired surrogate')
}

/** The third argument contains the source text of a number; TypeScript's library does not declare it yet. */
const keepOddNumberApart: Reviver = (_key, value, context) => {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || isKeptExactly(source)) return value
  return { [inexactNumber]: source }
}

/** A double keeps any 15 digits, far from overflow and underflow. */
function isKeptExactly(written: string): boolean {
  if (/[eE]/.test(written) || written.length > maxNumberLength) return false
  const digits = written.replace('-', '').replace('.', '').replace(/^0+/, '').replace(/0+$/, '')
  return digits.length <= maxNumberDigits
}
