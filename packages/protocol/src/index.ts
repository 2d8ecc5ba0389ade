// The package's entry: everything that the gateway and the SDK may use.
export * from './codes.ts'
export * from './currencies.ts'
export { describeClock, describeDuration } from './duration.ts'
export { decryptBytes, encryptText } from './encryption.ts'
export * from './envelope.ts'
export * from './events.ts'
export * from './ids.ts'
export { inexactNumberText, type Json, JsonError, type JsonObject, readJson } from './json/json.ts'
export * from './keys.ts'
export * from './limits.ts'
export * from './messages/answers.ts'
export * from './messages/bills.ts'
export * from './messages/captures.ts'
export * from './messages/create.ts'
export * from './messages/create-body.ts'
export { didYouMean, editDistance } from './messages/edit-distance.ts'
export * from './messages/links.ts'
export * from './messages/order-list.ts'
export * from './messages/requests.ts'
export * from './messages/results.ts'
export * from './messages/sandbox-listen.ts'
export * from './messages/sandbox-requests.ts'
export * from './messages/scans.ts'
export { type IgnoredField, type Ignoring, ignoring } from './messages/unread-fields.ts'
export * from './methods.ts'
export {
  digitsOf,
  toDecimalText,
  toMinorUnits,
  toPositiveMinorUnits,
  toWireAmount,
  type WireAmount,
} from './money.ts'
export {
  type OpenedEnvelope,
  type OpeningKeys,
  type OpeningTools,
  openCallback,
  openingTools,
  openingToolsHere,
  openRequest,
  openRequestEnvelope,
} from './opening.ts'
export * from './rail/answers.ts'
export * from './rail/captures.ts'
export * from './rail/disputes.ts'
export * from './rail/messages.ts'
export * from './rail/notifications.ts'
export * from './rail/response-signature.ts'
export * from './rail/settlement-report.ts'
export * from './rail/webhook-signature.ts'
export * from './redirect.ts'
export {
  type CallbackMessage,
  type RequestMessage,
  type SealingKeys,
  type SealingTools,
  sealCallback,
  sealingTools,
  sealRequest,
} from './sealing.ts'
export { signText, verifyText } from './signing.ts'
export * from './statuses.ts'
export { Type } from './type.ts'
export { makeChecker, makeReader } from './validation.ts'
