<?php
declare(strict_types=1);

namespace Tillgate;

/** Posts JSON and answers the body of the response, whatever its HTTP status. */
interface Transport
{
    public function post(string $url, string $json): string;
}
