<?php
// Checks tillgate.php against docs/test-vectors.json: php check-vectors.php ../../docs/test-vectors.json
declare(strict_types=1);
require __DIR__ . '/tillgate.php';

function check(bool $isRight, string $name): void
{
    if (!$isRight) {
        fwrite(STDERR, "wrong: $name\n");
        exit(1);
    }
}

$vectors = json_decode(file_get_contents($argv[1]), true, 32, JSON_THROW_ON_ERROR);
$keys = $vectors['keys'];
$client = new Tillgate('', $vectors['requests'][0]['envelope']['merchantId'], $keys['merchant']['aesKey'],
    $keys['merchant']['privateKey'], $keys['gateway']['publicKey']);

foreach ($vectors['requests'] as $v) {
    $e = $v['envelope'];
    $timestamp = (int) $e['timestamp'];
    check($client->stringToSign($e['method'], $v['body'], $timestamp) === $v['stringToSign'], $v['name']);
    $sealed = $client->seal($e['method'], $v['body'], $timestamp, hex2bin($v['nonceHex']));
    check($sealed['sign'] === $e['sign'] && $sealed['body'] === $e['body'], $v['name']);
}
foreach ($vectors['callbacks'] as $v) {
    $e = $v['envelope'];
    check($client->openCallback(json_encode($e)) === $v['body'], $v['name']);
    $changes = [['timestamp' => '1760000000001'], ['merchantId' => '100000000000000002'], ['sign' => $e['body']],
        ['body' => substr($e['body'], 0, -4) . 'AAA=']];
    foreach ($changes as $change) {
        check($client->openCallback(json_encode([...$e, ...$change])) === null, $v['name'] . ' ' . json_encode($change));
    }
}
echo count($vectors['requests']), ' requests and ', count($vectors['callbacks']), " callbacks are right\n";
