"""The queues that attacks use, and tasks that make large answers.

    prepare.py ADDRESS CERTIFICATE|- TASKS"""

import os
import sys

import place  # noqa: F401  (first)
import calls
from support.client import admin_pb2, admin_pb2_grpc, broker_pb2, broker_pb2_grpc, queue_pb2
from bystander import channel_to


def main(address, certificate, tasks):
    channel = channel_to(address, None if certificate == "-" else certificate)
    admin = admin_pb2_grpc.AdminServiceStub(channel)
    broker = broker_pb2_grpc.BrokerServiceStub(channel)
    for name in (calls.QUEUE, calls.LARGE_QUEUE, "empty"):
        admin.CreateQueue(admin_pb2.CreateQueueRequest(
            name=name, settings=queue_pb2.QueueSettings(max_payload_bytes=1 << 20)), timeout=30,
            wait_for_ready=True)
    large = broker_pb2.NewTask(payload=os.urandom(1000 << 10))
    broker.Enqueue(broker_pb2.EnqueueRequest(queue=calls.LARGE_QUEUE, tasks=[large] * int(tasks)),
                   timeout=30)
    channel.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
