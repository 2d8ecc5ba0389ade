// A gateway that is to be broken, and those outside of it who know what they were told: shoppers with a journal, and a
// listener. In the end journal, tables, listener and ledger must agree.
import { setTimeout as pause } from 'node:timers/promises'
import { sandboxFilePath } from '../../packages/gateway/src/app/sandbox/sandbox-file.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { isTransient } from '../../packages/gateway/src/platform/database/transient.ts'
import { Tillgate } from '../../packages/sdk/src/tillgate.ts'
import { countWork, endClaims, findCrashViolations } from '../crash/check.ts'
import type { Followers } from '../crash/followers.ts'
import { type Receiver, startReceiver } from '../crash/receiver.ts'
import { type ShopperParts, shop, story } from '../crash/shopper.ts'
import type { BankRecord } from '../simulation/invariants/bank.ts'
import { Journal } from '../simulation/journal.ts'
import { withStored } from './stored.ts'

export interface SiteOptions {
  /** Of a gateway that has been ready: the merchant's credentials are there. */
  readonly dataDir: string
  /** Distinguishes this run's numbers. */
  readonly name: string
  /** How the tables are looked into; left out, in the database under the data folder. */
  readonly stored?: <Result>(work: (pool: Pool) => Promise<Result>) => Promise<Result>
  /** Answers may be of the state before for a while; they are counted. */
  readonly mayLag?: boolean
  /** Through which some of the orders are paid. */
  readonly bank?: BankRecord | undefined
  /** Who else follows what happens. */
  readonly followers?: Followers | undefined
  /** The merchant's clock. */
  readonly now?: () => number
  /** Where the merchant's client changes meanwhile; left out, the one of the data folder. */
  readonly merchant?: () => Tillgate
  readonly newPhone?: ShopperParts['newPhone']
  /** What shoppers ask again beside what they always do. */
  readonly bears?: ShopperParts['bears']
}

const restWithinMs = 150_000
const reachedWithinMs = 30_000
const lookEveryMs = 50

export class Site {
  readonly journal: Journal
  readonly merchant: () => Tillgate
  readonly #options: SiteOptions
  readonly #receiver: Receiver
  readonly #shoppers: ShopperParts
  #isOver = false
  #load: Promise<unknown> = Promise.resolve()

  private constructor(options: SiteOptions, parts: { merchant: () => Tillgate; receiver: Receiver }) {
    this.#options = options
    this.journal = new Journal({ mayLag: options.mayLag ?? false })
    this.#receiver = parts.receiver
    this.merchant = parts.merchant
    this.#shoppers = {
      merchant: parts.merchant,
      journal: this.journal,
      callbackUrl: parts.receiver.url,
      name: options.name,
      now: options.now ?? Date.now,
      isOver: () => this.#isOver,
      hasBank: options.bank !== undefined,
      newPhone: options.newPhone,
      bears: options.bears,
    }
  }

  static async open(options: SiteOptions): Promise<Site> {
    const { dataDir, now = Date.now } = options
    const tillgate = options.merchant?.() ?? Tillgate.fromFile(sandboxFilePath(dataDir), { now })
    const merchant = options.merchant ?? (() => tillgate)
    return new Site(options, { merchant, receiver: await startReceiver(merchant) })
  }

  /** From now on until `endLoad`. Rejects when a shopper gives up, and never resolves. */
  startLoad(shoppers: number): Promise<never> {
    this.#load = Promise.all(Array.from({ length: shoppers }, (_, index) => shop(this.#shoppers, index)))
    return this.#load.then(() => new Promise<never>(() => {}))
  }

  /** Whatever is under way is finished, but not waited for. */
  endLoad(): void {
    this.#isOver = true
  }

  /** One order from its creation to its refund. */
  story(orderNo: string): Promise<void> {
    return story(this.#shoppers, { orderNo, isRefunded: true })
  }

  async moreOrders(count: number): Promise<void> {
    const enough = this.journal.orders.size + count
    while (this.journal.orders.size < enough) await pause(lookEveryMs / 10)
  }

  /** Asked again while the database is away: a server whose process was killed just now may not know it yet. */
  async stored<Result>(work: (pool: Pool) => Promise<Result>): Promise<Result> {
    const { dataDir, stored = (each) => withStored(dataDir, each) } = this.#options
    const deadline = performance.now() + reachedWithinMs
    for (;;) {
      try {
        return await stored(work)
      } catch (error) {
        if (!isTransient(error) || performance.now() > deadline) throw error
        await pause(lookEveryMs)
      }
    }
  }

  /** What the dead had claimed comes back when their claims run out; this takes the time until then away. */
  endClaims(): Promise<void> {
    return this.stored(endClaims)
  }

  /** When nothing is left to do: all that is not as it was told. */
  check(): Promise<string[]> {
    return this.stored(async (pool) => {
      await this.#untilAtRest(pool)
      const { bank, followers } = this.#options
      await followers?.endReading()
      return findCrashViolations(pool, { journal: this.journal, receiver: this.#receiver, bank, followers })
    })
  }

  figures() {
    const { arrivals } = this.#receiver
    return {
      orders: this.journal.orders.size,
      lagging: this.journal.lagging.length,
      refunds: this.journal.refunds.size,
      attempts: this.#options.bank?.payments.size ?? 0,
      arrivals: arrivals.size,
      atEndpoint: this.#options.followers?.arrivals.size ?? 0,
      events: this.#options.followers?.events.length ?? 0,
      repeated: [...arrivals.values()].filter((times) => times > 1).length,
    }
  }

  close(): void {
    this.#isOver = true
    this.#receiver.close()
  }

  async #untilAtRest(pool: Pool): Promise<void> {
    await this.#load
    const deadline = performance.now() + restWithinMs
    while (performance.now() < deadline && (await countWork(pool)) > 0) await pause(lookEveryMs)
  }
}
