"""The API in a few words, and what a refusal says."""

import uuid

import grpc

from support import stubs  # noqa: F401  (first: it makes the modules below)
from google.protobuf import descriptor_pb2, duration_pb2, field_mask_pb2
from google.rpc import error_details_pb2, status_pb2
from skiplane.v1 import (admin_pb2, admin_pb2_grpc, broker_pb2, broker_pb2_grpc, bulk_pb2,
                         queue_pb2, report_pb2, task_pb2)

DEADLINE_S = 90  # a guard against hangs
OPTIONS = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]


def seconds(value):
    whole = int(value)
    return duration_pb2.Duration(seconds=whole, nanos=round((value - whole) * 1e9))


def takes_stream(method):
    """Whether a method takes many messages, from its description: such ones are not to be had by
    HTTP."""
    proto = descriptor_pb2.MethodDescriptorProto()
    method.CopyToProto(proto)
    return proto.client_streaming


def answers_stream(method):
    """Whether it takes one message and answers with many."""
    proto = descriptor_pb2.MethodDescriptorProto()
    method.CopyToProto(proto)
    return proto.server_streaming and not proto.client_streaming


def is_stream(method):
    return takes_stream(method) or answers_stream(method)


def state_name(state):
    return task_pb2.TaskState.Name(state).removeprefix("TASK_STATE_")


def detail_of(error, kind):
    """The first detail of this kind of a grpc.RpcError; an empty one if it has none."""
    found = kind()
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                if detail.Unpack(found):
                    return found
    return found


def reason_of(error):
    """The reason of a grpc.RpcError; empty if it has none."""
    return detail_of(error, error_details_pb2.ErrorInfo).reason


def fields_of(error):
    """The paths of the fields that a grpc.RpcError blames."""
    blamed = detail_of(error, error_details_pb2.BadRequest).field_violations
    return [violation.field for violation in blamed]


def attempts_of(tasks):
    """What leased tasks are compared by with those of a repeated lease, whose order and tokens may
    differ."""
    return sorted((task.task_id, task.attempt) for task in tasks)


def retry_delay_of(error):
    """The hint of a grpc.RpcError when to come again, in seconds; 0 if it has none."""
    hint = detail_of(error, error_details_pb2.RetryInfo).retry_delay
    return hint.ToTimedelta().total_seconds()


class _Shown(grpc.ClientCallDetails):
    """What a call is told by, with the caller's token."""

    def __init__(self, details, metadata):
        self.method, self.timeout, self.metadata = details.method, details.timeout, metadata
        self.credentials, self.wait_for_ready = details.credentials, details.wait_for_ready
        self.compression = details.compression


class _WithToken(grpc.UnaryUnaryClientInterceptor):
    def __init__(self, token):
        self._shown = (("authorization", f"Bearer {token}"),)

    def intercept_unary_unary(self, continuation, details, request):
        metadata = (*(details.metadata or ()), *self._shown)
        return continuation(_Shown(details, metadata), request)


