// Operators' actions on rails, each recorded in the audit log. A secret is shown once, when it is created.

import assert from 'node:assert/strict'
import { Failure, makeUuid, makeWebhookSecret } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AuditEntry } from '../../core/audit/rules/audit.ts'
import { checkShownOnce } from '../../core/audit/rules/shown-once.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { parseLine } from '../../platform/runtime/visible-text.ts'
import { openSecrets } from './rail-directory.ts'
import {
  checkRail,
  checkRailUrl,
  describeRailChanges,
  describeRailReach,
  type OutsideRail,
  opensRail,
  placeOfRailSecret,
  type RailSecret,
  type RailSettings,
} from './rules/outside-rail.ts'
import { type BankAccount, checkBankAccount } from './rules/transfer-account.ts'
import type { RailStore, RailWithSecrets } from './store/rails.ts'

export interface ManageRailsParts extends ClockAndRandom {
  readonly rails: RailStore
  readonly vault: Vault
  readonly mode: 'sandbox' | 'live'
  /**
   * Returns why messages cannot go to an address, such as one of the gateway's own listeners. If omitted, all
   * addresses are allowed.
   */
  readonly refusalOfRailUrl?: (url: string) => string | undefined
}

export interface MadeRail {
  readonly rail: OutsideRail
  /** Shown only once. */
  readonly secret: string
}

interface Rotation {
  readonly endsOthers: boolean
  readonly reason: string
  /** A repeated request with the same id creates one secret. */
  readonly idempotencyKey?: string | undefined
}

export type ManageRails = ReturnType<typeof makeManageRails>

type Parts = ManageRailsParts

export function makeManageRails(parts: ManageRailsParts) {
  const { rails, vault } = parts
  return {
    listRails: async (_context: AnyContext): Promise<OutsideRail[]> =>
      (await rails.listRails()).map((listed) => openSecrets(listed, vault).rail),
    ...bindAll(parts, {
      showRail,
      addTransferRail,
      changeAccount,
      addRail,
      changeRail,
      pauseRail,
      resumeRail,
      rotateSecret,
    }),
  }
}

async function showRail(
  { rails, vault }: Parts,
  _context: AnyContext,
  railId: string,
): Promise<RailWithSecrets> {
  const found = (await rails.findRail(railId)) ?? noRail(railId)
  return { ...found, rail: openSecrets(found, vault).rail }
}

/** Consumers pay to this account, and operators record what arrives. */
async function addTransferRail(
  parts: Parts,
  context: AnyContext,
  railId: string,
  { account, ...settings }: RailSettings & { readonly account: BankAccount },
  reason: string,
): Promise<OutsideRail> {
  const rail = newRail(parts, railId, { ...settings, account: checkBankAccount(account) })
  await insert(
    parts,
    rail,
    undefined,
    makeAuditEntry(parts, context, 'rail.add-transfer', railId, { reason }),
  )
  return rail
}

/** Consumers who already have the old account's details pay to it. */
async function changeAccount(
  parts: Parts,
  context: AnyContext,
  railId: string,
  given: BankAccount,
  reason: string,
): Promise<OutsideRail> {
  const account = checkBankAccount(given)
  const changed = await parts.rails.changeRail(railId, (before) => {
    if (!before.account) throw noAccount(railId)
    const described = describeRailChanges(before, { account })
    return described === ''
      ? undefined
      : {
          changes: { account },
          entry: makeAuditEntry(parts, context, 'rail.change-account', railId, {
            reason: `${described}: ${reason}`,
          }),
        }
  })
  return changed ?? noRail(railId)
}

/** Generates a secret, or takes an existing one. */
async function addRail(
  parts: Parts,
  context: AnyContext,
  railId: string,
  settings: RailSettings,
  reason: string,
  secret = makeWebhookSecret(parts.random),
): Promise<MadeRail> {
  const rail = newRail(parts, railId, { ...settings, url: checkUrl(parts, settings.url ?? '') })
  await insert(
    parts,
    rail,
    sealedSecret(parts, railId, secret),
    makeAuditEntry(parts, context, 'rail.add', railId, { reason }),
  )
  return { rail, secret }
}

/**
 * Records the old and new values; without a change, nothing is recorded. `reach` is read again when the
 * request is approved: if the rail was narrowed while it waited, the change would widen it further than was approved.
 */
async function changeRail(
  parts: Parts,
  context: AnyContext,
  railId: string,
  given: Partial<RailSettings>,
  reason: string,
  reach?: string,
): Promise<OutsideRail> {
  const changes = {
    ...given,
    ...(given.name !== undefined && { name: parseLine(given.name, 'name') }),
    ...(given.url !== undefined && { url: checkUrl(parts, given.url) }),
  }
  const changed = await parts.rails.changeRail(railId, (before) => {
    if (before.account && changes.url !== undefined) throw hasAccount('url')
    if (reach !== undefined && reach !== describeRailReach(before)) throw changedMeanwhile(before)
    checkRail({ ...before, ...changes })
    const described = describeRailChanges(before, changes)
    return described === ''
      ? undefined
      : {
          changes,
          entry: makeAuditEntry(parts, context, 'rail.change', railId, {
            reason: `${described}: ${reason}`,
            ...(!opensRail(before, changes) && { effects: [] }),
          }),
        }
  })
  return changed ?? noRail(railId)
}

