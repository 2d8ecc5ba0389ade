// Made by scripts/documentation.ts from the sources of the SDK and the schemas of the protocol.
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface BillAnswer {
    /** The day, in UTC. A date such as 2026-11-16. */
    date: string;
    /** By currency. All other amounts add up to `closing`. */
    totals: {
        /** The currency. An ISO 4217 code. */
        currency: string;
        /** The balance at the start of the day. Zero or more. */
        opening: number | string;
        /** Movements of earlier days that were already billed. Usually 0. An amount, which may be negative. */
        late: number | string;
        /** Payments, before fees. Zero or more. */
        payments: number | string;
        /** Refunds: zero or negative. An amount, which may be negative. */
        refunds: number | string;
        /** Fees, less returned fees. An amount, which may be negative. */
        fees: number | string;
        /** Payouts, less returned payouts. An amount, which may be negative. */
        payouts: number | string;
        /** Corrections by the operator. An amount, which may be negative. */
        corrections: number | string;
        /** The balance at the end of the day: the sum of all others. Zero or more. */
        closing: number | string;
    }[];
    /** The number of lines, without opening and closing balances. A whole number from 0 to 9007199254740991. */
    lineCount: number | string;
    /** The size of the file. A whole number from 0 to 9007199254740991. */
    byteCount: number | string;
    /** The SHA-256 of the file, as 64 hexadecimal digits. 64 characters. */
    sha256: string;
    /** The CSV file, for five minutes, without a signature. At most 2048 characters. */
    downloadUrl: string;
    /** When downloadUrl expires. In milliseconds. */
    downloadExpiryTime: number;
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
export type BillTotalsAnswer = BillAnswer['totals'][number];
export interface CancelAnswer {
    /** The payment order’s number. 1 to 32 characters. */
    paymentId: string;
    /** The orderNo of the create request. 1 to 64 characters. */
    referOrderNo: string;
    /** The payment order’s status. Allowed: `cancelled`. */
    status: 'cancelled';
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
export interface CaptureAnswer {
    /** The payment order’s number. 1 to 32 characters. */
    paymentId: string;
    /** The orderNo of the create request. 1 to 64 characters. */
    referOrderNo: string;
    /** Your number for the capture, unique within the order. 1 to 64 characters. */
    referCaptureNo: string;
    /** The transaction’s number. 1 to 30 characters. */
    transactionId: string;
    /** The captured amount. Zero or more. */
    captureAmount: number | string;
    /** `capturing`: the rail has not answered yet; repeat the request. Allowed: `captured`, `capturing`, `failed`. */
    captureStatus: 'captured' | 'capturing' | 'failed';
    /** The payment order’s status. Allowed: `pending`, `confirming`, `success`, `failed`, `timeout`, `cancelled`. */
    status: OrderStatus;
    /** The currency. An ISO 4217 code. */
    currency: string;
    /** The amount that the consumer agreed to. Zero or more. */
    authorizedAmount: number | string;
    /** The sum of all captures. Zero or more. */
    capturedAmount: number | string;
    /** What can still be captured. Zero once the authorization ended. Zero or more. */
    remainingAmount: number | string;
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
/**
 * - `pending`: The order waits for the consumer to pay.
 * - `confirming`: The consumer submitted the payment; the gateway is processing it.
 * - `success`: Paid.
 * - `failed`: The payment failed; `msg` has the reason.
 * - `timeout`: Not paid before paymentExpiryTime.
 * - `cancelled`: The merchant or the operator cancelled the order before it was paid.
 */
export type OrderStatus = 'pending' | 'confirming' | 'success' | 'failed' | 'timeout' | 'cancelled';
export interface CreateAnswer {
    /** The payment order’s number. 1 to 32 characters. */
    paymentId: string;
    /** The orderNo of the create request. 1 to 64 characters. */
    referOrderNo: string;
    /** The channel of the request. Allowed: `WEB`, `APP`. */
    channel: 'WEB' | 'APP';
    /** Redirect the consumer here to pay. At most 2048 characters. */
    checkoutUrl: string;
    /** `pending` for a new order; the current status for a repeat. Allowed: `pending`, `confirming`, `success`, `failed`, `timeout`, `cancelled`. */
    status: OrderStatus;
    /** The attach of the create request, if any. 1 to 1024 characters; may have line breaks and tabs. */
    attach?: string;
    /** What will probably not work, although the order was accepted. Absent where there is nothing. */
    warnings?: {
        /** The field that it is about. 1 to 128 characters. */
        field: string;
        /** What to look at. 1 to 1024 characters. */
        msg: string;
    }[];
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
export type EventName = OrderEventName | RefundEventName;
/**
 * - `payment.order.confirming`: The consumer submitted the payment; it is being processed.
 * - `payment.order.timeout`: The order was not paid in time.
 * - `payment.order.success`: The order is paid.
 * - `payment.order.failed`: The payment failed, or the gateway’s operator cancelled the order; `status` says which, `msg` has the reason.
 */
export type OrderEventName = 'payment.order.confirming' | 'payment.order.timeout' | 'payment.order.success' | 'payment.order.failed';
/**
 * - `payment.refund.success`: The refund is complete.
 * - `payment.refund.failed`: The refund failed; `msg` has the reason.
 */
export type RefundEventName = 'payment.refund.success' | 'payment.refund.failed';
export interface LinkAnswer {
    /** The link’s number from create. 1 to 32 characters. */
    linkId: string;
    /** Your number for the link, permanently unique. 1 to 64 characters. */
    linkNo: string;
    /** The page for consumers. `/qr.svg` and `/qr.png` after it are its QR code. At most 2048 characters. */
    linkUrl: string;
    /** `active`; `paused` by the operator; `closed`; `expired` after linkExpiryTime; `paid`, for a link for one payment. Allowed: `active`, `paused`, `closed`, `expired`, `paid`. */
    status: 'active' | 'paused' | 'closed' | 'expired' | 'paid';
    /** The title that the consumer sees. 1 to 256 characters, not blank. */
    title: string;
    /** `once`: one payment. `many`: any number. Allowed: `once`, `many`. */
    uses: 'once' | 'many';
    /** The currency. An ISO 4217 code. */
    currency: string;
    /** What the consumer pays. Absent if the consumer enters an amount. Zero or more. */
    amount?: number | string;
    /** The minimum amount. Zero or more. */
    leastAmount?: number | string;
    /** The maximum amount. Zero or more. */
    mostAmount?: number | string;
    /** No new payment starts after this time. In milliseconds. */
    linkExpiryTime?: number;
    /** When the link was created. In milliseconds. */
    createTime: number;
    /** The number of successful payments. A whole number from 0 to 9007199254740991. */
    paidCount: number | string;
    /** Their sum. Zero or more. */
    paidAmount: number | string;
    /** The refunded amount. Zero or more. */
    refundedAmount: number | string;
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
export interface LinkCreateBody {
    /** Your number for the link, permanently unique. 1 to 64 characters. */
    linkNo: string;
    /** The title that the consumer sees. 1 to 256 characters, not blank. */
    title: string;
    /** The currency. An ISO 4217 code. */
    currency: string;
    /** What the consumer pays. If omitted, the consumer enters an amount. An amount greater than zero. */
    amount?: number | string;
    /** The minimum amount. Not with `amount`. An amount greater than zero. */
    leastAmount?: number | string;
    /** The maximum amount. Not with `amount`. An amount greater than zero. */
    mostAmount?: number | string;
    /** The goods. Default: `title`. With `amount`, their sum must equal it. A list of 1 to 100 items. */
    goods?: {
        /** Your number for the good. 1 to 64 characters. */
        referenceGoodsId: string;
        /** The name that the consumer sees. 1 to 256 characters, not blank. */
        goodsName: string;
        /** The description. At most 256 characters; may have line breaks and tabs. */
        goodsDesc?: string;
        /** The price of one unit. Zero or more. */
        goodsAmount?: number | string;
        /** Another name of goodsAmount. If you send both, they must be equal. Zero or more. */
        goodsUnitAmount?: number | string;
        /** The tax on one unit. Zero or more. */
        tax?: number | string;
        /** The quantity, such as 0.5 for half a kilogram. Default 1. A number greater than 0, at most 999999999, with at most 6 decimal places. */
        goodsQuantity?: number | string;
    }[];
    /** `once`: one payment. `many`: any number. Allowed: `once`, `many`. */
    uses?: 'once' | 'many';
    /** No new payment starts after this time. Optional: without it, the link does not expire. In milliseconds. */
    linkExpiryTime?: number | string;
    /** How many minutes a started payment stays open. Default 60. A whole number from 5 to 1440. */
    paymentMinutes?: number | string;
    /** Receives the callbacks of its orders. At most 2048 characters. */
    callbackUrl?: string;
    /** Where the consumer returns at the end. At most 2048 characters. */
    redirectUrl?: string;
}
export interface LinkQueryAnswer {
    /** The link’s number from create. 1 to 32 characters. */
    linkId: string;
    /** Your number for the link, permanently unique. 1 to 64 characters. */
    linkNo: string;
    /** The page for consumers. `/qr.svg` and `/qr.png` after it are its QR code. At most 2048 characters. */
    linkUrl: string;
    /** `active`; `paused` by the operator; `closed`; `expired` after linkExpiryTime; `paid`, for a link for one payment. Allowed: `active`, `paused`, `closed`, `expired`, `paid`. */
    status: 'active' | 'paused' | 'closed' | 'expired' | 'paid';
    /** The title that the consumer sees. 1 to 256 characters, not blank. */
    title: string;
    /** `once`: one payment. `many`: any number. Allowed: `once`, `many`. */
    uses: 'once' | 'many';
    /** The currency. An ISO 4217 code. */
    currency: string;
    /** What the consumer pays. Absent if the consumer enters an amount. Zero or more. */
    amount?: number | string;
    /** The minimum amount. Zero or more. */
    leastAmount?: number | string;
    /** The maximum amount. Zero or more. */
    mostAmount?: number | string;
    /** No new payment starts after this time. In milliseconds. */
    linkExpiryTime?: number;
    /** When the link was created. In milliseconds. */
    createTime: number;
    /** The number of successful payments. A whole number from 0 to 9007199254740991. */
    paidCount: number | string;
    /** Their sum. Zero or more. */
    paidAmount: number | string;
    /** The refunded amount. Zero or more. */
    refundedAmount: number | string;
    /** The newest 50 orders, newest first. */
    orders: {
        /** The payment order’s number. 1 to 32 characters. */
        paymentId: string;
        /** Begins with the linkId. 1 to 64 characters. */
        orderNo: string;
        /** The payment order’s status. Allowed: `pending`, `confirming`, `success`, `failed`, `timeout`, `cancelled`. */
        status: OrderStatus;
        /** The amount to pay. Zero or more. */
        paymentAmount: number | string;
        /** The refunded amount. Zero or more. */
        refundedAmount: number | string;
        /** When the consumer started to pay. In milliseconds. */
        createTime: number;
        /** When the order was paid. Absent until paid. In milliseconds. */
        paidTime?: number;
    }[];
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
export type LinkState = 'active' | 'paused' | 'closed' | 'expired' | 'paid';
export type LinkUses = 'once' | 'many';
export interface OrderListAnswer {
    /** Newest first, with the fields of query. A list of 0 to 100 items. */
    orders: {
        /** The status of the newest refund, or of the payment without refunds. Allowed: `pending`, `confirming`, `success`, `failed`, `timeout`, `cancelled`, `refunding`, `refund_success`, `refund_failed`. */
        status: 'pending' | 'confirming' | 'success' | 'failed' | 'timeout' | 'cancelled' | 'refunding' | 'refund_success' | 'refund_failed';
        /** The payment’s transaction number; each refund has its own. 1 to 30 characters. */
        transactionId?: string;
        /** The reason of a failure; otherwise empty. At most 1024 characters. */
        msg: string;
        /** The merchant. 18 letters or digits. */
        merchantId: string;
        /** The referRefundNo of the newest refund, or the orderNo without refunds. 1 to 64 characters. */
        referOrderNo: string;
        /** The amount paid, including refunded amounts. Absent until paid. Zero or more. */
        payAmount?: number | string;
        /** The merchant’s fee, if any. Zero or more. */
        fee?: number | string;
        /** payAmount less fee. Absent without a fee. Zero or more. */
        netAmount?: number | string;
        /** The currency. An ISO 4217 code. */
        currency: string;
        /** The paymentTime of the create request. In milliseconds. */
        paymentTime: number;
        /** When the order was paid. Absent until paid. In milliseconds. */
        paidTime?: number;
        /** The payment order’s number. 1 to 32 characters. */
        paymentId: string;
        /** The order’s orderNo. 1 to 64 characters. */
        orderNo: string;
        /** The payment’s status, without refunds. Allowed: `pending`, `confirming`, `success`, `failed`, `timeout`, `cancelled`. */
        paymentStatus: OrderStatus;
        /** The amount to pay; of a captured order, the captured amount. Zero or more. */
        paymentAmount: number | string;
        /** The payment method: `wallet` or the rail’s id. Absent until selected. 1 to 32 characters. */
        payMethod?: string;
        /** All refunds, oldest first. */
        refunds: {
            /** The refund’s number. 1 to 32 characters. */
            refundId: string;
            /** The referRefundNo of the refund request. 1 to 64 characters. */
            referRefundNo: string;
            /** The amount of the refund. Zero or more. */
            refundAmount: number | string;
            /** The refund’s status. Allowed: `refunding`, `refund_success`, `refund_failed`. */
            status: RefundStatus;
            /** The time of the refund. In milliseconds. */
            refundTime: number;
            /** When the refund ended, successfully or not. In milliseconds. */
            completeTime?: number;
            /** The transaction’s number. 1 to 30 characters. */
            transactionId?: string;
            /** The reason of a failure; otherwise empty. At most 1024 characters. */
            msg: string;
        }[];
        /** The authorization of an order with captureMode `manual`. */
        authorization?: {
            /** The amount that the consumer agreed to. Zero or more. */
            authorizedAmount: number | string;
            /** The sum of all captures. Zero or more. */
            capturedAmount: number | string;
            /** What can still be captured. Zero once the authorization ended. Zero or more. */
            remainingAmount: number | string;
            /** When the authorization ends. Absent until the consumer’s payment is authorized. In milliseconds. */
            expiresAt?: number;
            /** All captures, oldest first. */
            captures: {
                /** Your number for the capture, unique within the order. 1 to 64 characters. */
                referCaptureNo: string;
                /** The captured amount. Zero or more. */
                captureAmount: number | string;
                /** `capturing`: the rail has not answered yet; repeat the request. Allowed: `captured`, `capturing`, `failed`. */
                captureStatus: 'captured' | 'capturing' | 'failed';
                /** The transaction’s number. 1 to 30 characters. */
                transactionId: string;
                /** When the amount was captured. In milliseconds. */
                captureTime?: number;
                /** Why nothing was captured. 1 to 256 characters. */
                msg?: string;
            }[];
        };
        /** The attach of the create request, if any. 1 to 1024 characters; may have line breaks and tabs. */
        attach?: string;
    }[];
    /** Send it to get the next page. Absent on the last page. 1 to 32 characters. */
    cursor?: string;
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
/**
 * - `refunding`: The refund is accepted and being processed.
 * - `refund_success`: The money was returned to the consumer.
 * - `refund_failed`: The refund failed; `msg` has the reason. No money moved.
 */
export type RefundStatus = 'refunding' | 'refund_success' | 'refund_failed';
export interface PaymentResult {
    /** The merchant. 18 letters or digits. */
    merchantId: string;
    /** The payment order’s number. 1 to 32 characters. */
    paymentId: string;
    /** The orderNo of the create request. 1 to 64 characters. */
    referOrderNo: string;
    /** The same as referOrderNo. 1 to 64 characters. */
    outOrderNo: string;
    /** The transaction’s number. 1 to 30 characters. */
    transactionId?: string;
    /** The amount of the payment; of a captured order, the captured amount. Zero or more. */
    paymentAmount: number | string;
    /** With captureMode `manual`: the amount that the consumer agreed to. Zero or more. */
    authorizedAmount?: number | string;
    /** With captureMode `manual`: the sum of all captures. Zero or more. */
    capturedAmount?: number | string;
    /** The currency. An ISO 4217 code. */
    currency: string;
    /** The paymentTime of the create request. In milliseconds. */
    paymentTime: number;
    /** When the order reached its final status, successfully or not. In milliseconds. */
    completeTime?: number;
    /** When the order was paid. Only with the status success. In milliseconds. */
    paidTime?: number;
    /** The payment order’s status. Allowed: `pending`, `confirming`, `success`, `failed`, `timeout`, `cancelled`. */
    status: OrderStatus;
    /** The reason of a failure; otherwise empty. At most 1024 characters. */
    msg: string;
    /** The attach of the create request, if any. 1 to 1024 characters; may have line breaks and tabs. */
    attach?: string;
}
export interface QueryAnswer {
    /** The status of the newest refund, or of the payment without refunds. Allowed: `pending`, `confirming`, `success`, `failed`, `timeout`, `cancelled`, `refunding`, `refund_success`, `refund_failed`. */
    status: 'pending' | 'confirming' | 'success' | 'failed' | 'timeout' | 'cancelled' | 'refunding' | 'refund_success' | 'refund_failed';
    /** The payment’s transaction number; each refund has its own. 1 to 30 characters. */
    transactionId?: string;
    /** The reason of a failure; otherwise empty. At most 1024 characters. */
    msg: string;
    /** The merchant. 18 letters or digits. */
    merchantId: string;
    /** The referRefundNo of the newest refund, or the orderNo without refunds. 1 to 64 characters. */
    referOrderNo: string;
    /** The amount paid, including refunded amounts. Absent until paid. Zero or more. */
    payAmount?: number | string;
    /** The merchant’s fee, if any. Zero or more. */
    fee?: number | string;
    /** payAmount less fee. Absent without a fee. Zero or more. */
    netAmount?: number | string;
    /** The currency. An ISO 4217 code. */
    currency: string;
    /** The paymentTime of the create request. In milliseconds. */
    paymentTime: number;
    /** When the order was paid. Absent until paid. In milliseconds. */
    paidTime?: number;
    /** The payment order’s number. 1 to 32 characters. */
    paymentId: string;
    /** The order’s orderNo. 1 to 64 characters. */
    orderNo: string;
    /** The payment’s status, without refunds. Allowed: `pending`, `confirming`, `success`, `failed`, `timeout`, `cancelled`. */
    paymentStatus: OrderStatus;
    /** The amount to pay; of a captured order, the captured amount. Zero or more. */
    paymentAmount: number | string;
    /** The payment method: `wallet` or the rail’s id. Absent until selected. 1 to 32 characters. */
    payMethod?: string;
    /** All refunds, oldest first. */
    refunds: {
        /** The refund’s number. 1 to 32 characters. */
        refundId: string;
        /** The referRefundNo of the refund request. 1 to 64 characters. */
        referRefundNo: string;
        /** The amount of the refund. Zero or more. */
        refundAmount: number | string;
        /** The refund’s status. Allowed: `refunding`, `refund_success`, `refund_failed`. */
        status: RefundStatus;
        /** The time of the refund. In milliseconds. */
        refundTime: number;
        /** When the refund ended, successfully or not. In milliseconds. */
        completeTime?: number;
        /** The transaction’s number. 1 to 30 characters. */
        transactionId?: string;
        /** The reason of a failure; otherwise empty. At most 1024 characters. */
        msg: string;
    }[];
    /** The authorization of an order with captureMode `manual`. */
    authorization?: {
        /** The amount that the consumer agreed to. Zero or more. */
        authorizedAmount: number | string;
        /** The sum of all captures. Zero or more. */
        capturedAmount: number | string;
        /** What can still be captured. Zero once the authorization ended. Zero or more. */
        remainingAmount: number | string;
        /** When the authorization ends. Absent until the consumer’s payment is authorized. In milliseconds. */
        expiresAt?: number;
        /** All captures, oldest first. */
        captures: {
            /** Your number for the capture, unique within the order. 1 to 64 characters. */
            referCaptureNo: string;
            /** The captured amount. Zero or more. */
            captureAmount: number | string;
            /** `capturing`: the rail has not answered yet; repeat the request. Allowed: `captured`, `capturing`, `failed`. */
            captureStatus: 'captured' | 'capturing' | 'failed';
            /** The transaction’s number. 1 to 30 characters. */
            transactionId: string;
            /** When the amount was captured. In milliseconds. */
            captureTime?: number;
            /** Why nothing was captured. 1 to 256 characters. */
            msg?: string;
        }[];
    };
    /** The attach of the create request, if any. 1 to 1024 characters; may have line breaks and tabs. */
    attach?: string;
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
export interface RedirectParameters {
    /** The order's merchant. */
    readonly merchantId: string;
    /** The payment order’s number. */
    readonly paymentId: string;
    /** The orderNo of the create request. */
    readonly referOrderNo: string;
    /** The order’s status when the consumer left the checkout. */
    readonly status: OrderStatus;
    /** When the consumer left the checkout, in milliseconds since 1970: 13 digits. */
    readonly timestamp: string;
}
export interface RefundAnswer {
    /** The refund’s number. 1 to 32 characters. */
    refundId: string;
    /** The payment order’s number. 1 to 32 characters. */
    paymentId: string;
    /** The referRefundNo of the refund request. 1 to 64 characters. */
    referRefundNo: string;
    /** The amount of the refund. Zero or more. */
    refundAmount: number | string;
    /** The currency. An ISO 4217 code. */
    currency: string;
    /** `refunding` for a new refund; the current status for a repeat. Allowed: `refunding`, `refund_success`, `refund_failed`. */
    status: RefundStatus;
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
export type RefundInQuery = QueryAnswer['refunds'][number];
export interface RefundResult {
    /** The merchant. 18 letters or digits. */
    merchantId: string;
    /** The refund’s number. 1 to 32 characters. */
    refundId: string;
    /** The payment order’s number. 1 to 32 characters. */
    paymentId: string;
    /** The referRefundNo of the refund request. 1 to 64 characters. */
    referRefundNo: string;
    /** The transaction’s number. 1 to 30 characters. */
    transactionId?: string;
    /** The amount of the refund. Zero or more. */
    refundAmount: number | string;
    /** The currency. An ISO 4217 code. */
    currency: string;
    /** The time of the refund. In milliseconds. */
    refundTime: number;
    /** When the refund ended, successfully or not. In milliseconds. */
    completeTime?: number;
    /** The refund’s status. Allowed: `refunding`, `refund_success`, `refund_failed`. */
    status: RefundStatus;
    /** The reason of a failure; otherwise empty. At most 1024 characters. */
    msg: string;
    /** The attach of the create request, if any. 1 to 1024 characters; may have line breaks and tabs. */
    attach?: string;
}
export interface ReleaseAnswer {
    /** The payment order’s number. 1 to 32 characters. */
    paymentId: string;
    /** The orderNo of the create request. 1 to 64 characters. */
    referOrderNo: string;
    /** The payment order’s status. Allowed: `pending`, `confirming`, `success`, `failed`, `timeout`, `cancelled`. */
    status: OrderStatus;
    /** The currency. An ISO 4217 code. */
    currency: string;
    /** The amount that the consumer agreed to. Zero or more. */
    authorizedAmount: number | string;
    /** The sum of all captures. Zero or more. */
    capturedAmount: number | string;
    /** What can still be captured. Zero once the authorization ended. Zero or more. */
    remainingAmount: number | string;
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
export interface SandboxAnswer {
    /** The payment order’s number. 1 to 32 characters. */
    paymentId: string;
    /** The payment order’s status. Allowed: `pending`, `confirming`, `success`, `failed`, `timeout`, `cancelled`. */
    status: OrderStatus;
    /** The transaction’s number. 1 to 30 characters. */
    transactionId?: string;
    /** What the consumer does next. Required with `pending`. */
    nextAction?: {
        /** How the consumer pays. Allowed: `redirect`, `qr`, `instructions`. */
        kind: 'redirect' | 'qr' | 'instructions';
        /** With `redirect`: the page for the consumer. At most 2048 characters. */
        url?: string;
        /** With `qr`: the content of the code. 1 to 1024 characters. */
        text?: string;
        /** With `qr`, optional: what to do with the code. 1 to 256 characters. */
        caption?: string;
        /** With `instructions`: what the consumer copies, such as an account and a reference. A list of 1 to 20 items. */
        lines?: {
            /** The label. 1 to 64 characters. */
            label: string;
            /** The value. 1 to 256 characters. */
            value: string;
        }[];
    };
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
export interface SandboxListenAnswer {
    /** Oldest first; empty if none arrived in time. */
    callbacks: {
        /** The callback envelope, as it would be sent. JSON text. */
        envelope: string;
        /** Whether this is the first delivery or a resend. Allowed: `first`, `resend`. */
        kind: 'first' | 'resend';
        /** When the callback was created or resent. In milliseconds. */
        at: number;
        /** The payment order’s number. 1 to 32 characters. */
        paymentId: string;
        /** Where the gateway sends the callback. At most 2048 characters. */
        callbackUrl: string;
    }[];
    /** Send it in the next request. Its content is internal. 1 to 32768 characters. */
    after: string;
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
export interface ScanAnswer {
    /** The payment order’s number. 1 to 32 characters. */
    paymentId: string;
    /** The orderNo of the create request. 1 to 64 characters. */
    referOrderNo: string;
    /** Where the consumer confirms an order that is `pending`, besides the wallet. At most 2048 characters. */
    checkoutUrl: string;
    /** The payment order’s status. Allowed: `pending`, `confirming`, `success`, `failed`, `timeout`, `cancelled`. */
    status: OrderStatus;
    /** The currency. An ISO 4217 code. */
    currency: string;
    /** The amount to pay. Zero or more. */
    paymentAmount: number | string;
    /** The attach of the create request, if any. 1 to 1024 characters; may have line breaks and tabs. */
    attach?: string;
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
/** A JSON number, or decimal text if a number would not be exact. */
export type WireAmount = number | string;
export declare function isFinalOrderStatus(status: OrderStatus): boolean;
export declare function isFinalRefundStatus(status: RefundStatus): boolean;
/** The exact decimal with all of the currency's digits: 1050n USD is "10.50", 3n JPY is "3". */
export declare function toDecimalText(minor: bigint, currency: string): string;
/** Exact, or a Failure that names the field and what to change. */
export declare function toMinorUnits(amount: WireAmount, currency: string, field: string): bigint;
/** Amounts are decimal text: positive for money in, negative for money out. */
export interface BillLine {
    /**
     * `payment`, `refund`, `fee`, `fee_return`, `payout`, `payout_return`, `correction`, `transfer_applied` (a bank
     * transfer that an operator assigned to an order), or `late` (recorded after the bill of its day). Later versions may
     * add more.
     */
    readonly kind: string;
    /** Milliseconds since 1970; undefined for `late`. */
    readonly time: number | undefined;
    /** The number of the transaction. */
    readonly transactionId: string | undefined;
    /** The payment order, if the line belongs to one. */
    readonly paymentId: string | undefined;
    /** Your number of that order. */
    readonly orderNo: string | undefined;
    /** The refund, if the line belongs to one. */
    readonly refundId: string | undefined;
    /** Your number of that refund. */
    readonly referRefundNo: string | undefined;
    /** ISO 4217 code. */
    readonly currency: string;
    /** Decimal text, such as `-5.00`. */
    readonly amount: string;
}
/** A day's bill, whose bytes match the gateway's hash. */
export interface Bill extends BillAnswer {
    /** The complete file. */
    readonly csv: string;
    /** Every payment, refund, fee, payout and correction, oldest first. */
    lines(): IterableIterator<BillLine>;
}
export interface Bills {
    /**
     * The bill of one day in UTC, such as `2026-11-16`, available from 00:15 UTC of the next day. The file is downloaded
     * and its SHA-256 is verified. A bill never changes, so repeating the call is safe. `timeoutMs` includes the
     * download; by default, a download may take 15 minutes, because a bill of a million lines has several hundred
     * megabytes.
     *
     * @throws UnexpectedAnswerError when the file is not what its hash says.
     * @example
     * const bill = await tillgate.bills.get('2026-11-16')
     * for (const { kind, orderNo, currency, amount } of bill.lines()) book(kind, orderNo, currency, amount)
     */
    get(date: string, options?: CallOptions): Promise<Bill>;
}
/** For one call; the client's options are the defaults. */
export interface CallOptions {
    /** Cancels the call, which rejects with the signal's reason. */
    readonly signal?: AbortSignal;
    /** For the whole call, including retries and pauses. 30 seconds by default. */
    readonly timeoutMs?: number;
    /** The number of retries. 4 by default; 0 disables them. */
    readonly maxRetries?: number;
}
/** One handler with an adapter for each framework. It works with or without a body parser before it. */
export interface CallbackHandler {
    /**
     * For node:http.
     *
     * @example
     * createServer((request, response) => handler.node(request, response)).listen(3000)
     */
    node(request: IncomingMessage, response: ServerResponse): Promise<void>;
    /**
     * For Express 4 and 5, with or without `express.json()` or `express.raw()` before it.
     *
     * @example
     * app.post('/callbacks', handler.express)
     */
    express(request: IncomingMessage & {
        body?: unknown;
    }, response: ServerResponse): Promise<void>;
    /**
     * For Fastify 4 and 5.
     *
     * @example
     * fastify.post('/callbacks', handler.fastify)
     */
    fastify(request: {
        readonly body: unknown;
    }, reply: FastifyReply): Promise<void>;
    /**
     * For every runtime with the standard Request and Response: Hono, Next.js, Bun, Deno, workers with Node's crypto.
     *
     * @example
     * export const POST = handler.fetch
     */
    fetch(request: Request): Promise<Response>;
    /** For everything else: pass the body, and send the result as application/json. */
    answer: AnswerCallback;
}
interface FastifyReply {
    code(status: number): FastifyReply;
    type(contentType: string): FastifyReply;
    send(payload: string): unknown;
}
type AnswerCallback = (rawBody: RawBody) => Promise<CallbackAnswer>;
/**
 * The body of the HTTP request. A parsed envelope is accepted too: its values are text, so parsing does not change what
 * was signed.
 */
export type RawBody = string | Uint8Array | ArrayBuffer | object;
export interface CallbackAnswer {
    /** 200 if the callback is accepted. */
    readonly httpStatus: number;
    /** JSON. */
    readonly body: string;
}
/** The gateway waits 15 seconds for it. Do slow work after it has resolved. */
export type CallbackListener = (event: CallbackEvent) => unknown;
export type CallbackEvent = OrderEvent | RefundEvent | UnknownEvent;
/**
 * An order changed: `result.status` is confirming, success, failed or timeout, or cancelled if the gateway's operator
 * cancelled it (`payment.order.failed`).
 */
export interface OrderEvent extends EventBase {
    /** Distinguishes the events: `if (event.kind === 'order')`. */
    readonly kind: 'order';
    /** The event's name in the envelope. */
    readonly eventName: OrderEventName;
    /** The payment at the time of the event. */
    readonly result: PaymentResult;
}
interface EventBase {
    /** The same on every attempt and every resend; use it to detect duplicates. */
    readonly id: string;
    /** Your merchantId. A callback for another merchant is rejected before. */
    readonly merchantId: string;
    /** The time of this attempt, in milliseconds since 1970. */
    readonly timestampMs: number;
}
/** A refund ended: `result.status` is refund_success or refund_failed. */
export interface RefundEvent extends EventBase {
    /** Distinguishes the events: `if (event.kind === 'refund')`. */
    readonly kind: 'refund';
    /** The event's name in the envelope. */
    readonly eventName: RefundEventName;
    /** The refund at the time of the event. */
    readonly result: RefundResult;
}
/** A genuine event that this version of the SDK does not know. */
export interface UnknownEvent extends EventBase {
    /** Distinguishes the events: `if (event.kind === 'unknown')`. */
    readonly kind: 'unknown';
    /** The event's name in the envelope. */
    readonly eventName: string;
    /** The body as received. */
    readonly result: JsonObject;
}
interface JsonObject {
    readonly [key: string]: Json;
}
type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface HandlerOptions {
    /** Called for every rejected or failed callback. By default, one line is written to standard error. */
    readonly onError?: (error: unknown, event?: CallbackEvent) => void;
    /** Callbacks with a known id are acknowledged without being handled again. None by default. */
    readonly seen?: SeenCallbacks;
    /** Rejects callbacks whose attempt is older. Any age by default. */
    readonly maxAgeMs?: number;
}
/** Remembers the ids of handled callbacks. Implement it with your database to share the ids among processes. */
export interface SeenCallbacks {
    /** Called before the handler runs. */
    has(id: string): boolean | Promise<boolean>;
    /** Called after the handler has succeeded. */
    add(id: string): void | Promise<void>;
}
export interface Callbacks {
    /**
     * Verifies and decrypts a callback. Rejects with a CallbackVerificationError if it is not from the gateway.
     *
     * @example
     * const event = await tillgate.callbacks.unwrap(rawBody)
     * if (event.kind === 'order' && event.result.status === 'success') deliver(event.result.referOrderNo)
     */
    unwrap(rawBody: RawBody, options?: UnwrapOptions): Promise<CallbackEvent>;
    /**
     * A handler for the callback address: verifies, calls your function, and returns `{"code":20000,"msg":""}`. If your
     * function throws or rejects, the handler returns 500, and the gateway sends the callback again later.
     *
     * @example
     * const handler = tillgate.callbacks.handler(async (event) => {
     *   if (event.kind === 'order') await saveStatus(event.result.referOrderNo, event.result.status)
     * })
     * app.post('/callbacks', handler.express)
     */
    handler(listener: CallbackListener, options?: HandlerOptions): CallbackHandler;
    /**
     * Resends an order's callbacks. Returns the number of queued callbacks.
     *
     * @example
     * const { queued } = await tillgate.callbacks.resend(paymentId)
     */
    resend(paymentId: string, options?: CallOptions): Promise<ResendAnswer>;
}
export interface UnwrapOptions {
    /** Rejects callbacks whose attempt is older, or as far in the future. Any age by default. */
    readonly maxAgeMs?: number;
}
interface ResendAnswer {
    /** The payment order’s number. 1 to 32 characters. */
    paymentId: string;
    /** The number of callbacks to resend. A whole number from 0 to 1000000. */
    queued: number | string;
    /** Why nothing is sent. Absent where there is nothing. */
    warnings?: {
        /** The field that it is about. 1 to 128 characters. */
        field: string;
        /** What to look at. 1 to 1024 characters. */
        msg: string;
    }[];
    /** The first 20 unknown fields of the body, if any. */
    ignoredFields?: {
        /** Its path, such as `order.goods[0].goods_name`. 1 to 1024 characters. */
        field: string;
        /** The nearest known name. 1 to 1024 characters. */
        nearest?: string;
    }[];
}
/**
 * Whether the event contains nothing new, given the status that you stored for this order (or, for a refund event, for
 * this refund). Undefined means that nothing is stored. Two processes may check at the same moment: do the check and
 * the change in one transaction, or let the database do both (`update … where status not in ('success', 'failed',
 * 'timeout', 'cancelled')`).
 *
 * @example
 * if (event.kind === 'order' && !isStale(order.status, event)) order.status = event.result.status
 */
export declare function isStale(known: OrderStatus | undefined, event: OrderEvent): boolean;
export declare function isStale(known: RefundStatus | undefined, event: RefundEvent): boolean;
/**
 * Remembers the newest ids in this process. They are lost on restart and not shared with other processes, so use this
 * only to save work. A resend that you request has the same id, so it is not handled again while its id is remembered.
 */
export declare function rememberInMemory({ max }?: {
    max?: number;
}): SeenCallbacks;
/** As the gateway's sandbox writes them to `sandbox-merchant.json`. */
export interface Credentials {
    /** The gateway's address, such as `https://pay.example.com`. */
    readonly gatewayUrl: string;
    /** 18 letters or digits. */
    readonly merchantId: string;
    /** 32 bytes in base64. During a rotation both: the first encrypts requests, either opens callbacks. */
    readonly aesKey: string | readonly string[];
    /** Your own RSA key: PEM (PKCS#8 or PKCS#1) or its bare base64. */
    readonly privateKey: string;
    /** The gateway's RSA key, not your own: PEM (SPKI or PKCS#1) or bare base64. During a rotation both. */
    readonly platformPublicKey: string | readonly string[];
    /** Responses over plain http can be changed on the way, so only private addresses may use it without this option. */
    readonly allowHttp?: boolean;
}
/** The gateway could not open the envelope (keys, merchantId) or rejected its time. */
export declare class AuthenticationError extends TillgateError {
    readonly name = "AuthenticationError";
}
/**
 * The base of all errors of this SDK.
 *
 * @example
 * try {
 *   await tillgate.orders.create(order)
 * } catch (error) {
 *   if (error instanceof TillgateError) log(error.code, error.field, error.requestId)
 *   throw error
 * }
 */
export declare class TillgateError extends Error {
    readonly name: string;
    /** The gateway's code, such as 40001; docs/protocol.md lists them. */
    readonly code: number | undefined;
    /** The invalid field, such as `order.goods[3].goodsName`. */
    readonly field: string | undefined;
    /** Quote it when you contact the operator of the gateway. */
    readonly requestId: string | undefined;
    /** Undefined if there was no response. */
    readonly httpStatus: number | undefined;
    constructor(message: string, details?: ErrorDetails);
}
interface ErrorDetails {
    readonly code?: number | undefined;
    readonly field?: string | undefined;
    readonly requestId?: string | undefined;
    readonly httpStatus?: number | undefined;
    readonly retryAfterMs?: number | undefined;
    readonly cause?: unknown;
}
export type CallbackRefusal = 'not_an_envelope' | 'other_merchant' | 'not_opened' | 'too_old' | 'unreadable_result';
/** The request to the callback address is not a callback of the gateway for this merchant. */
export declare class CallbackVerificationError extends TillgateError {
    readonly name = "CallbackVerificationError";
    /** Only `unreadable_result` is genuine: from the gateway, but of a form that this version does not know. */
    readonly reason: CallbackRefusal;
    constructor(reason: CallbackRefusal, message: string, details?: ErrorDetails);
}
/** The number belongs to something else, or the status or the remaining amount does not allow this. */
export declare class ConflictError extends TillgateError {
    readonly name = "ConflictError";
}
/** No response arrived. The operation may or may not have happened: repeat it with the same numbers, or query. */
export declare class ConnectionError extends TillgateError {
    readonly name: string;
}
/** The credentials are unusable. `problems` lists all errors, and never contains any part of a key. */
export declare class CredentialsError extends TillgateError {
    readonly name = "CredentialsError";
    /** One sentence for each problem. */
    readonly problems: readonly string[];
    constructor(problems: readonly string[], details?: ErrorDetails);
}
/** The request is invalid and will stay so: `field` and the message say what to change. */
export declare class InvalidRequestError extends TillgateError {
    readonly name = "InvalidRequestError";
}
/** No such payment order or refund. */
export declare class NotFoundError extends TillgateError {
    readonly name = "NotFoundError";
}
/** You are authenticated, but not allowed: suspended, or callback hosts changed too often. */
export declare class PermissionError extends TillgateError {
    readonly name = "PermissionError";
}
/** Too many requests, also after the wait that the gateway requested. */
export declare class RateLimitError extends TillgateError {
    readonly name = "RateLimitError";
    /** The wait that the gateway requested, if any. */
    readonly retryAfterMs: number | undefined;
    constructor(message: string, details?: ErrorDetails);
}
/** No response, or no final status, within the time limit. */
export declare class TimeoutError extends ConnectionError {
    readonly name = "TimeoutError";
}
/** The gateway, or a proxy before it, is unavailable. The operation may or may not have happened. */
export declare class UnavailableError extends TillgateError {
    readonly name = "UnavailableError";
    /** The wait that the gateway requested, if any. */
    readonly retryAfterMs: number | undefined;
    constructor(message: string, details?: ErrorDetails);
}
/** The response is not of this protocol; usually the gatewayUrl is wrong. */
export declare class UnexpectedAnswerError extends TillgateError {
    readonly name = "UnexpectedAnswerError";
}
/** A link by its linkId, or by your linkNo if the response to create was lost. */
export type LinkReference = string | {
    readonly linkId: string;
} | {
    readonly linkNo: string;
};
export interface Links {
    /**
     * Creates a payment link; give `linkUrl` to consumers. The same `linkNo` with the same content returns the existing
     * link, so repeating is safe.
     *
     * @example
     * const { linkUrl } = await tillgate.links.create({
     *   linkNo: 'invoice-2026-17',
     *   title: 'Invoice 2026-17',
     *   currency: 'EUR',
     *   amount: '120.00',
     *   uses: 'once',
     *   callbackUrl: 'https://shop.example/callbacks',
     * })
     */
    create(link: NewLink, options?: CallOptions): Promise<LinkAnswer>;
    /**
     * A link's current state: how many paid, how much, and its newest orders.
     *
     * @example
     * const { status, paidAmount, orders } = await tillgate.links.query(linkId)
     */
    query(link: LinkReference, options?: CallOptions): Promise<LinkQueryAnswer>;
    /**
     * Closes a link permanently. A payment that has started can still be made until its own expiry.
     *
     * @example
     * await tillgate.links.close(linkId)
     */
    close(linkId: string, options?: CallOptions): Promise<LinkAnswer>;
}
/** Amounts are numbers or decimal strings, sent unchanged and never rounded. */
export type NewLink = LinkCreateBody;
export interface ClientOptions {
    /** For a whole call, including retries and pauses. 30 seconds by default. */
    readonly timeoutMs?: number;
    /** The number of retries. 4 by default; 0 disables them. */
    readonly maxRetries?: number;
    /** For one attempt. 10 seconds by default. */
    readonly attemptTimeoutMs?: number;
    /** A replacement for sending, such as through a proxy. The global `fetch` by default. */
    readonly fetch?: Fetch;
    /** Milliseconds since 1970. */
    readonly now?: () => number;
    /** From 0 to 1, for the jitter between retries. */
    readonly random?: () => number;
    /** Resolves after that many milliseconds; rejects if the signal is aborted. */
    readonly wait?: (durationMs: number, signal: AbortSignal) => Promise<void>;
}
/** The part of the standard `fetch` that the SDK uses. */
export type Fetch = (url: string, init: {
    readonly method: 'POST' | 'GET';
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
}) => Promise<{
    readonly status: number;
    readonly headers: {
        get(name: string): string | null;
    };
    text(): Promise<string>;
}>;
/**
 * A new order. Amounts are numbers or decimal strings in units of the currency: `12.5` or `"12.50"` dollars, `1200`
 * yen. They are sent unchanged and never rounded.
 */
export interface NewOrder extends Omit<CreateBody, 'channel' | 'paymentTime' | 'paymentExpiryTime'> {
    /** `WEB` by default. */
    readonly channel?: CreateBody['channel'];
    /**
     * Milliseconds since 1970. By default, the time at which this client first created the `orderNo`, so that repeating
     * `create` is the same request. It is part of the content: to repeat a create after a crash or from another process,
     * set it (the time at which the order was placed), or query by `orderNo`.
     */
    readonly paymentTime?: CreateBody['paymentTime'];
    /** 5 minutes to 24 hours after paymentTime; 30 minutes by default. */
    readonly paymentExpiryTime?: CreateBody['paymentExpiryTime'];
}
interface CreateBody {
    /** The order. */
    order: {
        /** Your number for the order, permanently unique. 1 to 64 characters. */
        orderNo: string;
        /** The total of the goods. Equals the sum of amount × quantity if every good has an amount. Zero or more. */
        orderAmount: number | string;
        /** The consumer’s tip. Zero or more. */
        tips?: number | string;
        /** The discount on the order. Zero or more. */
        discount?: number | string;
        /** The total tax. Equals the sum of tax × quantity if every good has a tax. Zero or more. */
        totalTax?: number | string;
        /** The insurance. Zero or more. */
        insurance?: number | string;
        /** The handling fee. Zero or more. */
        handlingFee?: number | string;
        /** The delivery. */
        shipping?: {
            /** The delivery method. Allowed: `SHIPPING`, `PICKUP_IN_STORE`, `PICKUP_FROM_PERSON`. */
            shipType: 'SHIPPING' | 'PICKUP_IN_STORE' | 'PICKUP_FROM_PERSON';
            /** The shipping fee. Zero or more. */
            amount?: number | string;
            /** The receiver’s name. 1 to 256 characters. */
            name: string;
            /** The receiver’s address. At most 512 characters; may have line breaks and tabs. */
            address?: string;
        };
        /** The discount on the shipping fee. Zero or more. */
        shippingDiscount?: number | string;
        /** A description for the consumer. At most 256 characters; may have line breaks and tabs. */
        orderDescription?: string;
        /** The goods. A list of 1 to 100 items. */
        goods: {
            /** Your number for the good. 1 to 64 characters. */
            referenceGoodsId: string;
            /** The name that the consumer sees. 1 to 256 characters, not blank. */
            goodsName: string;
            /** The description. At most 256 characters; may have line breaks and tabs. */
            goodsDesc?: string;
            /** The price of one unit. Zero or more. */
            goodsAmount?: number | string;
            /** Another name of goodsAmount. If you send both, they must be equal. Zero or more. */
            goodsUnitAmount?: number | string;
            /** The tax on one unit. Zero or more. */
            tax?: number | string;
            /** The quantity, such as 0.5 for half a kilogram. Default 1. A number greater than 0, at most 999999999, with at most 6 decimal places. */
            goodsQuantity?: number | string;
        }[];
    };
    /** Where the order was created. Allowed: `WEB`, `APP`. */
    channel: 'WEB' | 'APP';
    /** What the consumer pays. An amount greater than zero. */
    paymentAmount: number | string;
    /** The currency of every amount in the body. Three capital letters, an ISO 4217 code. */
    currency: string;
    /** When the money moves: `automatic` with the payment (default), or `manual` when you capture it. Allowed: `automatic`, `manual`. */
    captureMode?: 'automatic' | 'manual';
    /** The time of the payment order, at most 5 minutes ahead of the gateway’s clock. In milliseconds. */
    paymentTime: number | string;
    /** The expiry: 5 minutes to 24 hours after paymentTime, inclusive, and in the future. In milliseconds. */
    paymentExpiryTime: number | string;
    /** Receives callbacks. Default: the merchant’s default callback URL. At most 2048 characters. */
    callbackUrl?: string;
    /** Where the consumer returns at the end: https or, with channel APP, the app’s scheme. At most 2048 characters. */
    redirectUrl?: string;
    /** Where the consumer returns while the order is pending. Default: redirectUrl. At most 2048 characters. */
    cancelUrl?: string;
    /** Your own data, returned unchanged in create, query and callbacks. At most 1024 characters; may have line breaks and tabs. */
    attach?: string;
}
/** Filters of a list; an omitted one does not apply. */
export interface OrderFilter {
    /** Created at this time or later, in milliseconds since 1970. */
    readonly since?: number;
    /** Created before this time. */
    readonly until?: number;
    /** With this paymentStatus. */
    readonly status?: OrderStatus;
    /** The cursor of the previous response. */
    readonly cursor?: string;
    /** 1 to 100; 50 by default. */
    readonly limit?: number;
}
/** An order by its paymentId, by your orderNo if the response to create was lost, or by one of its refunds. */
export type OrderReference = string | {
    readonly paymentId: string;
} | {
    readonly orderNo: string;
} | {
    readonly refundId: string;
};
export interface Orders {
    /**
     * Creates a payment order; send the consumer to `checkoutUrl`. The same `orderNo` with the same content returns the
     * existing order, so repeating is safe.
     *
     * @example
     * const { paymentId, checkoutUrl } = await tillgate.orders.create({
     *   order: {
     *     orderNo: 'A-1001',
     *     orderAmount: '25.00',
     *     goods: [{ referenceGoodsId: 'shirt', goodsName: 'Shirt', goodsAmount: '12.50', goodsQuantity: 2 }],
     *   },
     *   paymentAmount: '25.00',
     *   currency: 'USD',
     *   callbackUrl: 'https://shop.example/callbacks',
     *   redirectUrl: 'https://shop.example/thanks',
     * })
     */
    create(order: NewOrder, options?: CallOptions): Promise<CreateAnswer>;
    /**
     * An order's current state. `paymentStatus` is the payment's own status; `status` refers to the newest refund.
     *
     * @example
     * const { paymentStatus } = await tillgate.orders.query(paymentId)
     * const lost = await tillgate.orders.query({ orderNo: 'A-1001' })
     */
    query(order: OrderReference, options?: CallOptions): Promise<QueryAnswer>;
    /**
     * Lists orders, newest first. Pass the `cursor` of a response to get the next page; without a cursor, the list has
     * ended. Orders that exist at the request for the first page appear exactly once.
     *
     * @example
     * let cursor
     * do {
     *   const page = await tillgate.orders.list({ status: 'success', limit: 100, ...(cursor && { cursor }) })
     *   for (const { orderNo, payAmount } of page.orders) console.log(orderNo, payAmount)
     *   cursor = page.cursor
     * } while (cursor)
     */
    list(filter?: OrderFilter, options?: CallOptions): Promise<OrderListAnswer>;
    /**
     * Cancels a pending order; a ConflictError (40901) if it is being paid or paid.
     *
     * @example
     * await tillgate.orders.cancel(paymentId)
     */
    cancel(paymentId: string, options?: CallOptions): Promise<CancelAnswer>;
    /**
     * Captures an order that was created with `captureMode: 'manual'` and authorized by the consumer. The last capture
     * takes all that remains or has `final: true`; the rest is released. The same `referCaptureNo` with the same content
     * returns the existing capture, so repeating is safe.
     *
     * @example
     * const { status } = await tillgate.orders.capture({ paymentId, referCaptureNo: 'A-1001-C1', amount: '20.00', final: true })
     */
    capture(capture: NewCapture, options?: CallOptions): Promise<CaptureAnswer>;
    /**
     * Releases what is authorized and not captured. Without a capture, the order becomes `failed`.
     *
     * @example
     * await tillgate.orders.release(paymentId)
     */
    release(paymentId: string, options?: CallOptions): Promise<ReleaseAnswer>;
    /**
     * Charges the wallet whose code the consumer shows. `pending` waits for the consumer's confirmation. The same
     * `orderNo` returns the existing order, with any code, so repeating is safe.
     *
     * @example
     * const { paymentId } = await tillgate.orders.scan({ code, orderNo: 'A-1001', amount: '4.20', currency: 'EUR' })
     * const { paymentStatus } = await tillgate.orders.waitUntilFinal(paymentId)
     */
    scan(scan: NewScan, options?: CallOptions): Promise<ScanAnswer>;
    /**
     * Queries until the payment has a final status (success, failed, timeout, cancelled), at growing intervals. For a
     * result page or a script; a shop waits for the callback.
     *
     * @example
     * const { paymentStatus } = await tillgate.orders.waitUntilFinal(paymentId, { timeoutMs: 60_000 })
     */
    waitUntilFinal(order: OrderReference, options?: WaitOptions): Promise<QueryAnswer>;
}
/** A capture of an authorized order. The amount is a number or a decimal string; by default all that remains. */
type NewCapture = ({
    readonly paymentId: string;
} | {
    readonly orderNo: string;
}) & {
    readonly referCaptureNo: string;
    readonly amount?: WireAmount;
    /** Releases the rest. */
    readonly final?: boolean;
};
/** A payment by the code that a consumer's wallet shows. The amount is a number or a decimal string. */
interface NewScan {
    /** The content of the QR code, or its digits. */
    readonly code: string;
    readonly orderNo: string;
    readonly amount: WireAmount;
    readonly currency: string;
    readonly orderDescription?: string;
    readonly callbackUrl?: string;
    readonly attach?: string;
}
export interface WaitOptions {
    /** Cancels the wait, which rejects with the signal's reason. */
    readonly signal?: AbortSignal;
    /** The time limit, after which a TimeoutError is thrown. 15 minutes by default. */
    readonly timeoutMs?: number;
}
export interface Redirects {
    /**
     * The parameters that the gateway added to your redirectUrl; undefined if they are not the gateway's, are for another
     * merchant or payment, or are older than ten minutes. Takes the whole address, or its path and query as frameworks
     * provide them. **For display only**: deliver after a callback or a query.
     *
     * @example
     * const back = await tillgate.redirects.verify(request.url, { paymentId: order.paymentId })
     * if (back) show(`Order ${back.referOrderNo}: ${back.status}`)
     */
    verify(url: string | URL | URLSearchParams, options?: VerifyRedirectOptions): Promise<RedirectParameters | undefined>;
}
export interface VerifyRedirectOptions {
    /** The payment of your page. By default, a return from any of your payments is valid. */
    readonly paymentId?: string | undefined;
}
/** The amount is a number or a decimal string, sent unchanged and never rounded. */
export type NewRefund = RefundOrder;
interface RefundOrder {
    /** The payment order’s number from create. 1 to 32 characters. */
    paymentId: string;
    /** Your number for the refund, permanently unique. 1 to 64 characters. */
    referRefundNo: string;
    /** The amount to refund, in the payment’s currency. An amount greater than zero. */
    refundAmount: number | string;
    /** The reason, for the consumer and the books. At most 256 characters. */
    refundReason?: string;
}
export interface Refunds {
    /**
     * Refunds a payment. The response has the status `refunding`; the result arrives by callback, or from
     * `waitUntilFinal`. The same `referRefundNo` with the same content returns the existing refund, so repeating is safe.
     *
     * @example
     * const { refundId } = await tillgate.refunds.create({
     *   paymentId,
     *   referRefundNo: 'A-1001-R1',
     *   refundAmount: '5.00',
     *   refundReason: 'one shirt came back',
     * })
     */
    create(refund: NewRefund, options?: CallOptions): Promise<RefundAnswer>;
    /**
     * One refund's current state.
     *
     * @example
     * const { status } = await tillgate.refunds.query(refundId)
     */
    query(refundId: string, options?: CallOptions): Promise<RefundInQuery>;
    /**
     * Queries until the refund has ended: `refund_success`, or `refund_failed` with the reason in `msg`.
     *
     * @example
     * const { status, msg } = await tillgate.refunds.waitUntilFinal(refundId)
     */
    waitUntilFinal(refundId: string, options?: WaitOptions): Promise<RefundInQuery>;
}
export interface Sandbox {
    /**
     * Pays an order as a test consumer would; `success` and `failed` follow after a moment of `confirming`. In live
     * this is an InvalidRequestError (40401). It is not retried: the second payment of an order is a ConflictError.
     *
     * @example
     * await tillgate.sandbox.pay({ paymentId, outcome: 'success' })
     *
     * With a rail instead of an outcome, it starts a payment through that rail, as a consumer does at the checkout, and
     * returns the consumer's next step.
     *
     * @example
     * const { nextAction } = await tillgate.sandbox.pay({ paymentId, rail: 'bank' })
     */
    pay(payment: SandboxPay, options?: Omit<CallOptions, 'maxRetries'>): Promise<SandboxAnswer>;
    /**
     * Moves the gateway's times of one order into the past, so that its expiry and its callbacks' retries come sooner;
     * your own times stay. It is not retried, because a second call would advance again.
     *
     * @example
     * await tillgate.sandbox.advance({ paymentId, milliseconds: 30 * 60_000 })
     */
    advance(advance: {
        /** The order to advance. */
        readonly paymentId: string;
        /** How far, at most 30 days. */
        readonly milliseconds: number;
    }, options?: Omit<CallOptions, 'maxRetries'>): Promise<SandboxAnswer>;
    /**
     * Receives callbacks over a connection that you open, for a program that the gateway cannot reach. Waits up to
     * `waitMs` for the first; call again with the returned `after`. Without `after`, it only returns the current
     * position. `till listen` does all of this and forwards them.
     *
     * @example
     * const { callbacks, after } = await tillgate.sandbox.listen({ after: last, waitMs: 8_000 })
     * for (const { envelope } of callbacks) await handler.answer(envelope)
     */
    listen(from: {
        /** The `after` of the previous response. */
        readonly after?: string;
        /** The maximum wait if there is no callback yet. No wait by default. */
        readonly waitMs?: number;
    }, options?: CallOptions): Promise<SandboxListenAnswer>;
    /**
     * Acknowledges a callback that your program has processed: it counts as delivered.
     *
     * @example
     * await tillgate.sandbox.acknowledge({ callbackId: event.id, forwardedTo: 'http://localhost:3000/', durationMs: 5 })
     */
    acknowledge(taken: {
        /** The `id` of its event. */
        readonly callbackId: string;
        /** The address that returned HTTP 200. */
        readonly forwardedTo: string;
        /** The duration of the request. */
        readonly durationMs: number;
        /** The beginning of the response, on one line. */
        readonly answer?: string;
    }, options?: CallOptions): Promise<void>;
    /**
     * Your own rejected or slow requests of the last 7 days, newest first; or one by its `requestId`.
     *
     * @example
     * const { requests } = await tillgate.sandbox.requests({ requestId: error.requestId })
     */
    requests(wanted?: {
        readonly requestId?: string;
        readonly limit?: number;
    }, options?: CallOptions): Promise<SandboxRequestsAnswer>;
}
interface SandboxPay {
    /** The payment order’s number from create. 1 to 32 characters. */
    paymentId: string;
    /** The outcome. `confirming` stays confirming; `refund_fails` pays, and later refunds fail. Allowed: `success`, `failed`, `confirming`, `refund_fails`. */
    outcome?: 'success' | 'failed' | 'confirming' | 'refund_fails';
    /** Instead of `outcome`: start a payment through this rail. 1 to 32 characters. */
    rail?: string;
}
interface SandboxRequestsAnswer {
    /** Newest first. */
    requests: {
        /** The `requestId` of the response. 1 to 64 characters. */
        requestId: string;
        /** When the gateway responded. In milliseconds. */
        at: number;
        /** The operation. 1 to 64 characters. */
        method: string;
        /** The HTTP status of the response. A whole number from 100 to 599. */
        httpStatus: number | string;
        /** The `code` of the response. A whole number from 0 to 99999. */
        code: number | string;
        /** The invalid field, or empty. At most 1024 characters. */
        field: string;
        /** The `msg` of the response, or empty. At most 1024 characters. */
        msg: string;
        /** The duration. A whole number from 0 to 999999999. */
        durationMs: number | string;
    }[];
}
/**
 * A client of one Tillgate gateway for one merchant. It holds no connection and does not need to be closed.
 *
 * @example
 * const tillgate = Tillgate.fromEnvironment()
 * const { checkoutUrl } = await tillgate.orders.create({ … })
 */
export declare class Tillgate {
    /** Your merchantId. */
    readonly merchantId: string;
    /** The gateway's address. */
    readonly gatewayUrl: string;
    /** Create, query and cancel payment orders. */
    readonly orders: Orders;
    /** Refund payments, and query refunds. */
    readonly refunds: Refunds;
    /** Pages and QR codes at which consumers pay. */
    readonly links: Links;
    /** A day's movements, verified and line by line. */
    readonly bills: Bills;
    /** Receive the gateway's callbacks, and request them again. */
    readonly callbacks: Callbacks;
    /** Verify the parameters of a consumer's return. */
    readonly redirects: Redirects;
    /** Only a gateway in sandbox mode supports these. */
    readonly sandbox: Sandbox;
    /**
     * @throws CredentialsError that lists all that is wrong with the credentials at once.
     * @example
     * const tillgate = new Tillgate({ gatewayUrl, merchantId, aesKey, privateKey, platformPublicKey })
     */
    constructor({ gatewayUrl, merchantId, aesKey, privateKey, platformPublicKey, allowHttp, ...options }: Credentials & ClientOptions);
    /**
     * From a JSON file with the credentials, as the gateway's sandbox writes one.
     *
     * @example
     * const tillgate = Tillgate.fromFile('data/sandbox-merchant.json')
     */
    static fromFile(path: string, options?: ClientOptions): Tillgate;
    /**
     * From TILLGATE_GATEWAY_URL, TILLGATE_MERCHANT_ID, TILLGATE_AES_KEY, TILLGATE_PRIVATE_KEY and
     * TILLGATE_PLATFORM_PUBLIC_KEY. Keys may be in files instead, named by the variable with _FILE at its end.
     *
     * @example
     * const tillgate = Tillgate.fromEnvironment()
     */
    static fromEnvironment(environment?: Environment, options?: ClientOptions): Tillgate;
}
type Environment = Readonly<Record<string, string | undefined>>;
export {};
