"""A worker process that never finishes: worker.py ADDRESS QUEUE OPTIONS. It leases one task,
prints "working", and then sends heartbeats (option "heartbeat": seconds between them) or is
silent until it is killed; it prints "lost" and ends when the answer says so. Option "duration"
is its lease time in seconds, "fraction" what each heartbeat reports as progress."""

import json
import sys
import threading

from support.client import Client, new_id, task_pb2


def main():
    address, queue, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    worker_id = new_id()
    duration = options.get("duration", 30)
    progress = None
    if "fraction" in options:
        progress = task_pb2.TaskProgress(fraction=options["fraction"])
    client = Client(address)
    tasks = client.lease(queue, worker_id=worker_id, worker_name="test", duration=duration)
    print("working" if tasks else "idle", flush=True)
    never = threading.Event()
    while not never.wait(options.get("heartbeat")):
        if not client.heartbeat(worker_id, duration, *tasks, progress=progress).session_alive:
            print("lost", flush=True)
            return


if __name__ == "__main__":
    main()
