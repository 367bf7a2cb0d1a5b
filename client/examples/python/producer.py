"""Puts one task into the queue "mail": producer.py [ADDRESS]."""

import sys

import grpc
from skiplane.v1 import broker_pb2, broker_pb2_grpc

channel = grpc.insecure_channel(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7070")
broker = broker_pb2_grpc.BrokerServiceStub(channel)
task = broker_pb2.NewTask(payload=b"hello", key="order-17")
answer = broker.Enqueue(broker_pb2.EnqueueRequest(queue="mail", tasks=[task]), timeout=30)
print(answer.results[0].task_id, "is committed")
