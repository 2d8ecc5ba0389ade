// What merchants and operators do about disputes: list and show them, send evidence once, or accept them. The rail passes
// the response on; its answer changes the dispute.
import { randomUUID } from 'node:crypto'
import {
  type DisputeResponse,
  type EvidenceFileType,
  Failure,
  maxEvidenceFileBytes,
} from '@tillgate/protocol'
import { makeAuditEntry } from '../../../core/audit/audit-entries.ts'
import type { Context } from '../../../core/authority/context.ts'
import { bindWithin } from '../../../core/merchants/within.ts'
import type { OrderStore } from '../../../core/orders/store/orders.ts'
import type { ClockAndRandom } from '../../../platform/runtime/clock.ts'
import type { Vault } from '../../../platform/runtime/secrets/vault.ts'
import { type DisputeKey, type MerchantResponse, placeOfEvidence } from './rules/dispute.ts'
import type { DisputeFilter, DisputeStore, ListedDispute } from './store/disputes.ts'

export interface ManageDisputesParts extends ClockAndRandom {
  readonly stores: {
    readonly disputes: Pick<DisputeStore, 'list' | 'find' | 'respond'>
    readonly orders: Pick<OrderStore, 'findOrder'>
  }
  readonly vault: Vault
}

export interface Evidence {
  readonly text: string
  readonly file: Buffer | undefined
}

export type ManageDisputes = ReturnType<typeof makeManageDisputes>

type Parts = ManageDisputesParts

export function makeManageDisputes(parts: ManageDisputesParts) {
  return bindWithin(parts, { listDisputes, showDispute, sendEvidence, acceptDispute })
}

function listDisputes(
  parts: Parts,
  { merchantId }: Pick<Context, 'merchantId'>,
  filter: DisputeFilter,
): Promise<ListedDispute[]> {
  return parts.stores.disputes.list({ ...filter, merchantId: merchantId ?? filter.merchantId })
}

function showDispute(parts: Parts, _context: Context, key: DisputeKey): Promise<ListedDispute | undefined> {
  return parts.stores.disputes.find(key)
}

async function sendEvidence(
  parts: Parts,
  context: Context,
  key: DisputeKey,
  { text, file }: Evidence,
): Promise<ListedDispute> {
  const contentType = file && typeOf(file)
  if (file && !contentType)
    throw new Failure('invalid_field', {
      field: 'document',
      message: `The document must be a PDF, JPEG or PNG file of at most ${maxEvidenceFileBytes / 2 ** 20} MiB.`,
    })
  return respond(parts, context, key, {
    file,
    response: (givenAtMs) => ({
      kind: 'evidence',
      givenAtMs,
      evidenceId: randomUUID(),
      text,
      ...(contentType && { file: { name: `evidence.${endings[contentType]}`, contentType } }),
    }),
  })
}

function acceptDispute(
  parts: Parts,
  context: Context,
  key: DisputeKey,
  reason?: string,
): Promise<ListedDispute> {
  return respond(parts, context, key, { reason, response: (givenAtMs) => ({ kind: 'accept', givenAtMs }) })
}

const endings = { 'application/pdf': 'pdf', 'image/jpeg': 'jpg', 'image/png': 'png' } as const

/** By its first bytes. The file is passed on and never parsed. */
function typeOf(file: Buffer): EvidenceFileType | undefined {
  const begins = file.subarray(0, 8).toString('latin1')
  if (file.length > maxEvidenceFileBytes) return undefined
  if (begins.startsWith('%PDF-')) return 'application/pdf'
  if (begins.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  return begins === '\x89PNG\r\n\x1a\n' ? 'image/png' : undefined
}

interface Responding {
  readonly file?: Buffer | undefined
  readonly reason?: string | undefined
  readonly response: (givenAtMs: number) => MerchantResponse
}

async function respond(
  parts: Parts,
  context: Context,
  key: DisputeKey,
  { file, reason, response }: Responding,
): Promise<ListedDispute> {
  const { disputes, orders } = parts.stores
  const dispute = await disputes.find(key)
  const order = dispute && (await orders.findOrder(dispute))
  if (!dispute || !order?.transactionId)
    throw new Failure('not_found', { message: `This merchant has no dispute ${key.disputeId}.` })
  const given = response(parts.clock.now())
  const action = given.kind === 'accept' ? 'dispute.accept' : 'dispute.evidence'
  const entry = makeAuditEntry(parts, context, action, key.disputeId, { merchantId: key.merchantId, reason })
  const sealedFile = file && parts.vault.seal(file, placeOfEvidence(dispute))
  const { transactionId } = order
  if (!(await disputes.respond(dispute, { response: given, sealedFile, transactionId }, entry)))
    throw new Failure('status_does_not_allow', { message: whyNot(dispute, given.kind) })
  return (await disputes.find(key)) ?? dispute
}

function whyNot(dispute: ListedDispute, wanted: DisputeResponse): string {
  if (dispute.status !== 'open') return `The dispute is already ${dispute.status}.`
  if (dispute.response) return 'This dispute was already answered.'
  return wanted === 'accept'
    ? 'The rail does not pass on an acceptance now. Respond at the payment provider.'
    : 'The rail does not pass on evidence now. Respond at the payment provider.'
}
