<?php
declare(strict_types=1);

namespace Tillgate;

/** By PHP's own streams: no other package is needed. */
final class StreamTransport implements Transport
{
    public function __construct(private readonly float $timeoutSeconds = 15)
    {
    }

    public function post(string $url, string $json): string
    {
        $http = ['method' => 'POST', 'header' => 'Content-Type: application/json', 'content' => $json,
            'ignore_errors' => true, 'follow_location' => 0, 'timeout' => $this->timeoutSeconds];
        $text = @file_get_contents($url, false, stream_context_create(['http' => $http]));
        if ($text === false) {
            throw new \RuntimeException("No answer came from $url. Repeating with the same numbers is safe.");
        }
        return $text;
    }
}
