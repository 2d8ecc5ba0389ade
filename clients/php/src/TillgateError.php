<?php
declare(strict_types=1);

namespace Tillgate;

/** The gateway refused a request. Decide by the code or by name; the message is for people. */
final class TillgateError extends \RuntimeException
{
    public readonly ?string $name;
    public readonly ?string $field;
    public readonly ?string $requestId;

    public function __construct(string $message, int $code, array $data)
    {
        parent::__construct("$message ($code)", $code);
        $this->name = Codes::NAMES[$code] ?? null;
        $this->field = $data['field'] ?? null;
        $this->requestId = $data['requestId'] ?? null;
    }
}
