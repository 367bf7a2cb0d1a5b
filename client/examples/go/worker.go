package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"log"
	"sync"
	"time"

	pb "skiplane.dev/client/go/skiplane/v1"
)

// attempt is a lease that the worker holds: its work runs, or has ended and is not answered yet.
type attempt struct {
	task   *pb.LeasedTask
	cancel context.CancelFunc
	end    *pb.SettleItem // nil while it runs
}

// worker runs tasks that the stream Work pushes. Its session, and so its leases, outlive streams.
type worker struct {
	id     string
	handle func(context.Context, *pb.LeasedTask) error

	mu         sync.Mutex
	held       map[*attempt]bool
	running    int
	isStopping bool
	isQuiet    bool        // an operator asked for no more tasks
	stream     *workStream // nil between streams
}

func newWorker(handle func(context.Context, *pb.LeasedTask) error) *worker {
	return &worker{id: rand.Text(), handle: handle, held: map[*attempt]bool{}}
}

// stop lets what runs end, and then the session.
func (w *worker) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isStopping = true
	w.endIfIdle()
}

func (w *worker) take(s *workStream, message *pb.WorkResponse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if message.Welcome != nil {
		w.note(s.named, message.Welcome.Leases)
	}
	for _, task := range message.Tasks {
		w.begun(task)
	}
	for _, result := range message.Results {
		w.answered(s, result)
	}
	for _, beat := range message.Heartbeats {
		w.note(s.asked[beat.Number], beat.Response.GetResults()) // none if it was refused
		delete(s.asked, beat.Number)
		if beat.Response != nil && beat.Number != s.last {
			w.obey(s, beat.Response.Command)
		}
		if beat.Number == s.last { // an old stream ends without this answer
			s.hasEnded = beat.Response != nil
		}
	}
	for _, notice := range message.Notices {
		for a := range w.held {
			if bytes.Equal(a.task.LeaseToken, notice.LeaseToken) {
				w.told(a, notice.State)
			}
		}
	}
	w.endIfIdle()
}

// obey does what an operator asks: to take no more tasks, to take some again, or to stop.
func (w *worker) obey(s *workStream, command pb.WorkerCommand) {
	isQuiet := command == pb.WorkerCommand_WORKER_COMMAND_QUIET ||
		command == pb.WorkerCommand_WORKER_COMMAND_STOP
	if isQuiet != w.isQuiet && !w.isStopping {
		w.isQuiet = isQuiet
		s.next.WithdrawCredit = isQuiet
		s.next.Credit = 0
		if !isQuiet {
			s.next.Credit = int32(slots - w.running)
		}
		signalTo(s.ready)
	}
	if command == pb.WorkerCommand_WORKER_COMMAND_STOP {
		w.isStopping = true
	}
}

func (w *worker) note(attempts []*attempt, results []*pb.HeartbeatResult) {
	for i, result := range results {
		w.told(attempts[i], result.State)
	}
}

// told stops the work of an attempt that is lost, or that an operator cancels.
func (w *worker) told(a *attempt, state pb.LeaseState) {
	if state != pb.LeaseState_LEASE_STATE_HELD {
		a.cancel()
	}
	if state == pb.LeaseState_LEASE_STATE_LOST && a.end == nil {
		delete(w.held, a)
	}
}

func (w *worker) begun(task *pb.LeasedTask) {
	ctx, cancel := context.WithCancel(context.Background())
	a := &attempt{task: task, cancel: cancel}
	w.held[a] = true
	if w.isStopping { // it was on its way
		a.end = &pb.SettleItem{Settlement: &pb.SettleItem_Release{
			Release: &pb.ReleaseItem{LeaseToken: task.LeaseToken}}}
		w.stream.settle(a)
		return
	}
	w.running++
	go func() { w.ended(a, w.handle(ctx, task)) }()
}

// ended settles the attempt, and gives its credit back.
func (w *worker) ended(a *attempt, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a.cancel()
	w.running--
	if w.stream != nil && !w.isStopping && !w.isQuiet {
		w.stream.next.Credit++
		signalTo(w.stream.ready)
	}
	if !w.held[a] { // lost: a settlement would be refused
		w.endIfIdle()
		return
	}
	a.end = ack(a.task)
	if err != nil {
		a.end = nack(a.task, "Failed", err.Error())
	}
	if w.stream != nil {
		w.stream.settle(a)
	}
}

func (w *worker) answered(s *workStream, result *pb.WorkResult) {
	a := s.settled[result.Number]
	delete(s.settled, result.Number)
	if refusal := result.Refusal; refusal != nil { // as when the database was away
		time.AfterFunc(max(refusal.RetryDelay.AsDuration(), leastPause), func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.stream == s {
				s.settle(a)
			}
		})
	} else if refusal := result.Result.Refusal; refusal != nil { // it asks for what is impossible
		a.end = nack(a.task, refusal.Reason, refusal.Message)
		s.settle(a)
	} else {
		delete(w.held, a)
		if result.Result.Outcome == pb.SettleOutcome_SETTLE_OUTCOME_LEASE_LOST {
			log.Printf("the lease of %s was lost: it may run twice", a.task.TaskId)
		}
	}
}

// endIfIdle ends the session after the last answer.
func (w *worker) endIfIdle() {
	if w.isStopping && len(w.held) == 0 && w.running == 0 && w.stream != nil && w.stream.last == 0 {
		w.stream.end()
	}
}
