"""Calls of the broker as an attacker sends them: paths, and messages in gRPC's frame."""

from google.protobuf import duration_pb2
from skiplane.v1 import admin_pb2, broker_pb2, task_pb2

import frames

QUEUE = "attacked"        # of the attacker
LARGE_QUEUE = "large"     # with tasks that make large answers
ENQUEUE_PATH = "/skiplane.v1.BrokerService/Enqueue"
LEASE_PATH = "/skiplane.v1.BrokerService/Lease"
LIST_PATH = "/skiplane.v1.AdminService/ListTasks"
WORK_PATH = "/skiplane.v1.BrokerService/Work"
PRODUCE_PATH = "/skiplane.v1.BrokerService/Produce"


def enqueue(payload=b"x"):
    request = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask(payload=payload)])
    return frames.message(request.SerializeToString())


def lease(worker, wait_s=60, queue="empty", max_tasks=1):
    request = broker_pb2.LeaseRequest(queues=[broker_pb2.LeaseQueue(name=queue)],
                                      worker_id=worker, max_tasks=max_tasks,
                                      wait=duration_pb2.Duration(seconds=wait_s))
    return frames.message(request.SerializeToString())


def hello(worker, credit):
    """The first message of a Work."""
    request = broker_pb2.WorkRequest(credit=credit, hello=broker_pb2.WorkHello(
        worker_id=worker, queues=[broker_pb2.LeaseQueue(name=QUEUE)]))
    return frames.message(request.SerializeToString())


def enqueues(numbers):
    """A message of a Produce, with the next ten of them."""
    task = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask(payload=b"x")])
    request = broker_pb2.ProduceRequest(enqueues=[
        broker_pb2.ProduceEnqueue(number=next(numbers), request=task) for _ in range(10)])
    return frames.message(request.SerializeToString())


def refused_enqueues(numbers, count):
    """As many without a request."""
    request = broker_pb2.ProduceRequest(enqueues=[
        broker_pb2.ProduceEnqueue(number=next(numbers)) for _ in range(count)])
    return frames.message(request.SerializeToString())


def list_large():
    request = admin_pb2.ListTasksRequest(view=task_pb2.TASK_VIEW_FULL)
    request.filter.queue = LARGE_QUEUE
    return frames.message(request.SerializeToString())


def whole(path, body, stream):
    """The frames of a call that is sent to its end."""
    return (frames.frame(frames.HEADERS, frames.END_HEADERS, stream, frames.head(path)) +
            frames.frame(frames.DATA, frames.END_STREAM, stream, body))


def reset(stream, code=8):
    return frames.frame(frames.RST_STREAM, 0, stream, code.to_bytes(4, "big"))
