// The requirements for rails that pass disputes on, as stories that throw if one is violated, with bugs that the stories
// must detect.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { DisputeMessage } from '@tillgate/protocol'
import type { Provider, ProviderDispute } from '../src/provider.ts'
import type { FakeDisputes } from './fake-provider.ts'
import { changed, lose, paid, type Story } from './stories.ts'
import { ask, type Start, sendDispute, startMessage, statusOf, type World } from './world.ts'

interface Disputed {
  readonly disputes: FakeDisputes
  readonly start: Start
  readonly disputeId: string
}

const pdf = Buffer.from('%PDF-1.7 signed by the consumer')

const about = ({ transactionId }: Start, disputeId: string) => ({ version: 1, disputeId, transactionId })

const askDispute = ({ rail, clock }: World, message: DisputeMessage) =>
  sendDispute(`${rail.url}/messages`, message, clock.nowMs)

const statusOfDispute = (world: World, { start, disputeId }: Pick<Disputed, 'start' | 'disputeId'>) =>
  askDispute(world, { type: 'dispute.status', ...about(start, disputeId) })

const evidenceFor = ({ start, disputeId }: Disputed, evidenceId = randomUUID()): DisputeMessage => ({
  type: 'dispute.evidence',
  ...about(start, disputeId),
  evidenceId,
  text: 'It was delivered.',
  file: { name: 'receipt.pdf', contentType: 'application/pdf', content: pdf.toString('base64') },
})

function expectedOf({ given, fake }: World) {
  assert(given.disputes && fake.disputes, 'the rail passes disputes on')
  return { ...given.disputes, disputes: fake.disputes }
}

/** A dispute of all that was paid, of which the gateway was notified. */
async function disputed(world: World, amount?: number): Promise<Disputed> {
  const { disputes } = expectedOf(world)
  const start = await paid(world)
  world.gateway.notifications.length = 0
  const disputeId = await disputes.open(start.transactionId, amount)
  await world.rail.work()
  return { disputes, start, disputeId }
}

const notified = ({ gateway }: World) => gateway.notifications.map(({ type }) => type)

