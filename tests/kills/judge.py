"""Whether what processes noted and what the database holds agree, after all tasks have ended."""

import collections

import journal

SUCCEEDED, RETRIED, LOST = 1, 2, 4  # outcomes in the history
KINDS = {"ack": SUCCEEDED, "retry": RETRIED}
SETTLED = ("SETTLED", "ALREADY_SETTLED")

Row = collections.namedtuple("Row", "task_id attempt outcome worker")  # of the history

HISTORY = """SELECT concat(h.lane, '-', h.task_id), h.attempt, h.outcome, k.name
 FROM (SELECT lane, task_id, attempt, outcome, session FROM skiplane.history
       UNION ALL SELECT lane, task_id, attempt, outcome, session FROM skiplane.packed_attempt) h
 LEFT JOIN public.known_session k ON k.id = h.session"""
RELEASED = """SELECT concat(s.lane, '-', t.id), count(*) FROM skiplane.settled s,
 unnest(s.tasks) AS t(id) WHERE s.outcome = 6 GROUP BY 1"""

# The statement that makes a task and leases it gives both the same time. Of attempts that ended.
HANDED_OFF = """SELECT count(*) FROM skiplane.history
 WHERE attempt = 1 AND lease_time = schedule_time"""

# A task may have been in several packs.
PACKED = """SELECT (SELECT count(DISTINCT (k.lane, k.id + i)) FROM public.known_pack k,
                    skiplane.positions(k.mask) AS i),
 (SELECT count(*) FROM skiplane.packed_attempt)"""


class Evidence:
    """`events`: of each process by its name. `mortal`: workers that were killed. `released`: how
    often each task was given back uncharged. `counts`: of tasks that are scheduled, ready, leased
    and succeeded, as the queue has them. `packed`: how many tasks were, and were acked so."""

    def __init__(self, events, mortal, history, released, counts=None, handed_off=0, packed=(0, 0)):
        self.events, self.history, self.released = events, history, released
        self.counts, self.handed_off, self.packed = counts, handed_off, packed
        # Whoever was silent for the time of its lease may have lost its tasks like a killed one.
        self.silent = {name for name, _ in self.noted("silent")}
        self.mortal = set(mortal) | self.silent

    @classmethod
    def of(cls, a_round):
        rows = a_round.database.run(HISTORY)
        released = a_round.database.run(RELEASED)
        return cls({name: journal.read(a_round.folder, name) for name in a_round.names},
                   a_round.workers_killed,
                   [Row(task, int(attempt), int(outcome), worker)
                    for task, attempt, outcome, worker in rows],
                   collections.Counter({task: int(count) for task, count in released}),
                   a_round.counts, a_round.database.number(HANDED_OFF),
                   [int(count) for count in a_round.database.run(PACKED)[0]])

    def noted(self, kind):
        """(process, what it noted) of each event of this kind."""
        return [(name, event[1:]) for name, of_it in self.events.items() for event in of_it
                if event[0] == kind]


def broken_in(evidence):
    """A sentence for each breach of a promise."""
    for check in (_enqueues, _successes, _numbers, _charges, _settlements, _pushes, _refusals,
                  _counts):
        yield from check(evidence)


def _enqueues(evidence):
    """Nothing that was answered is lost, and each request made one task."""
    answered = {payload: task for _, (payload, task) in evidence.noted("answered")}
    asked = {payload for _, payloads in evidence.noted("asked") for payload in payloads}
    ended = {row.task_id for row in evidence.history if row.outcome == SUCCEEDED}
    for payload in asked - answered.keys():
        yield f"enqueue {payload!r} was never answered"
    for payload, task in answered.items():
        if task not in ended:
            yield f"task {task} of {payload!r} was answered and did not succeed"
    for task in {row.task_id for row in evidence.history} - set(answered.values()):
        yield f"task {task} is none that an answer named"
    for worker, (task, _, payload) in evidence.noted("got"):
        if answered.get(payload) != task:
            yield f"{worker} got {payload!r} as {task}, not {answered.get(payload)}"


def _successes(evidence):
    """No task is done twice."""
    done = collections.Counter(row.task_id for row in evidence.history if row.outcome == SUCCEEDED)
    told = collections.Counter(task for _, (task, _, kind, outcome) in evidence.noted("told")
                               if kind == "ack" and outcome in SETTLED)
    for count, where in ((done, "in the history"), (told, "by answers to workers")):
        for task, times in count.items():
            if times > 1:
                yield f"task {task} succeeded {times} times {where}"


