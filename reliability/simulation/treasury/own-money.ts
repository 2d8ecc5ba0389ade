// Operators and their own money in a run: they set an opening balance, some by two at once, pay in and take out, sweep fees while
// refunds give them back, and book charges and interest from statements. Each action is sent until there is an answer.
import { makeUuid } from '@tillgate/protocol'
import { camt053 } from '../../reconciliation/statement-files.ts'
import { untilAnswered, type World } from '../people.ts'

export const ownBank = 'own'
const account = `bank:${ownBank}`
const currency = 'USD'
const reason = 'simulation'

export async function moveOwn(world: World, idempotencyKey: string): Promise<void> {
  const seeded = world.seeded.stream(idempotencyKey)
  const amountMinor = BigInt(seeded.whole(50_000, 90_000))
  const bankName = seeded.pick(['main', ownBank])
  const given = { bankName, currency, amountMinor }
  const what = seeded.weighted({ opening: 20, deposit: 30, withdraw: 20, sweep: 30 })
  const times = seeded.isLucky(0.3) ? 2 : 1
  const answers = await Promise.all(
    Array.from({ length: times }, () =>
      untilAnswered({ world, seeded }, () =>
        world.call(({ ownMoney }) => {
          const once = { idempotencyKey }
          if (what === 'opening') return ownMoney.setOpeningBalance(given, reason, once)
          if (what === 'deposit') return ownMoney.deposit(given, reason, once)
          if (what === 'withdraw') return ownMoney.withdraw(given, reason, once)
          return ownMoney.sweepFees({ ...given, fromBankName: 'main', amountMinor: undefined }, reason, once)
        }),
      ),
    ),
  )
  for (const answer of answers)
    if (answer.kind === 'answered')
      world.journal.ownMoney.push({ idempotencyKey, amountMinor: what === 'sweep' ? undefined : amountMinor })
}

/**
 * A statement with a charge, interest and money that nobody knows, imported until it is; each line is booked from its break, by two at
 * once now and then. What nobody knows is parked in suspense, or goes back.
 */
export async function bookStatement(world: World, name: string): Promise<void> {
  const seeded = world.seeded.stream(name)
  const day = new Date(world.now()).toISOString().slice(0, 10)
  const lines = [
    { reference: `${name} charge`, day, amountMinor: -BigInt(seeded.whole(1, 40)), text: 'charge' },
    { reference: `${name} interest`, day, amountMinor: BigInt(seeded.whole(1, 40)), text: 'interest' },
    { reference: `${name} unknown`, day, amountMinor: BigInt(seeded.whole(50, 90)), text: 'unknown' },
  ]
  const statement = { iban: '', currency, version: 8, from: day, through: day, openingMinor: 0n } as const
  // Without balances, which would have to be those of everything else on the account.
  const text = camt053({ ...statement, lines })
    .replace(/<Bal>.*<\/Bal>/, '')
    .replace('<IBAN></IBAN>', '<Othr><Id>1</Id></Othr>')
  const file = {
    name,
    async *open() {
      yield Buffer.from(text)
    },
  }
  const ask = <Result>(question: Parameters<typeof world.call<Result>>[0]) =>
    untilAnswered({ world, seeded }, () => world.call(question))
  await ask(({ reconciliation }) => reconciliation.importStatement({ file, account, reason }))
  const open = await ask(({ reconciliation }) =>
    reconciliation.breaks.listBreaks(
      { status: 'open', account, kind: 'missing_here' },
      { skip: 0, limit: 20 },
    ),
  )
  if (open.kind !== 'answered') return
  for (const { breakId, amountMinor, line } of open.value) {
    const as = amountMinor < 0n ? 'bank_charge' : 'interest'
    const way = line?.description !== 'unknown' ? 'bookAs' : seeded.pick(['park', 'returnToSender'] as const)
    const idempotencyKey = makeUuid(world.now(), (count) => seeded.bytes(count))
    const booked = await Promise.all(
      Array.from({ length: seeded.isLucky(0.4) ? 2 : 1 }, () =>
        ask(({ reconciliation }) => reconciliation.breaks[way](breakId, { as, reason, idempotencyKey })),
      ),
    )
    const minor = amountMinor < 0n ? -amountMinor : amountMinor
    if (booked.some(({ kind }) => kind === 'answered'))
      world.journal.ownMoney.push({ idempotencyKey, amountMinor: minor })
  }
}
