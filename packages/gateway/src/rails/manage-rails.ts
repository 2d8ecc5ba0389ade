// What an operator does with rails: each act is recorded with who did it and why; a secret is given out once, when it is
// made.
import assert from 'node:assert/strict'
import { Failure, makeUuid, makeWebhookSecret } from '@tillgate/protocol'
import { type ActParts, makeActs } from '../operators/audit-entries.ts'
import type { Act } from '../operators/rules/audit.ts'
import { checkToldAgain } from '../operators/rules/tell-again.ts'
import type { Vault } from '../platform/vault.ts'
import { parseLine } from '../platform/visible-text.ts'
import { openSecrets } from './rail-directory.ts'
import { type BankAccount, checkBankAccount } from './rules/bank-account.ts'
import {
  checkRail,
  checkRailUrl,
  describeRailChanges,
  type OutsideRail,
  placeOfRailSecret,
  type RailSecret,
  type RailSettings,
} from './rules/outside-rail.ts'
import type { RailStore, RailWithSecrets } from './store/rails.ts'

export interface ManageRailsParts extends ActParts {
  readonly rails: RailStore
  readonly vault: Vault
  readonly mode: 'sandbox' | 'live'
}

export interface MadeRail {
  readonly rail: OutsideRail
  /** To be shown this once. */
  readonly secret: string
}

interface Rotation {
  readonly endsOthers: boolean
  readonly reason: string
  /** Sent again with the same one, it makes one secret. */
  readonly actId?: string | undefined
}

export type ManageRails = ReturnType<typeof makeManageRails>

export function makeManageRails(parts: ManageRailsParts) {
  const { rails, vault, clock, random, mode } = parts
  const act = makeActs(parts)

  return {
    listRails: async (): Promise<OutsideRail[]> =>
      (await rails.listRails()).map((listed) => openSecrets(listed, vault).rail),

    async showRail(railId: string): Promise<RailWithSecrets> {
      const found = (await rails.findRail(railId)) ?? noRail(railId)
      return { ...found, rail: openSecrets(found, vault).rail }
    },

    /** Consumers pay to this account by bank transfer; operators record what came. */
    async addTransferRail(
      railId: string,
      { account, ...settings }: RailSettings & { readonly account: BankAccount },
      reason: string,
    ): Promise<OutsideRail> {
      const rail = newRail(railId, { ...settings, account: checkBankAccount(account) })
      await insert(rail, undefined, act('rail.add-transfer', railId, { reason }))
      return rail
    },

    /** Who has been told the old one pays to the old one. */
    async changeAccount(railId: string, given: BankAccount, reason: string): Promise<OutsideRail> {
      const account = checkBankAccount(given)
      const changed = await rails.changeRail(railId, (before) => {
        if (!before.account) throw noAccount(railId)
        const described = describeRailChanges(before, { account })
        return described === ''
          ? undefined
          : {
              changes: { account },
              act: act('rail.change-account', railId, { reason: `${described}: ${reason}` }),
            }
      })
      return changed ?? noRail(railId)
    },

    /** With a secret of its own, or one that is known already. */
    async addRail(
      railId: string,
      settings: RailSettings,
      reason: string,
      secret = makeWebhookSecret(random),
    ): Promise<MadeRail> {
      const rail = newRail(railId, { ...settings, url: checkRailUrl(settings.url ?? '', mode) })
      await insert(rail, sealedSecret(railId, secret), act('rail.add', railId, { reason }))
      return { rail, secret }
    },

    /** The audit says what changed from what to what; where nothing does, nothing is recorded. */
    async changeRail(railId: string, given: Partial<RailSettings>, reason: string): Promise<OutsideRail> {
      const changes = {
        ...given,
        ...(given.name !== undefined && { name: parseLine(given.name, 'name') }),
        ...(given.url !== undefined && { url: checkRailUrl(given.url, mode) }),
      }
      const changed = await rails.changeRail(railId, (before) => {
        if (before.account && changes.url !== undefined) throw hasAccount('url')
        checkRail({ ...before, ...changes })
        const described = describeRailChanges(before, changes)
        return described === ''
          ? undefined
          : { changes, act: act('rail.change', railId, { reason: `${described}: ${reason}` }) }
      })
      return changed ?? noRail(railId)
    },

    /** It leaves the checkout; what is under way goes on. */
    async pauseRail(railId: string, reason: string): Promise<OutsideRail> {
      const paused = await rails.changeRail(railId, () => ({
        changes: { isPaused: true },
        act: act('rail.pause', railId, { reason }),
      }))
      return paused ?? noRail(railId)
    },

    /** Forgets its failures as well. */
    async resumeRail(railId: string, reason: string): Promise<OutsideRail> {
      const resumed = await rails.changeRail(railId, () => ({
        changes: { isPaused: false, failures: 0, pausedUntilMs: undefined },
        act: act('rail.resume', railId, { reason }),
      }))
      return resumed ?? noRail(railId)
    },

    /** The one before stays good until the next time, unless it was stolen. */
    async rotateSecret(
      railId: string,
      { endsOthers, reason, actId }: Rotation,
      secret = makeWebhookSecret(random),
    ): Promise<MadeRail> {
      const { rail } = (await rails.findRail(railId)) ?? noRail(railId)
      if (rail.account) throw hasAccount()
      const made = sealedSecret(railId, secret, actId)
      if (await rails.replaceSecret(made, { endsOthers }, act('rail.rotate-secret', railId, { reason })))
        return { rail, secret }
      const before = await rails.findSecret(made)
      assert(before, 'a secret that is there is found')
      checkToldAgain(before, clock.now())
      return { rail, secret: vault.open(before.sealedSecret, placeOfRailSecret(made)).toString() }
    },
  }

  function newRail(railId: string, settings: RailSettings): OutsideRail {
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

  async function insert(rail: OutsideRail, secret: RailSecret | undefined, added: Act): Promise<void> {
    if (await rails.insertRail(rail, secret, added)) return
    throw new Failure('status_does_not_allow', {
      field: 'railId',
      message: `There is a rail ${rail.railId} already. Choose another id, or change that one.`,
    })
  }

  function sealedSecret(railId: string, secret: string, actId?: string): RailSecret {
    const createdAtMs = clock.now()
    const secretId = actId ?? makeUuid(createdAtMs, random)
    const sealed = vault.seal(Buffer.from(secret), placeOfRailSecret({ railId, secretId }))
    return { railId, secretId, sealedSecret: sealed, createdAtMs }
  }
}

function noAccount(railId: string): Failure {
  return new Failure('status_does_not_allow', {
    message: `Rail ${railId} has an address, no account. Change that, or add a rail for bank transfers.`,
  })
}

/** Nobody is asked, so there is neither an address nor a secret. */
function hasAccount(field?: string): Failure {
  return new Failure('status_does_not_allow', {
    ...(field !== undefined && { field }),
    message:
      'Consumers pay this rail by bank transfer: it has an account, and neither an address nor a secret.',
  })
}

function noRail(railId: string): never {
  throw new Failure('not_found', { message: `There is no rail ${railId}.` })
}
