<?php
declare(strict_types=1);

namespace Tillgate;

/** The operations of the gateway. Each is safe to repeat with the same numbers, so repeat where no answer came. */
final class Tillgate
{
    private const REDIRECT_AGE_MS = 10 * 60 * 1000;

    private readonly string $url;
    private readonly \Closure $nowMs;

    /** @param (\Closure(): int)|null $nowMs */
    public function __construct(
        string $gatewayUrl,
        public readonly Keys $keys,
        private readonly Transport $transport = new StreamTransport(),
        ?\Closure $nowMs = null,
    ) {
        $this->url = rtrim($gatewayUrl, '/');
        $this->nowMs = $nowMs ?? fn(): int => (int) (microtime(true) * 1000);
    }

    /** As a sandbox writes it to data/sandbox-merchant.json. */
    public static function fromFile(string $path, Transport $transport = new StreamTransport(), ?\Closure $nowMs = null): self
    {
        $given = json_decode(file_get_contents($path), true, 16, JSON_THROW_ON_ERROR);
        $keys = new Keys($given['merchantId'], $given['aesKey'], $given['privateKey'], $given['platformPublicKey']);
        return new self($given['gatewayUrl'], $keys, $transport, $nowMs);
    }

    /**
     * From TILLGATE_GATEWAY_URL, TILLGATE_MERCHANT_ID, TILLGATE_AES_KEY, TILLGATE_PRIVATE_KEY and
     * TILLGATE_PLATFORM_PUBLIC_KEY. A value may be in a file, which the variable with _FILE at its end names.
     */
    public static function fromEnvironment(Transport $transport = new StreamTransport(), ?\Closure $nowMs = null): self
    {
        [$url, $keys] = Environment::read(getenv());
        return new self($url, $keys, $transport, $nowMs);
    }

    /**
     * Answers paymentId and checkoutUrl. channel is WEB, and the order is open for half an hour, unless given. To repeat it
     * where no answer came, give paymentTime and paymentExpiryTime yourself, the same each time: they are part of the
     * content, and the same number with other content is refused (40900).
     */
    public function create(array $body): array
    {
        $now = ($this->nowMs)();
        return $this->call('service.trade.create',
            $body + ['channel' => 'WEB', 'paymentTime' => $now, 'paymentExpiryTime' => $now + 1_800_000]);
    }

    public function query(?string $paymentId = null, ?string $orderNo = null, ?string $refundId = null): array
    {
        $given = ['paymentId' => $paymentId, 'orderNo' => $orderNo, 'refundId' => $refundId];
        return $this->call('service.trade.query', array_filter($given, fn($value) => $value !== null));
    }

    /**
     * Orders, newest first, by since, until, status and limit. Give the cursor of an answer for the orders that follow;
     * without one the list has ended.
     */
    public function listOrders(array $wanted = []): array
    {
        return $this->call('service.order.list', $wanted);
    }

    public function cancel(string $paymentId): array
    {
        return $this->call('service.trade.cancel', ['paymentId' => $paymentId]);
    }

    /** Takes the money of an order with captureMode manual: an amount, or all that remains. `$final` releases the rest. */
    public function capture(string $paymentId, string $referCaptureNo, ?string $amount = null, bool $final = false): array
    {
        return $this->call('service.order.capture', ['paymentId' => $paymentId, 'referCaptureNo' => $referCaptureNo,
            'final' => $final] + ($amount === null ? [] : ['amount' => $amount]));
    }

    public function release(string $paymentId): array
    {
        return $this->call('service.order.release', ['paymentId' => $paymentId]);
    }

    /** Charges the wallet whose code the consumer shows. Repeating it with the same orderNo is safe. */
    public function scan(string $code, string $orderNo, string $amount, string $currency): array
    {
        return $this->call('service.order.scan', ['code' => $code, 'orderNo' => $orderNo, 'amount' => $amount,
            'currency' => $currency]);
    }

    public function refund(string $paymentId, string $referRefundNo, string $amount, string $reason = ''): array
    {
        return $this->call('service.trade.refund', ['paymentId' => $paymentId, 'referRefundNo' => $referRefundNo,
            'refundAmount' => $amount, 'refundReason' => $reason]);
    }

    /** The totals of a day, such as 2026-11-16 (UTC), and for five minutes the address of its CSV file. */
    public function bill(string $date): array
    {
        return $this->call('service.bill.get', ['date' => $date]);
    }

    public function call(string $method, array $body): array
    {
        $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES;
        return $this->callText($method, json_encode((object) $body, $flags));
    }

    /** With the body as the text that you have already. */
    public function callText(string $method, string $text): array
    {
        $envelope = $this->keys->seal($method, $text, ($this->nowMs)(), random_bytes(12));
        $answer = json_decode($this->transport->post("$this->url/api/v1/gateway", json_encode($envelope)), true, 32,
            JSON_THROW_ON_ERROR);
        if ((int) $answer['code'] !== 20000) {
            throw new TillgateError($answer['msg'], (int) $answer['code'], $answer['data'] ?? []);
        }
        return $answer['data'];
    }

    /**
     * $raw is file_get_contents('php://input').
     *
     * @throws NotGenuine also for an attempt that was made longer ago, or is further ahead, than $maxAgeMs
     */
    public function openCallback(string $raw, ?int $maxAgeMs = null): Callback
    {
        [$envelope, $text] = $this->keys->open($raw);
        $timestampMs = (int) $envelope['timestamp'];
        if ($maxAgeMs !== null && abs(($this->nowMs)() - $timestampMs) > $maxAgeMs) {
            throw new NotGenuine('made too long ago, or the clock is wrong');
        }
        $result = json_decode($text, true, 16);
        return new Callback($envelope['id'], $envelope['eventName'], is_array($result) ? $result : [], $text, $timestampMs);
    }

    /**
     * The parameters with which the consumer came back. For display alone: deliver on a callback or a query.
     * $query is $_SERVER['QUERY_STRING'].
     *
     * @return array<string, string>
     * @throws NotGenuine
     */
    public function verifyRedirect(string $query, ?string $paymentId = null): array
    {
        $forms = ['merchantId' => '[0-9A-Za-z]{18}', 'paymentId' => '[0-9A-Za-z]{1,32}',
            'referOrderNo' => '[^\x00-\x1f\x7f-\x9f]{1,64}', 'sign' => '[0-9A-Za-z+\/=]+',
            'status' => implode('|', Codes::ORDER_STATUSES), 'timestamp' => '[0-9]{13}'];
        $values = [];
        foreach (explode('&', $query) as $pair) {
            [$name, $value] = explode('=', $pair, 2) + [1 => ''];
            $values[urldecode($name)][] = urldecode($value);
        }
        $given = [];
        foreach ($forms as $name => $form) {
            $found = $values[$name] ?? [];
            if (count($found) !== 1 || preg_match("/^(?:$form)$/Du", $found[0]) !== 1) {
                throw new NotGenuine("$name is missing, repeated or not of its form");
            }
            $given[$name] = $found[0];
        }
        ['sign' => $sign] = $given;
        unset($given['sign']);
        $isExpected = $given['merchantId'] === $this->keys->merchantId && in_array($paymentId, [null, $given['paymentId']], true);
        if (!$isExpected || abs(($this->nowMs)() - (int) $given['timestamp']) > self::REDIRECT_AGE_MS) {
            throw new NotGenuine('for another merchant or payment, or too old');
        }
        $this->keys->verify(Keys::joined($given), $sign);
        return $given;
    }
}
