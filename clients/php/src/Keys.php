<?php
declare(strict_types=1);

namespace Tillgate;

/** Seals requests and opens what the gateway signed, as docs/protocol.md says it. */
final class Keys
{
    private const FIXED = ['charset' => 'utf-8', 'encryptType' => 'AES', 'format' => 'json', 'signType' => 'RSA'];

    /** @var list<string> */
    private readonly array $aesKeys;
    /** @var list<string> */
    private readonly array $platformKeys;

    public function __construct(
        public readonly string $merchantId,
        string|array $aesKey,
        private readonly string $privateKey,
        string|array $platformPublicKey,
    ) {
        $this->aesKeys = array_map(self::aesKey(...), (array) $aesKey);
        $this->platformKeys = (array) $platformPublicKey;
    }

    public function stringToSign(string $method, string $text, int $timestamp): string
    {
        return "body=$text&charset=utf-8&encryptType=AES&format=json&merchantId=$this->merchantId"
            . "&method=$method&signType=RSA&timestamp=$timestamp";
    }

    /** $text is the body, serialised once: this very text is signed and encrypted. */
    public function seal(string $method, string $text, int $timestamp, string $nonce): array
    {
        $toSign = $this->stringToSign($method, $text, $timestamp);
        if (!openssl_sign($toSign, $sign, $this->privateKey, OPENSSL_ALGO_SHA256)) {
            throw new \RuntimeException('The private key cannot sign.');
        }
        $sealed = openssl_encrypt($text, 'aes-256-gcm', $this->aesKeys[0], OPENSSL_RAW_DATA, $nonce, $tag, '', 16);
        return ['merchantId' => $this->merchantId, 'method' => $method, 'timestamp' => $timestamp,
            'sign' => base64_encode($sign), 'body' => base64_encode($nonce . $sealed . $tag)];
    }

    /** @return array{array<string, string>, string} the envelope of a callback and its body's text */
    public function open(string $raw): array
    {
        $envelope = json_decode($raw, true, 16);
        foreach (['id', 'merchantId', 'eventName', 'timestamp', 'sign', 'body'] as $name) {
            if (!is_array($envelope) || !is_string($envelope[$name] ?? null)) {
                throw new NotGenuine('not an envelope');
            }
        }
        $fields = [...self::FIXED, ...$envelope];
        if ($envelope['merchantId'] !== $this->merchantId || array_intersect_key($fields, self::FIXED) != self::FIXED) {
            throw new NotGenuine('for another merchant, or of another form');
        }
        $text = $this->decrypt(self::decode($envelope['body']) ?? '');
        unset($fields['sign'], $fields['body']);
        foreach ($fields as $name => $value) {
            // No value can hold what separates fields, so the signed text has one reading.
            $isName = preg_match('/^[A-Za-z][A-Za-z0-9]{0,63}$/D', (string) $name) === 1;
            if (!$isName || !is_string($value) || preg_match('#^[A-Za-z0-9._:/+-]*$#D', $value) !== 1) {
                throw new NotGenuine('a field that no gateway sends');
            }
        }
        // A name that is there twice: json_decode keeps the last value, others the first.
        $strings = preg_match_all('/"(?:[^"\\\\]++|\\\\.)*+"/', $raw);
        if ($strings !== 2 * count($envelope) || preg_match('/^[0-9]{13}$/D', $envelope['timestamp']) !== 1) {
            throw new NotGenuine('a field is there twice, or the timestamp is none');
        }
        $fields['body'] = $text;
        ksort($fields, SORT_STRING); // what a later gateway adds is signed too
        $this->verify(self::joined($fields), $envelope['sign']);
        return [$envelope, $text];
    }

    public function verify(string $text, string $sign): void
    {
        $signature = self::decode($sign) ?? throw new NotGenuine('the signature is not base64');
        foreach ($this->platformKeys as $key) {
            if (openssl_verify($text, $signature, $key, OPENSSL_ALGO_SHA256) === 1) {
                return;
            }
        }
        throw new NotGenuine("the signature is not the gateway's");
    }

    /** @param array<string, string> $fields */
    public static function joined(array $fields): string
    {
        return implode('&', array_map(fn($name, $value) => "$name=$value", array_keys($fields), $fields));
    }

    private function decrypt(string $sealed): string
    {
        // The tag must have all its 16 bytes: PHP accepts shorter ones.
        foreach (strlen($sealed) < 28 ? [] : $this->aesKeys as $key) {
            $text = openssl_decrypt(substr($sealed, 12, -16), 'aes-256-gcm', $key, OPENSSL_RAW_DATA,
                substr($sealed, 0, 12), substr($sealed, -16));
            if ($text !== false && preg_match('//u', $text) === 1) {
                return $text;
            }
        }
        throw new NotGenuine('the body does not open');
    }

    /** PHP would fill a shorter one up with zeros. */
    private static function aesKey(string $text): string
    {
        $key = self::decode($text);
        return $key !== null && strlen($key) === 32 ? $key
            : throw new \InvalidArgumentException('aesKey must be 32 bytes in base64');
    }

    /** Canonical base64 alone: one text for the same bytes. */
    private static function decode(string $text): ?string
    {
        $bytes = base64_decode($text, true);
        return $bytes !== false && base64_encode($bytes) === $text ? $bytes : null;
    }
}
