<?php
declare(strict_types=1);

namespace Tillgate;

/** Credentials from the environment variables that the clients of all languages read. */
final class Environment
{
    private const NAMES = ['TILLGATE_GATEWAY_URL', 'TILLGATE_MERCHANT_ID', 'TILLGATE_AES_KEY', 'TILLGATE_PRIVATE_KEY',
        'TILLGATE_PLATFORM_PUBLIC_KEY'];

    /** @return array{string, Keys} The gateway's address and the keys. */
    public static function read(array $environment): array
    {
        $problems = [];
        $values = array_map(function (string $name) use ($environment, &$problems): string {
            return self::value($name, $environment, $problems);
        }, self::NAMES);
        if ($problems !== []) {
            throw new \InvalidArgumentException(implode('; ', $problems));
        }
        [$url, $merchantId, $aesKey, $privateKey, $platformPublicKey] = $values;
        return [$url, new Keys($merchantId, self::several($aesKey), $privateKey, self::several($platformPublicKey))];
    }

    private static function value(string $name, array $environment, array &$problems): string
    {
        $value = trim($environment[$name] ?? '');
        $file = trim($environment["{$name}_FILE"] ?? '');
        if ($value !== '' && $file !== '') {
            $problems[] = "$name and {$name}_FILE are both set: keep one of them";
        } elseif ($file !== '') {
            if (is_readable($file)) {
                return trim(file_get_contents($file));
            }
            $problems[] = "{$name}_FILE is $file: it cannot be read";
        } elseif ($value === '') {
            $problems[] = "$name is missing";
        }
        // A .env file has a PEM on one line, with \n for its line breaks.
        return str_contains($value, '-----BEGIN') ? str_replace('\n', "\n", $value) : $value;
    }

    /** While a key is replaced, a variable has two: separated by a comma, or one PEM after the other. */
    private static function several(string $text): array
    {
        $parts = explode(',', str_replace("-----\n-----BEGIN", '-----,-----BEGIN', $text));
        return array_values(array_filter($parts, fn(string $part): bool => trim($part) !== ''));
    }
}