/** Removes it from the checkout; running payments continue. */
async function pauseRail(
  parts: Parts,
  context: AnyContext,
  railId: string,
  reason: string,
): Promise<OutsideRail> {
  const paused = await parts.rails.changeRail(railId, () => ({
    changes: { isPaused: true },
    entry: makeAuditEntry(parts, context, 'rail.pause', railId, { reason }),
  }))
  return paused ?? noRail(railId)
}

/** Also resets its failures. */
async function resumeRail(
  parts: Parts,
  context: AnyContext,
  railId: string,
  reason: string,
): Promise<OutsideRail> {
  const resumed = await parts.rails.changeRail(railId, ({ isPaused }) => ({
    changes: { isPaused: false, failures: 0, pausedUntilMs: undefined },
    entry: makeAuditEntry(parts, context, 'rail.resume', railId, {
      reason,
      ...(!isPaused && { effects: [] }),
    }),
  }))
  return resumed ?? noRail(railId)
}

/** The previous secret stays valid until the next rotation, unless it was stolen. */
async function rotateSecret(
  parts: Parts,
  context: AnyContext,
  railId: string,
  { endsOthers, reason, idempotencyKey }: Rotation,
  secret = makeWebhookSecret(parts.random),
): Promise<MadeRail> {
  const { rails, clock, vault } = parts
  const { rail } = (await rails.findRail(railId)) ?? noRail(railId)
  if (rail.account) throw hasAccount()
  const made = sealedSecret(parts, railId, secret, idempotencyKey)
  if (
    await rails.replaceSecret(
      made,
      { endsOthers },
      makeAuditEntry(parts, context, 'rail.rotate-secret', railId, { reason }),
    )
  )
    return { rail, secret }
  const before = await rails.findSecret(made)
  assert(before, 'a secret that is there is found')
  checkShownOnce(before, clock.now())
  return { rail, secret: vault.open(before.sealedSecret, placeOfRailSecret(made)).toString() }
}

function checkUrl(parts: Parts, text: string): string {
  const url = checkRailUrl(text, parts.mode)
  const refusal = parts.refusalOfRailUrl?.(url)
  if (refusal === undefined) return url
  throw new Failure('invalid_field', {
    field: 'url',
    message: `The gateway cannot send messages to this address: ${refusal}. Enter the address of the rail.`,
  })
}

function newRail({ clock }: Parts, railId: string, settings: RailSettings): OutsideRail {
  const rail: OutsideRail = {
    railId,
    ...settings,
    name: parseLine(settings.name, 'name'),
    isPaused: false,
    failures: 0,
    lastFailure: undefined,
    pausedUntilMs: undefined,
    createdAtMs: clock.now(),
  }
  checkRail(rail)
  return rail
}

async function insert(
  { rails }: Parts,
  rail: OutsideRail,
  secret: RailSecret | undefined,
  added: AuditEntry,
): Promise<void> {
  if (await rails.insertRail(rail, secret, added)) return
  throw new Failure('status_does_not_allow', {
    field: 'railId',
    message: `Rail ${rail.railId} already exists. Choose another id, or change that rail.`,
  })
}

function sealedSecret(
  { clock, random, vault }: Parts,
  railId: string,
  secret: string,
  idempotencyKey?: string,
): RailSecret {
  const createdAtMs = clock.now()
  const secretId = idempotencyKey ?? makeUuid(createdAtMs, random)
  const sealed = vault.seal(Buffer.from(secret), placeOfRailSecret({ railId, secretId }))
  return { railId, secretId, sealedSecret: sealed, createdAtMs }
}

function noAccount(railId: string): Failure {
  return new Failure('status_does_not_allow', {
    message: `Rail ${railId} has no bank account. Change its address instead, or add a rail for bank transfers.`,
  })
}

function changedMeanwhile(rail: OutsideRail): Failure {
  return new Failure('status_does_not_allow', {
    message: `Rail ${rail.railId} has changed since this was requested: ${describeRailReach(rail)}. Reload and review it.`,
  })
}

/** Bank transfers have neither an address nor a secret. */
function hasAccount(field?: string): Failure {
  return new Failure('status_does_not_allow', {
    ...(field !== undefined && { field }),
    message:
      'Consumers pay this rail by bank transfer: it has an account, and neither an address nor a secret.',
  })
}

function noRail(railId: string): never {
  throw new Failure('not_found', { message: `Rail ${railId} does not exist.` })
}