def _numbers(evidence):
    """The attempts of a task are counted from one, without gaps, and the last one succeeded."""
    attempts = collections.defaultdict(list)
    for row in evidence.history:
        attempts[row.task_id].append((row.attempt, row.outcome))
    for task, rows in attempts.items():
        rows.sort()
        if [number for number, _ in rows] != list(range(1, len(rows) + 1)):
            yield f"task {task} has the attempts {rows}"
        elif rows[-1][1] != SUCCEEDED:
            yield f"task {task} ended with attempt {rows[-1]}"


def _charges(evidence):
    """An attempt is charged if its worker settled it, or was killed."""
    sent = {(worker, task, attempt, KINDS.get(kind))
            for worker, (task, attempt, kind) in evidence.noted("sent")}
    for row in evidence.history:
        if row.outcome == LOST:
            if row.worker not in evidence.mortal:
                yield f"{row}: charged as lost, and its worker lived"
        elif (row.worker, row.task_id, row.attempt, row.outcome) not in sent:
            yield f"{row}: its worker settled no such attempt"


def _settlements(evidence):
    """What a worker was told is in the history, or was given back."""
    rows = {(row.worker, row.task_id, row.attempt, row.outcome) for row in evidence.history}
    for worker, (task, attempt, kind, outcome) in evidence.noted("told"):
        what = f"{worker} was answered its {kind} of attempt {attempt} of {task}"
        if outcome not in SETTLED:
            if worker not in evidence.silent:
                yield f"{what} by {outcome}"
        elif kind == "release":
            if not evidence.released[task]:
                yield f"{worker} released {task}, and nobody knows"
        elif (worker, task, attempt, KINDS[kind]) not in rows:
            yield f"{what} by {outcome}: no row"


def _pushes(evidence):
    """Each lease goes to one worker, and ends once: in the history, or given back."""
    got = collections.Counter(task for _, (task, _, _) in evidence.noted("got"))
    leases = collections.Counter(row.task_id for row in evidence.history) + evidence.released
    for task, times in got.items():
        if times > leases[task]:
            yield f"task {task} was pushed {times} times, of {leases[task]} leases"
    ended = collections.Counter((row.worker, row.task_id, row.attempt) for row in evidence.history)
    for attempt, times in ended.items():
        if times > 1:
            yield f"{attempt} ended {times} times"


def _refusals(evidence):
    """No worker that sends heartbeats loses what it holds, and no stream ends for another reason
    than its broker's death."""
    for name, event in evidence.noted("lost") + evidence.noted("ended"):
        if name not in evidence.silent:
            yield f"{name} was told: {event}"


def _counts(evidence):
    """The queue counts each task that succeeded, once, and no other."""
    done = sum(row.outcome == SUCCEEDED for row in evidence.history)
    if evidence.counts not in (None, (0, 0, 0, done)):
        yield f"the queue counts {evidence.counts}, and {done} tasks succeeded"


def figures(evidence):
    """What happened, by name: it says which moments the kills met."""
    got = {(worker, task, attempt) for worker, (task, attempt, _) in evidence.noted("got")}
    lost = [row for row in evidence.history if row.outcome == LOST]
    lost_unseen = sum((row.worker, row.task_id, row.attempt) not in got for row in lost)
    leases = len(evidence.history) + evidence.released.total()
    again = {of_it: {name for worker, names in evidence.noted("repeated")
                     if worker.startswith(of_it) for name in names_of(worker, names)}
             for of_it in (journal.PRODUCER, journal.WORKER)}
    return collections.Counter({
        "tasks": sum(row.outcome == SUCCEEDED for row in evidence.history),
        "attempts": len(evidence.history),
        "handed off": evidence.handed_off,
        "packed": evidence.packed[0], "of them acked in packs": evidence.packed[1],
        "given a priority": len(evidence.noted("moved")),
        "enqueues sent again": len(again[journal.PRODUCER]),
        "settlements sent again": len(again[journal.WORKER]),
        "of them settled before": sum(outcome == "ALREADY_SETTLED"
                                      for _, (*_, outcome) in evidence.noted("told")),
        "attempts lost with workers": len(lost), "of them unseen": lost_unseen,
        "given back": evidence.released.total(),
        "given back unseen": leases - len(evidence.noted("got")) - lost_unseen,
        "silent workers": len(evidence.silent)})


def names_of(worker, names):
    """What a process sent again: payloads of a producer's, or one attempt of a worker's."""
    return [(worker, *names)] if worker.startswith(journal.WORKER) else names