class Client:
    """One channel. Names of outcomes and states are the API's, without their prefix."""

    def __init__(self, address, token=None):
        self.channel = grpc.insecure_channel(address, OPTIONS)
        shown = self.channel
        if token is not None:
            shown = grpc.intercept_channel(self.channel, _WithToken(token))
        self.broker = broker_pb2_grpc.BrokerServiceStub(shown)
        self.admin = admin_pb2_grpc.AdminServiceStub(shown)

    def close(self):
        self.channel.close()

    def create_queue(self, name, lane_count=0, **settings):
        request = admin_pb2.CreateQueueRequest(name=name, lane_count=lane_count,
                                               settings=queue_pb2.QueueSettings(**settings))
        return self.admin.CreateQueue(request, timeout=DEADLINE_S).queue

    def update_queue(self, name, *paths, **settings):
        request = admin_pb2.UpdateQueueRequest(
            name=name, settings=queue_pb2.QueueSettings(**settings),
            update_mask=field_mask_pb2.FieldMask(paths=paths))
        return self.admin.UpdateQueue(request, timeout=DEADLINE_S).queue

    def queue(self, name):
        return self.admin.GetQueue(admin_pb2.GetQueueRequest(name=name), timeout=DEADLINE_S).queue

    def pause(self, name, mode="LEASE", reason=""):
        request = admin_pb2.PauseQueueRequest(name=name, mode=f"PAUSE_MODE_{mode}", reason=reason)
        return self.admin.PauseQueue(request, timeout=DEADLINE_S).queue

    def resume(self, name):
        return self.admin.ResumeQueue(admin_pb2.ResumeQueueRequest(name=name),
                                      timeout=DEADLINE_S).queue

    def task(self, task_id):
        return self.admin.GetTask(admin_pb2.GetTaskRequest(task_id=task_id),
                                  timeout=DEADLINE_S).task

    def state(self, task_id):
        return state_name(self.task(task_id).state)

    def enqueue_all(self, queue, tasks, request_id=""):
        request = broker_pb2.EnqueueRequest(queue=queue, tasks=tasks, request_id=request_id)
        return self.broker.Enqueue(request, timeout=DEADLINE_S).results

    @staticmethod
    def new_task(payload=b"", **fields):
        return broker_pb2.NewTask(payload=payload, **fields)

    def enqueue(self, queue, payload=b"", request_id="", **fields):
        """One task; its id."""
        task = self.new_task(payload, **fields)
        return self.enqueue_all(queue, [task], request_id)[0].task_id

    def lease_call(self, queue, **fields):
        return self.broker.Lease(lease_request(queue, **fields), timeout=DEADLINE_S)

    def lease(self, queue, **fields):
        """Leased tasks; waits for the first one for a minute unless told otherwise."""
        fields.setdefault("wait", 60)
        return list(self.lease_call(queue, **fields).tasks)

    def lease_later(self, queue, **fields):
        """A parked lease, as a future."""
        fields.setdefault("wait", 60)
        return self.broker.Lease.future(lease_request(queue, **fields), timeout=DEADLINE_S)

    def ack(self, *tasks):
        items = [broker_pb2.AckItem(lease_token=task.lease_token) for task in tasks]
        response = self.broker.Ack(broker_pb2.AckRequest(items=items), timeout=DEADLINE_S)
        return [broker_pb2.SettleOutcome.Name(result.outcome).removeprefix("SETTLE_OUTCOME_")
                for result in response.results]

    def ack_results(self, task, **fields):
        """The whole results of one item that may say more than that the attempt succeeded."""
        item = broker_pb2.AckItem(lease_token=task.lease_token, **fields)
        return self.broker.Ack(broker_pb2.AckRequest(items=[item]), timeout=DEADLINE_S).results

    def nack(self, task, disposition="RETRY", **fields):
        """The result of one item."""
        item = broker_pb2.NackItem(lease_token=task.lease_token,
                                   disposition=f"NACK_DISPOSITION_{disposition}", **fields)
        return self.broker.Nack(broker_pb2.NackRequest(items=[item]),
                                timeout=DEADLINE_S).results[0]

    def heartbeat(self, worker_id, duration, *tasks, progress=None):
        leases = [broker_pb2.HeldLease(lease_token=task.lease_token, progress=progress)
                  for task in tasks]
        request = broker_pb2.HeartbeatRequest(worker_id=worker_id, leases=leases,
                                              lease_duration=seconds(duration))
        return self.broker.Heartbeat(request, timeout=DEADLINE_S)


def lease_request(queue, wait=0, duration=None, max_tasks=1, stage="", **fields):
    return broker_pb2.LeaseRequest(
        queues=[broker_pb2.LeaseQueue(name=queue, stage=stage)], max_tasks=max_tasks,
        wait=seconds(wait),
        lease_duration=None if duration is None else seconds(duration), **fields)


def new_id():
    return str(uuid.uuid4())
