<?php
declare(strict_types=1);

namespace Tillgate;

use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/** By any client of PSR-18: Guzzle, Symfony and others. */
final class Psr18Transport implements Transport
{
    public function __construct(
        private readonly ClientInterface $client,
        private readonly RequestFactoryInterface $requests,
        private readonly StreamFactoryInterface $streams,
    ) {
    }

    public function post(string $url, string $json): string
    {
        $request = $this->requests->createRequest('POST', $url)
            ->withHeader('Content-Type', 'application/json')
            ->withBody($this->streams->createStream($json));
        return (string) $this->client->sendRequest($request)->getBody();
    }
}
