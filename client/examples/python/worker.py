"""Works on the tasks of the queue "mail" until none came for a while: worker.py [ADDRESS]."""

import sys
import uuid

import grpc
from google.protobuf import duration_pb2
from skiplane.v1 import broker_pb2, broker_pb2_grpc

channel = grpc.insecure_channel(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7070")
broker = broker_pb2_grpc.BrokerServiceStub(channel)
wanted = broker_pb2.LeaseRequest(
    queues=[broker_pb2.LeaseQueue(name="mail")], max_tasks=10, worker_id=str(uuid.uuid4()),
    wait=duration_pb2.Duration(seconds=2), lease_duration=duration_pb2.Duration(seconds=60))
while tasks := broker.Lease(wanted, timeout=30).tasks:
    for task in tasks:  # work that takes longer than the lease needs Heartbeat
        print("attempt", task.attempt, "of", task.task_id, task.payload)
    done = [broker_pb2.AckItem(lease_token=task.lease_token) for task in tasks]
    broker.Ack(broker_pb2.AckRequest(items=done), timeout=30)
