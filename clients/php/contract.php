<?php
// Lets the common contract suite drive this client: one JSON command a line in, one JSON answer a line out. Under
// `php -S` the same file is the page that takes callbacks.
declare(strict_types=1);

use Tillgate\{Callback, CallbackHandler, NotGenuine, Psr18Transport, StreamTransport, Tillgate, TillgateError};

spl_autoload_register(function (string $class): void {
    $file = __DIR__ . '/src/' . str_replace('\\', '/', substr($class, strlen('Tillgate\\'))) . '.php';
    if (str_starts_with($class, 'Tillgate\\') && is_file($file)) {
        require $file;
    }
});

if (PHP_SAPI === 'cli-server') {
    $client = Tillgate::fromFile(getenv('CREDENTIALS'));
    (new CallbackHandler($client, function (Callback $callback): void {
        if (($callback->result['msg'] ?? '') === 'fail') {
            throw new RuntimeException('as the suite asked for');
        }
        file_put_contents(getenv('RECEIVED'), "$callback->text\n", FILE_APPEND);
    }))->serve();
    return;
}

$now = null;
$transport = new StreamTransport();
// Debian's Guzzle, where it is there: a client of PSR-18 that nobody here wrote.
if (is_file('/usr/share/php/GuzzleHttp/autoload.php')) {
    require '/usr/share/php/GuzzleHttp/autoload.php';
    $factory = new GuzzleHttp\Psr7\HttpFactory();
    $transport = new Psr18Transport(new GuzzleHttp\Client(['http_errors' => false]), $factory, $factory);
}
$clock = function () use (&$now): int {
    return $now ?? (int) (microtime(true) * 1000);
};
$client = Tillgate::fromFile($argv[1], $transport, $clock);
$received = tempnam(sys_get_temp_dir(), 'callbacks');

while (($line = fgets(STDIN)) !== false) {
    $given = json_decode($line, true);
    $now = $given['nowMs'] ?? null;
    try {
        $data = match ($given['do']) {
            'seal' => ['stringToSign' => $client->keys->stringToSign($given['method'], $given['body'], $given['timestamp']),
                ...$client->keys->seal($given['method'], $given['body'], $given['timestamp'], hex2bin($given['nonceHex']))],
            'open' => ['body' => $client->openCallback($given['raw'], $given['maxAgeMs'] ?? null)->text],
            'redirect' => $client->verifyRedirect($given['query'], $given['paymentId'] ?? null),
            'create' => $client->create($given['order']),
            'query' => $client->query($given['paymentId'] ?? null, $given['orderNo'] ?? null),
            'cancel' => $client->cancel($given['paymentId']),
            'refund' => $client->refund($given['paymentId'], $given['referRefundNo'], $given['amount']),
            'bill' => $client->bill($given['date']),
            'send' => $client->callText($given['method'], $given['text']),
            'serve' => ['port' => serve($argv[1], $received)],
            'environment' => fromEnvironment($given['orderNo']),
            'received' => ['bodies' => file($received, FILE_IGNORE_NEW_LINES)],
        };
        $answer = ['data' => $data];
    } catch (NotGenuine) {
        $answer = ['refused' => true];
    } catch (TillgateError $error) {
        $answer = ['error' => ['code' => $error->getCode(), 'name' => $error->name, 'field' => $error->field]];
    }
    echo json_encode($answer), "\n";
}

function fromEnvironment(string $orderNo): array
{
    try {
        return Tillgate::fromEnvironment()->query(orderNo: $orderNo);
    } catch (InvalidArgumentException $error) {
        return ['problem' => $error->getMessage()];
    }
}

/** PHP's own web server on a port that was free, until this process ends. */
function serve(string $credentials, string $received): int
{
    global $server;
    $probe = stream_socket_server('tcp://127.0.0.1:0');
    $port = (int) substr(strrchr(stream_socket_get_name($probe, false), ':'), 1);
    fclose($probe);
    $environment = [...getenv(), 'CREDENTIALS' => $credentials, 'RECEIVED' => $received];
    $nothing = ['file', '/dev/null', 'w'];
    $server = proc_open(['php', '-S', "127.0.0.1:$port", __FILE__], [1 => $nothing, 2 => $nothing], $pipes, null, $environment);
    register_shutdown_function(fn() => proc_terminate($server));
    while (!@fsockopen('127.0.0.1', $port)) {
        usleep(20_000);
    }
    return $port;
}
