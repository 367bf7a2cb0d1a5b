# Builds a request, serialises and parses it, compares, and writes it for the test.
require 'skiplane/v1/broker_pb'

task = Skiplane::V1::NewTask.new(payload: 'hello', key: 'order-17')
request = Skiplane::V1::EnqueueRequest.new(queue: 'mail', tasks: [task])
parsed = Skiplane::V1::EnqueueRequest.decode(Skiplane::V1::EnqueueRequest.encode(request))
abort parsed.inspect unless parsed == request
$stdout.binmode.write(Skiplane::V1::EnqueueRequest.encode(parsed))
