<?php
declare(strict_types=1);

namespace Tillgate;

final class Callback
{
    /**
     * @param string $id the same on every attempt: what duplicates are known by
     * @param array<string, mixed> $result the body
     * @param string $text the body as it was signed, with every amount's own digits
     * @param int $timestampMs when this attempt was made
     */
    public function __construct(
        public readonly string $id,
        public readonly string $eventName,
        public readonly array $result,
        public readonly string $text,
        public readonly int $timestampMs,
    ) {
    }
}
