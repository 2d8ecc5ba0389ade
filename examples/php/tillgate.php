<?php
// A client of a Tillgate gateway in one file, for PHP 8.1 or newer with the extension openssl.
//
//   php tillgate.php create  sandbox-merchant.json 12.50 USD
//   php tillgate.php query   sandbox-merchant.json PAYMENT_ID
//   php tillgate.php open    sandbox-merchant.json < callback.json
declare(strict_types=1);

final class TillgateError extends RuntimeException
{
    public function __construct(string $message, int $code, public readonly array $data)
    {
        parent::__construct("$message ($code)", $code);
    }
}

final class Tillgate
{
    private readonly string $aesKey;

    public function __construct(
        private readonly string $gatewayUrl,
        private readonly string $merchantId,
        string $aesKey,
        private readonly string $privateKey,
        private readonly string $platformPublicKey,
    ) {
        $this->aesKey = base64_decode($aesKey, true) ?: throw new InvalidArgumentException('aesKey is not base64');
    }

    public static function fromFile(string $path): self
    {
        $c = json_decode(file_get_contents($path), true, 16, JSON_THROW_ON_ERROR);
        return new self($c['gatewayUrl'], $c['merchantId'], $c['aesKey'], $c['privateKey'], $c['platformPublicKey']);
    }

    public function create(array $body): array
    {
        return $this->call('service.trade.create', $body);
    }

    public function query(string $paymentId): array
    {
        return $this->call('service.trade.query', ['paymentId' => $paymentId]);
    }

    /** Safe to repeat when no answer came: with the same orderNo it stays the same order. */
    private function call(string $method, array $body): array
    {
        $s = json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
        $envelope = $this->seal($method, $s, (int) (microtime(true) * 1000), random_bytes(12));
        $http = ['method' => 'POST', 'header' => 'Content-Type: application/json', 'content' => json_encode($envelope),
            'ignore_errors' => true, 'timeout' => 15];
        $text = file_get_contents("$this->gatewayUrl/api/v1/gateway", false, stream_context_create(['http' => $http]));
        if ($text === false) {
            throw new RuntimeException('The gateway cannot be reached.');
        }
        $answer = json_decode($text, true, 32, JSON_THROW_ON_ERROR);
        if ((int) $answer['code'] !== 20000) {
            throw new TillgateError($answer['msg'], (int) $answer['code'], $answer['data'] ?? []);
        }
        return $answer['data'];
    }

    public function stringToSign(string $method, string $s, int $timestamp): string
    {
        return "body=$s&charset=utf-8&encryptType=AES&format=json&merchantId=$this->merchantId"
            . "&method=$method&signType=RSA&timestamp=$timestamp";
    }

    /** $s is the body's text. It was serialised once: this very text is signed and encrypted. */
    public function seal(string $method, string $s, int $timestamp, string $nonce): array
    {
        $text = $this->stringToSign($method, $s, $timestamp);
        if (!openssl_sign($text, $sign, $this->privateKey, OPENSSL_ALGO_SHA256)) {
            throw new RuntimeException('The private key cannot sign.');
        }
        $ciphertext = openssl_encrypt($s, 'aes-256-gcm', $this->aesKey, OPENSSL_RAW_DATA, $nonce, $tag, '', 16);
        return ['merchantId' => $this->merchantId, 'method' => $method, 'timestamp' => $timestamp,
            'sign' => base64_encode($sign), 'body' => base64_encode($nonce . $ciphertext . $tag)];
    }

    /**
     * The plain body of a callback, or null: then answer HTTP 400 and do nothing. Otherwise, when it is handled, answer
     * HTTP 200 with {"code":20000,"msg":""}. Its id is the same on every attempt. $raw is file_get_contents('php://input').
     */
    public function openCallback(string $raw): ?string
    {
        $e = json_decode($raw, true, 16);
        foreach (['id', 'merchantId', 'eventName', 'sign', 'body'] as $name) {
            if (!is_array($e) || !is_string($e[$name] ?? null)) {
                return null;
            }
        }
        $sealed = base64_decode($e['body'], true);
        $sign = base64_decode($e['sign'], true);
        // The tag must have all its 16 bytes: PHP accepts shorter ones.
        if ($e['merchantId'] !== $this->merchantId || !$sealed || !$sign || strlen($sealed) < 28) {
            return null;
        }
        [$nonce, $ciphertext, $tag] = [substr($sealed, 0, 12), substr($sealed, 12, -16), substr($sealed, -16)];
        $s = openssl_decrypt($ciphertext, 'aes-256-gcm', $this->aesKey, OPENSSL_RAW_DATA, $nonce, $tag);
        if ($s === false) {
            return null;
        }
        // Fields that a later gateway adds are signed too.
        $fields = ['charset' => 'utf-8', 'encryptType' => 'AES', 'format' => 'json', 'signType' => 'RSA'];
        $fields = array_merge($fields, array_filter($e, 'is_string'), ['body' => $s]);
        unset($fields['sign']);
        ksort($fields, SORT_STRING);
        $text = implode('&', array_map(fn($name, $value) => "$name=$value", array_keys($fields), $fields));
        return openssl_verify($text, $sign, $this->platformPublicKey, OPENSSL_ALGO_SHA256) === 1 ? $s : null;
    }
}

if (PHP_SAPI === 'cli' && realpath($argv[0]) === __FILE__) {
    [, $command, $file] = $argv + [1 => '', 2 => ''];
    $tillgate = Tillgate::fromFile($file);
    $now = (int) (microtime(true) * 1000);
    echo match ($command) {
        'create' => json_encode($tillgate->create([
            'order' => ['orderNo' => "php-$now", 'orderAmount' => $argv[3],
                'goods' => [['referenceGoodsId' => 'tea', 'goodsName' => 'Tea', 'goodsAmount' => $argv[3]]]],
            'channel' => 'WEB', 'paymentAmount' => $argv[3], 'currency' => $argv[4],
            'paymentTime' => $now, 'paymentExpiryTime' => $now + 1_800_000])),
        'query' => json_encode($tillgate->query($argv[3])),
        'open' => $tillgate->openCallback(stream_get_contents(STDIN)) ?? 'This is not a callback of the gateway.',
    }, "\n";
}
