// Builds a request, serialises and parses it, compares, and writes it for the test.
using System;
using Google.Protobuf;
using Skiplane.V1;

var task = new NewTask { Payload = ByteString.CopyFromUtf8("hello"), Key = "order-17" };
var request = new EnqueueRequest { Queue = "mail", Tasks = { task } };
var parsed = EnqueueRequest.Parser.ParseFrom(request.ToByteArray());
if (!parsed.Equals(request)) throw new Exception(parsed.ToString());
using var output = Console.OpenStandardOutput();
parsed.WriteTo(output);
