// How payments are made during a run: by the gateway's sandbox, by a command, or by a person.
import { spawn } from 'node:child_process'
import type { Gateway } from './gateway.ts'
import { codeOf } from './gateway.ts'
import { NotTestable } from './outcome.ts'

export type Outcome = 'success' | 'failed' | 'refund_fails'

export interface Hooks {
  pay(order: PayableOrder, outcome: Outcome): Promise<void>
  /** Advances one order's time; false if the real time must pass. */
  advance(paymentId: string, milliseconds: number): Promise<boolean>
}

export interface PayableOrder {
  readonly paymentId: string
  readonly checkoutUrl: string
}

/** By service.sandbox.pay and service.sandbox.advance. */
export function sandboxHooks({ send }: Pick<Gateway, 'send'>): Hooks {
  const isDone = async (method: string, body: object) => {
    const { json } = await send(method, body)
    return json !== undefined && codeOf(json) === 20000
  }
  return {
    async pay({ paymentId }, outcome) {
      if (!(await isDone('service.sandbox.pay', { paymentId, outcome })))
        throw new NotTestable(
          'this gateway does not pay by service.sandbox.pay; use --pay-command or --pay manual',
        )
    },
    advance: (paymentId, milliseconds) => isDone('service.sandbox.advance', { paymentId, milliseconds }),
  }
}

/** A shell command, with the order and the wanted outcome in its environment. */
export function commandHooks(command: string): Hooks {
  return {
    async pay({ paymentId, checkoutUrl }, outcome) {
      const environment = { PAYMENT_ID: paymentId, CHECKOUT_URL: checkoutUrl, OUTCOME: outcome }
      const code = await new Promise<number | null>((resolve, reject) => {
        spawn(command, {
          shell: true,
          stdio: ['ignore', 'ignore', 'inherit'],
          env: { ...process.env, ...environment },
        })
          .on('error', reject)
          .on('exit', resolve)
      })
      if (code !== 0)
        throw new NotTestable(`--pay-command ended with ${code} for the outcome ${outcome} of ${paymentId}`)
    },
    advance: async () => false,
  }
}

/** A person, who is asked to pay within the time in which the suite waits for callbacks. */
export function manualHooks(print: (line: string) => void): Hooks {
  return {
    async pay({ checkoutUrl }, outcome) {
      if (outcome === 'refund_fails') throw new NotTestable('a person cannot make a later refund fail')
      print(`Pay so that the payment ${outcome === 'success' ? 'succeeds' : 'fails'}: ${checkoutUrl}`)
    },
    advance: async () => false,
  }
}
