// Every limit of the protocol. Lengths count Unicode code points. limits.test.ts checks the relations that other code
// relies on.
const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** For a whole request or callback, in bytes of UTF-8. */
export const maxEnvelopeBytes = 256 * 1024
/** Nested objects and arrays; our deepest body needs 4. */
export const maxJsonDepth = 16
/** Commas and colons outside of strings. An order of 100 goods has 1,400; each costs up to 1.5 µs to reject. */
export const maxJsonMarks = 20_000
/** An envelope has ten fields, and is parsed before its sender is authenticated. */
export const maxEnvelopeMarks = 64

export const maxMethodLength = 64

export const maxGoods = 100
export const maxGoodsQuantity = 999_999_999
export const goodsQuantityDecimals = 6
export const maxOrderNoLength = 64
export const maxOrderDescriptionLength = 256
export const maxReferenceGoodsIdLength = 64
export const maxGoodsNameLength = 256
export const maxGoodsDescLength = 256
export const maxShippingNameLength = 256
export const maxShippingAddressLength = 512
export const maxAttachLength = 1024
export const maxUrlLength = 2048
export const maxPaymentIdLength = 32
export const maxRefundIdLength = 32
export const maxLinkIdLength = 32
export const maxLinkNoLength = 64
export const maxLinkTitleLength = 256
/** The newest orders of a link in a query's response. */
export const maxListedLinkOrders = 50
export const maxListedOrders = 100
export const defaultListedOrders = 50
export const maxRailIdLength = 32
export const maxTransactionIdLength = 30
export const maxReferRefundNoLength = 64
export const maxReferCaptureNoLength = 64
export const maxPayCodeLength = 32
export const maxRefundReasonLength = 256
/** For the `msg` with the reason of a failed payment or refund. */
export const maxMessageLength = 1024

export const timestampWindowMs = 5 * minute
/** The validity of the signed parameters of the consumer's return. */
export const maxRedirectAgeMs = 10 * minute
export const minExpiryMs = 5 * minute
export const maxExpiryMs = day
/** The default expiry of an order that a consumer creates at a link. */
export const defaultLinkPaymentMinutes = 60
export const maxPaymentTimeAheadMs = 5 * minute
export const maxSandboxAdvanceMs = 30 * day
/** Shorter than the usual response timeout of proxies. */
export const maxListenWaitMs = 25 * second
export const maxListenCursorLength = 32 * 1024
export const maxRequestIdLength = 64
export const maxListedRequests = 100

export const maxMajorUnits = 10n ** 15n
/** Fits a signed 64-bit integer, also for currencies with 4 decimal places. */
export const maxMinorUnits = 10n ** 18n
/** A double keeps any number of this length exactly. */
export const maxNumberDigits = 15

export const minRsaBits = 2048
/** The cost of verification grows with the square of the size. */
export const maxRsaBits = 8192
export const aesKeyBytes = 32
export const aesNonceBytes = 12
export const aesTagBytes = 16
/** Two, so that a key can be replaced without interruption. */
export const maxLiveKeys = 2

/** For a message to a rail, its response, and a notification, in bytes of UTF-8. */
export const maxRailMessageBytes = 64 * 1024
export const railAnswerTimeoutMs = 10 * second
/** The maximum difference between the clock and the timestamp of a rail's signed message, in both directions. */
export const webhookWindowMs = 5 * minute
export const maxRailReferenceLength = 128
export const maxDisputeIdLength = 36
export const maxRailReasonLength = 256
export const maxCheckAfterSeconds = 86_400
/** A QR code of this length with medium error correction can still be scanned from a screen. */
export const maxQrTextLength = 1024
export const maxInstructionLines = 20
export const maxInstructionLabelLength = 64
export const maxInstructionValueLength = 256
/** The minimum of Standard Webhooks 1.0. */
export const minWebhookSecretBytes = 24
export const maxWebhookSecretBytes = 64
