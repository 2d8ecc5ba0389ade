<?php
declare(strict_types=1);

namespace Tillgate;

/** This is not from the gateway, or not for this merchant: answer HTTP 400 and do nothing. */
final class NotGenuine extends \RuntimeException
{
}
