// The test bank that runs beside the sandbox, registered as a rail like any other: what its file says is the truth, and
// the database is made to agree with it at every start.
import { currencies, Failure } from '@tillgate/protocol'
import { type ManageRailsParts, makeManageRails } from '../rails/manage-rails.ts'
import { RailDirectory } from '../rails/rail-directory.ts'
import { defaultPosition } from '../rails/rules/outside-rail.ts'

export interface TestBankRail {
  readonly railId: string
  readonly name: string
  readonly url: string
  readonly secret: string
}

export async function ensureTestBank(
  { railId, name, url, secret }: TestBankRail,
  given: Omit<ManageRailsParts, 'mode' | 'actor'>,
): Promise<void> {
  const manage = makeManageRails({ ...given, mode: 'sandbox', actor: 'sandbox' })
  const reason = 'the test bank beside the sandbox'
  const settings = {
    ...{ name, names: {}, url, currencies: Object.keys(currencies), leastMinor: {}, mostMinor: {} },
    ...{ merchants: undefined, position: defaultPosition, logo: undefined },
  }
  const { rails: store, vault, clock } = given
  const known = await new RailDirectory({ store, vault, clock }).find(railId)
  if (!known) {
    await manage.addRail(railId, settings, reason, secret).catch((error: unknown) => {
      // Another gateway that starts at the same moment was first.
      if (!(error instanceof Failure && error.failure === 'status_does_not_allow')) throw error
    })
    return
  }
  if (known.rail.url !== url) await manage.changeRail(railId, { url }, reason)
  if (known.secrets[0] !== secret) await manage.rotateSecret(railId, { endsOthers: true, reason }, secret)
}
