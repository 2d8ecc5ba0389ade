<?php
declare(strict_types=1);

namespace Tillgate;

/**
 * Takes callbacks. The listener gets each one that is genuine: let it look at the id, and do slow work afterwards; when
 * it throws, the gateway sends the callback again later. $maxAgeMs refuses attempts that were made longer ago.
 */
final class CallbackHandler
{
    private const MAX_BYTES = 256 * 1024;

    /** @param \Closure(Callback): mixed $listener */
    public function __construct(
        private readonly Tillgate $client,
        private readonly \Closure $listener,
        private readonly ?int $maxAgeMs = null,
    ) {
    }

    /** @return array{int, string} HTTP status and JSON body, for whatever framework you have */
    public function answer(string $method, string $raw): array
    {
        if ($method !== 'POST') {
            return self::refusal(405, 40401, 'Callbacks come by POST.');
        }
        if (strlen($raw) > self::MAX_BYTES) {
            return self::refusal(413, 41300, 'This is too large for a callback.');
        }
        try {
            $callback = $this->client->openCallback($raw, $this->maxAgeMs);
        } catch (NotGenuine) {
            return self::refusal(400, 40100, 'This is not a callback.');
        }
        try {
            ($this->listener)($callback);
        } catch (\Throwable $error) {
            error_log("Callback $callback->id was not handled: $error");
            return self::refusal(500, 50000, 'The callback could not be handled: send it again.');
        }
        return [200, '{"code":20000,"msg":""}'];
    }

    /** As a page of its own under PHP-FPM, mod_php or php -S. */
    public function serve(): void
    {
        $raw = file_get_contents('php://input', false, null, 0, self::MAX_BYTES + 1);
        [$status, $body] = $this->answer($_SERVER['REQUEST_METHOD'], (string) $raw);
        http_response_code($status);
        header('Content-Type: application/json');
        echo $body;
    }

    private static function refusal(int $status, int $code, string $message): array
    {
        return [$status, json_encode(['code' => $code, 'msg' => $message])];
    }
}