export const disputeStories = {
  'a dispute is notified, with its amount, fee and reason': async (world) => {
    const { begin, accepts, reason } = expectedOf(world)
    const { disputes, start, disputeId } = await disputed(world, 600)
    const type = begin === 'open' ? 'dispute.opened' : 'dispute.lost'
    assert.deepEqual(world.gateway.notifications, [{ type, ...about(start, disputeId) }])
    const answer = await statusOfDispute(world, { start, disputeId })
    assert(answer && answer.status !== 'unknown')
    const { respondBy, feeMinor, ...rest } = answer
    assert.deepEqual(rest, {
      status: begin,
      amountMinor: '600',
      currency: start.currency,
      reason,
      accepts: begin === 'open' ? accepts : [],
    })
    assert.equal(feeMinor, disputes.feeMinor === undefined ? undefined : String(disputes.feeMinor))
    if (accepts.length > 0) assert(respondBy !== undefined && respondBy > world.clock.nowMs)
  },

  'a dispute that is won or lost is notified, and a won one can be lost later': async (world) => {
    const { begin } = expectedOf(world)
    const { disputes, start, disputeId } = await disputed(world)
    for (const result of ['won', 'lost', 'won'] as const) {
      world.gateway.notifications.length = 0
      await disputes.decide(disputeId, result)
      await world.rail.work()
      assert.deepEqual(notified(world), [`dispute.${result}`])
      const answer = await statusOfDispute(world, { start, disputeId })
      assert(answer && answer.status === result)
      assert.deepEqual([answer.amountMinor, answer.accepts], ['1000', []])
      if (begin === 'lost') return
    }
  },

  'a webhook about a dispute only triggers a query': async (world) => {
    const { disputes, start, disputeId } = await disputed(world)
    const before = await statusOfDispute(world, { start, disputeId })
    for (let count = 0; count < 3; count++) await disputes.sendWebhook(disputeId)
    await world.rail.work()
    assert.equal(world.gateway.notifications.length, 1, 'a webhook was believed, or repeated')
    assert.deepEqual(await statusOfDispute(world, { start, disputeId }), before)
    const calls = world.fake.calls.length
    for (const { forged } of world.given.rejectedWebhooks)
      if (forged) assert.equal(await disputes.sendWebhook(disputeId, { forged }), 401)
    await world.rail.work()
    assert.equal(world.fake.calls.length, calls)
  },

  'the same webhooks again notify nothing again': async (world) => {
    const { disputes, disputeId } = await disputed(world)
    const another = await world.openAnother()
    for (let count = 0; count < 3; count++) {
      await disputes.sendWebhook(disputeId)
      await Promise.all([world.rail.work(), another.work()])
    }
    assert.equal(world.gateway.notifications.length, 1)
  },

  'a dispute whose webhook comes before the rail knows of the payment is notified later': async (world) => {
    const { begin, disputes } = expectedOf(world)
    const { fake, rail, gateway, clock } = world
    const start = startMessage(world, { amountMinor: 1000n })
    lose(world, /^POST /, 'after')
    assert.equal((await ask(world, start)).httpStatus, 503)
    await fake.consumer(start.transactionId, 'pays')
    await disputes.open(start.transactionId)
    fake.intercept = () => 'down'
    await rail.work()
    assert.deepEqual(gateway.notifications, [])
    fake.intercept = () => 'go on'
    clock.nowMs += 11 * 60_000
    await rail.work()
    assert.equal((await statusOf(world, start)).status, 'approved')
    const told = notified(world).filter((type) => type.startsWith('dispute'))
    assert.deepEqual(told, [begin === 'open' ? 'dispute.opened' : 'dispute.lost'])
  },

  'an unreachable provider delays a dispute, and a dispute is asked about again': async (world) => {
    const { begin, disputes, areListedWithoutCall } = expectedOf(world)
    const { fake, rail, clock } = world
    const start = await paid(world)
    world.gateway.notifications.length = 0
    fake.intercept = () => 'down'
    const disputeId = await disputes.open(start.transactionId)
    await rail.work()
    if (!areListedWithoutCall) {
      assert.equal(await statusOfDispute(world, { start, disputeId }), undefined)
      assert.deepEqual(notified(world), [])
    }
    fake.intercept = () => 'go on'
    clock.nowMs += 61_000
    await rail.work()
    assert.deepEqual(notified(world), [begin === 'open' ? 'dispute.opened' : 'dispute.lost'])
  },

  'an unknown dispute is unknown, and a payment that is not ours notifies nothing': async (world) => {
    const { start, disputes, disputeId } = await disputed(world)
    const unknown = { status: 'unknown' }
    for (const of of [
      { start, disputeId: 'another' },
      { start: startMessage(world), disputeId },
    ])
      assert.deepEqual(await statusOfDispute(world, of), unknown)
    if (!disputes.inquire) return
    world.gateway.notifications.length = 0
    const inquiry = await disputes.inquire((await paid(world)).transactionId)
    await world.rail.work()
    assert.deepEqual(
      notified(world).filter((type) => type.startsWith('dispute')),
      [],
    )
    assert.deepEqual(await statusOfDispute(world, { start, disputeId: inquiry }), unknown)
  },

  'evidence reaches the provider once': async (world) => {
    const { accepts } = expectedOf(world)
    if (!accepts.includes('evidence')) return
    for (const phase of ['before', 'after'] as const)
      for (const call of [/^POST \S*files$/, /^POST \S*disputes\//]) {
        const of = await disputed(world)
        const evidence = evidenceFor(of)
        lose(world, call, phase)
        assert.equal(await askDispute(world, evidence), undefined)
        const answer = await askDispute(world, evidence)
        assert(answer?.status === 'open')
        assert.deepEqual([answer.accepts, answer.respondBy], [[], undefined])
        assert.deepEqual(await askDispute(world, evidence), answer)
        assert.deepEqual(await askDispute(world, evidenceFor(of)), answer)
        assert.deepEqual(of.disputes.evidence(of.disputeId), [`It was delivered. · ${pdf}`])
      }
  },

  'an accepted dispute is lost': async (world) => {
    const { accepts } = expectedOf(world)
    if (!accepts.includes('accept')) return
    const of = await disputed(world)
    const accept = { type: 'dispute.accept', ...about(of.start, of.disputeId) } as const
    lose(world, /^POST /, 'after')
    assert.equal(await askDispute(world, accept), undefined)
    for (let count = 0; count < 2; count++) assert.equal((await askDispute(world, accept))?.status, 'lost')
    assert.deepEqual(of.disputes.evidence(of.disputeId), [])
  },
} as const satisfies Record<string, Story>

type DisputeStoryName = keyof typeof disputeStories

interface PlantedDisputeBug {
  readonly what: string
  readonly plant: (provider: Provider) => Provider
  readonly foundBy: DisputeStoryName
}

/** Changes what the provider lists. */
function listing(provider: Provider, change: (dispute: ProviderDispute) => ProviderDispute): Provider {
  const { disputes } = provider
  if (!disputes) return provider
  return changed(provider, {
    disputes: {
      list: async (payment, notice) => (await disputes.list(payment, notice)).map(change),
      sendEvidence: async (dispute, evidence) => disputes.sendEvidence?.(dispute, evidence),
      accept: async (dispute) => disputes.accept?.(dispute),
    },
  })
}

/** Bugs that every rail with disputes could have. */
export const plantedDisputeBugs: readonly PlantedDisputeBug[] = [
  {
    what: 'a dispute whose fee and amount are one sum',
    plant: (provider) =>
      listing(provider, (dispute) => ({
        ...dispute,
        amountMinor: dispute.amountMinor + (dispute.feeMinor ?? 1n),
      })),
    foundBy: 'a dispute is notified, with its amount, fee and reason',
  },
  {
    what: 'a dispute that stays lost',
    plant: (provider) => {
      const lost = new Set<string>()
      return listing(provider, (dispute) => {
        if (dispute.status !== 'open') lost.add(dispute.disputeId)
        return lost.has(dispute.disputeId) ? { ...dispute, status: 'lost' } : dispute
      })
    },
    foundBy: 'a dispute that is won or lost is notified, and a won one can be lost later',
  },
  {
    what: 'webhooks about disputes that are dropped',
    plant: (provider) =>
      changed(provider, {
        async readWebhook(request) {
          const webhook = await provider.readWebhook(request)
          return webhook.kind === 'changed' && webhook.dispute ? { kind: 'ignored' } : webhook
        },
      }),
    foundBy: 'an unreachable provider delays a dispute, and a dispute is asked about again',
  },
]

/** Only for providers that take evidence. */
export const plantedEvidenceBugs: readonly PlantedDisputeBug[] = [
  {
    what: 'evidence that is accepted again and again, without its key',
    plant: (provider) => {
      const { disputes } = provider
      const planted = listing(provider, (dispute) => ({ ...dispute, accepts: ['evidence', 'accept'] }))
      return changed(planted, {
        disputes: {
          list: async (payment, notice) => (await planted.disputes?.list(payment, notice)) ?? [],
          sendEvidence: async (dispute, evidence) =>
            disputes?.sendEvidence?.(dispute, { ...evidence, evidenceId: randomUUID() }),
        },
      })
    },
    foundBy: 'evidence reaches the provider once',
  },
]
