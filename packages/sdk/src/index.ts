// The package's entry: the public interface of the SDK.
export type {
  BillAnswer,
  BillTotalsAnswer,
  CancelAnswer,
  CaptureAnswer,
  CreateAnswer,
  EventName,
  LinkAnswer,
  LinkCreateBody,
  LinkQueryAnswer,
  LinkState,
  LinkUses,
  OrderEventName,
  OrderListAnswer,
  OrderStatus,
  PaymentResult,
  QueryAnswer,
  RedirectParameters,
  RefundAnswer,
  RefundEventName,
  RefundInQuery,
  RefundResult,
  RefundStatus,
  ReleaseAnswer,
  SandboxAnswer,
  SandboxListenAnswer,
  ScanAnswer,
  WireAmount,
} from '@tillgate/protocol'
export {
  isFinalOrderStatus,
  isFinalRefundStatus,
  toDecimalText,
  toMinorUnits,
} from '@tillgate/protocol'
export type { BillLine } from './bill-lines.ts'
export type { Bill, Bills } from './bills.ts'
export type { CallbackHandler } from './callbacks/adapters.ts'
export type { CallbackAnswer, CallbackListener, HandlerOptions } from './callbacks/answer.ts'
export type { Callbacks } from './callbacks/callbacks.ts'
export type { CallbackEvent, OrderEvent, RefundEvent, UnknownEvent } from './callbacks/event.ts'
export { isStale, rememberInMemory, type SeenCallbacks } from './callbacks/stale.ts'
export type { RawBody, UnwrapOptions } from './callbacks/unwrap.ts'
export type { Credentials } from './credentials.ts'
export {
  AuthenticationError,
  type CallbackRefusal,
  CallbackVerificationError,
  ConflictError,
  ConnectionError,
  CredentialsError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  TillgateError,
  TimeoutError,
  UnavailableError,
  UnexpectedAnswerError,
} from './errors.ts'
export type { LinkReference, Links, NewLink } from './links.ts'
export type { CallOptions, ClientOptions, Fetch } from './options.ts'
export type { NewOrder, OrderFilter, OrderReference, Orders } from './orders.ts'
export type { WaitOptions } from './poll.ts'
export type { Redirects, VerifyRedirectOptions } from './redirects.ts'
export type { NewRefund, Refunds } from './refunds.ts'
export type { Sandbox } from './sandbox.ts'
export { Tillgate } from './tillgate.ts'
