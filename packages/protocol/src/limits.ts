// Every bound of the wire in one place. Lengths count Unicode code points; the relations that other code relies
// on are checked in limits.test.ts.
const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Of a whole request or callback, in bytes of UTF-8 on the wire. */
export const maxEnvelopeBytes = 256 * 1024
/** Objects and arrays inside each other; the deepest body of ours needs 4. */
export const maxJsonDepth = 16
/** Commas and colons outside of strings. An order of 100 goods has 1,400; each costs up to 1.5 µs to refuse. */
export const maxJsonMarks = 20_000
/** An envelope has ten fields, and is read before anybody has proved who they are. */
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
/** The newest orders of a link, in the answer of a query. */
export const maxListedLinkOrders = 50
export const maxListedOrders = 100
export const defaultListedOrders = 50
export const maxRailIdLength = 32
export const maxTransactionIdLength = 30
export const maxReferRefundNoLength = 64
export const maxRefundReasonLength = 256
/** Of the `msg` that gives a failed payment's or refund's reason. */
export const maxMessageLength = 1024

export const timestampWindowMs = 5 * minute
/** How long the signed parameters of the consumer's return count. */
export const maxRedirectAgeMs = 10 * minute
export const minExpiryMs = 5 * minute
export const maxExpiryMs = day
/** How long an order that a consumer begins at a link can be paid, unless the link says otherwise. */
export const defaultLinkPaymentMinutes = 60
export const maxPaymentTimeAheadMs = 5 * minute
export const maxSandboxAdvanceMs = 30 * day
/** Shorter than what proxies as a rule allow an answer to take. */
export const maxListenWaitMs = 25 * second
export const maxListenCursorLength = 32 * 1024
export const maxRequestIdLength = 64
export const maxListedRequests = 100

export const maxMajorUnits = 10n ** 15n
/** Fits a signed 64-bit integer; it is the lower bound of the two for currencies of 4 decimal places. */
export const maxMinorUnits = 10n ** 18n
/** What a double keeps exactly, whatever the digits are. */
export const maxNumberDigits = 15

export const minRsaBits = 2048
/** Verifying costs grow with the square of the size: past this a key is a burden on the gateway. */
export const maxRsaBits = 8192
export const aesKeyBytes = 32
export const aesNonceBytes = 12
export const aesTagBytes = 16
/** Two, so that a key can be replaced without a moment in which neither works. */
export const maxLiveKeys = 2

/** Of a message to a rail, of its answer and of a notification, in bytes of UTF-8. */
export const maxRailMessageBytes = 64 * 1024
export const railAnswerTimeoutMs = 10 * second
/** How far the timestamp of a signed message of a rail may be from the clock, both ways. */
export const webhookWindowMs = 5 * minute
export const maxRailReferenceLength = 128
export const maxRailReasonLength = 256
export const maxCheckAfterSeconds = 86_400
/** As a QR code of medium error correction it is still read from a screen. */
export const maxQrTextLength = 1024
export const maxInstructionLines = 20
export const maxInstructionLabelLength = 64
export const maxInstructionValueLength = 256
/** What Standard Webhooks 1.0 allows. */
export const minWebhookSecretBytes = 24
export const maxWebhookSecretBytes = 64
