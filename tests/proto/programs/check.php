<?php
// Loads the files of its arguments, builds a request, serialises and parses it, compares, and writes
// it for the test.
use Skiplane\V1\EnqueueRequest;
use Skiplane\V1\NewTask;

spl_autoload_register(function ($class) {
    require_once str_replace('\\', '/', $class) . '.php';
});
foreach (array_slice($argv, 1) as $file) {
    require_once $file;
}

$task = new NewTask(['payload' => 'hello', 'key' => 'order-17']);
$request = new EnqueueRequest(['queue' => 'mail', 'tasks' => [$task]]);
$parsed = new EnqueueRequest();
$parsed->mergeFromString($request->serializeToString());
if ($parsed->getTasks()[0]->getPayload() !== $task->getPayload()) {
    throw new Exception($parsed->serializeToJsonString());
}
echo $parsed->serializeToString();
