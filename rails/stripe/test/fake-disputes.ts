// The fake's disputes. Stripe withdraws the amount and a fee when a dispute opens, and takes evidence once.
import type { FakeDisputes } from '../../kit/test/fake-provider.ts'
import type { makeFakeBalance } from './fake-balance.ts'
import type { Intent } from './fake-stripe.ts'
import { checkParameters, declared, type Form, found, Invalid, text, tree } from './stripe-requests.ts'

interface Dispute {
  readonly id: string
  readonly object: 'dispute'
  readonly amount: number
  readonly currency: string
  readonly payment_intent: string
  readonly reason: string
  readonly balance_transactions: {
    readonly amount: number
    readonly fee: number
    readonly currency: string
  }[]
  readonly evidence_details: { readonly due_by: number; submission_count: number }
  status: string
}

const fee = 1500
const week = 7 * 24 * 3600

export function makeFakeDisputes(parts: {
  readonly nowSeconds: () => number
  readonly balance: ReturnType<typeof makeFakeBalance>
  readonly intentOf: (transactionId: string) => Intent
  readonly post: (type: string, object: object, how?: { forged?: boolean }, tries?: number) => Promise<number>
}) {
  const disputes = new Map<string, Dispute>()
  const files = new Map<string, string>()
  const submitted = new Map<string, string[]>()

  function add(transactionId: string, status: string, amount?: number): Dispute {
    const intent = parts.intentOf(transactionId)
    const dispute: Dispute = {
      id: `dp_${disputes.size + 1}`,
      object: 'dispute',
      amount: amount ?? intent.amount,
      currency: intent.currency,
      payment_intent: intent.id,
      reason: 'product_not_received',
      balance_transactions: [],
      evidence_details: { due_by: parts.nowSeconds() + week, submission_count: 0 },
      status,
    }
    disputes.set(dispute.id, dispute)
    return dispute
  }

  const move = ({ id, currency, balance_transactions: moved }: Dispute, amount: number, taken: number) =>
    void moved.push(parts.balance.dispute(id, amount, taken, currency))

  const atProvider: FakeDisputes = {
    feeMinor: BigInt(fee),
    async open(transactionId, amount) {
      const dispute = add(transactionId, 'needs_response', amount)
      move(dispute, -dispute.amount, fee)
      await parts.post('charge.dispute.created', dispute)
      return dispute.id
    },
    async inquire(transactionId) {
      const dispute = add(transactionId, 'warning_needs_response')
      await parts.post('charge.dispute.created', dispute)
      return dispute.id
    },
    async decide(disputeId, result) {
      const dispute = found(disputes, disputeId)
      dispute.status = result
      if (result === 'won') move(dispute, dispute.amount, 0)
      await parts.post('charge.dispute.closed', dispute)
    },
    sendWebhook: (disputeId, how) =>
      // The webhook claims that the dispute is lost, whatever its status.
      parts.post('charge.dispute.closed', { ...found(disputes, disputeId), status: 'lost' }, how, 1),
    evidence: (disputeId) => submitted.get(disputeId) ?? [],
  }

  return {
    atProvider,

    list: (query: URLSearchParams): object => ({
      object: 'list',
      url: '/v1/disputes',
      has_more: false,
      data: [...disputes.values()]
        .filter(({ payment_intent: of }) => of === query.get('payment_intent'))
        .reverse(),
    }),

    upload(body: string): object {
      const names = [...body.matchAll(/ name="(\w+)"/g)].map(([, name = '']) => name)
      checkParameters(Object.fromEntries(names.map((name) => [name, ''])), declared.file, '')
      if (!/name="purpose"\r\n\r\ndispute_evidence\r\n/.test(body)) throw new Invalid('Invalid purpose.')
      const [, content] = /Content-Type: (?:application\/pdf|image\/\w+)\r\n\r\n(.*?)\r\n--/s.exec(body) ?? []
      if (content === undefined) throw new Invalid('Invalid file.')
      const id = `file_${files.size + 1}`
      files.set(id, content)
      return { id, object: 'file', purpose: 'dispute_evidence' }
    },

    change(id: string, isClosed: boolean, form: Form): object {
      const dispute = found(disputes, id)
      checkParameters(form, isClosed ? declared.disputeClose : declared.dispute, '')
      if (dispute.status !== 'needs_response') throw new Invalid('This dispute is already under review.')
      if (isClosed) {
        dispute.status = 'lost'
        return dispute
      }
      const evidence = tree(form, 'evidence')
      checkParameters(evidence, declared.evidence, 'evidence')
      const { uncategorized_file: file } = evidence
      const parts = [
        ...('uncategorized_text' in evidence ? [text(evidence, 'uncategorized_text')] : []),
        ...(typeof file === 'string' ? [found(files, file)] : []),
      ]
      if (text(form, 'submit') !== 'true') throw new Invalid('This fake stages nothing.')
      submitted.set(id, [...(submitted.get(id) ?? []), parts.join(' · ')])
      dispute.status = 'under_review'
      dispute.evidence_details.submission_count += 1
      return dispute
    },
  }
}
