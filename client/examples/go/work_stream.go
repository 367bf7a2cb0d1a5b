package main

import (
	"context"
	"io"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	pb "skiplane.dev/client/go/skiplane/v1"
)

// workStream is what belongs to one stream: the numbers of what was sent, and the message that
// gathers what is ready while the one before it is sent. The worker's mutex protects it.
type workStream struct {
	number  int64
	named   []*attempt           // by the hello
	settled map[int64]*attempt   // settlements that are not answered
	asked   map[int64][]*attempt // heartbeats that are not answered
	next    *pb.WorkRequest
	last    int64 // the heartbeat that ends the session: nothing is sent after it
	ready   chan struct{}

	hasEnded bool // the session
}

func newWorkStream() *workStream {
	return &workStream{settled: map[int64]*attempt{}, asked: map[int64][]*attempt{},
		next: &pb.WorkRequest{}, ready: make(chan struct{}, 1)}
}

// work plays one stream: nil once the session has ended after stop.
func (w *worker) work(broker pb.BrokerServiceClient) (welcomed bool, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := broker.Work(ctx)
	if err != nil {
		return false, err
	}
	s := w.begin()
	defer w.leave()
	go w.send(ctx, stream, s)
	for {
		message, err := stream.Recv()
		if err == io.EOF && s.hasEnded {
			return true, nil
		} else if err == io.EOF {
			return true, errOld
		} else if err != nil {
			return welcomed, err // also at a broker that drains
		}
		welcomed = true
		w.take(s, message)
	}
}

// begin says what is held, and settles again what was not answered.
func (w *worker) begin() *workStream {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stream = newWorkStream()
	hello := &pb.WorkHello{WorkerId: w.id, ClientVersion: "example-go", Concurrency: slots,
		LeaseDuration: durationpb.New(leaseDuration),
		Queues:        []*pb.LeaseQueue{{Name: queue}}}
	w.stream.next.Hello = hello
	if !w.isStopping && !w.isQuiet {
		w.stream.next.Credit = int32(slots - w.running)
	}
	for a := range w.held {
		w.stream.named = append(w.stream.named, a)
		hello.Leases = append(hello.Leases, &pb.HeldLease{LeaseToken: a.task.LeaseToken})
		if a.end != nil {
			w.stream.settle(a)
		}
	}
	return w.stream
}

func (w *worker) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stream = nil
}

func (s *workStream) settle(a *attempt) {
	s.number++
	s.settled[s.number] = a
	s.next.Settlements = append(s.next.Settlements, &pb.WorkSettlement{Number: s.number, Item: a.end})
	signalTo(s.ready)
}

// renew moves the session's end, and asks for the state of what is held.
func (s *workStream) renew(held map[*attempt]bool) {
	if s.last != 0 || s.next.Heartbeat != nil {
		return
	}
	s.number++
	s.next.Heartbeat = &pb.WorkHeartbeat{Number: s.number}
	for a := range held {
		s.asked[s.number] = append(s.asked[s.number], a)
		s.next.Heartbeat.Leases = append(s.next.Heartbeat.Leases,
			&pb.HeldLease{LeaseToken: a.task.LeaseToken})
	}
	signalTo(s.ready)
}

// end gives back what is on its way, and ends the session: nothing is sent after that.
func (s *workStream) end() {
	s.number++
	s.next.Heartbeat = &pb.WorkHeartbeat{Number: s.number, EndSession: true}
	s.last = s.number
	signalTo(s.ready)
}

// send begins with the hello. It renews four times per lease duration, whatever else there is.
func (w *worker) send(ctx context.Context, stream pb.BrokerService_WorkClient, s *workStream) {
	renewal := time.NewTicker(leaseDuration / 4)
	defer renewal.Stop()
	for {
		w.mu.Lock()
		message, isLast := s.next, s.last != 0
		s.next = &pb.WorkRequest{}
		w.mu.Unlock()
		if stream.Send(message) != nil {
			return // Recv says why
		}
		if isLast {
			stream.CloseSend()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-s.ready:
		case <-renewal.C:
			w.mu.Lock()
			s.renew(w.held)
			w.mu.Unlock()
		}
	}
}

func ack(task *pb.LeasedTask) *pb.SettleItem {
	return &pb.SettleItem{Settlement: &pb.SettleItem_Ack{
		Ack: &pb.AckItem{LeaseToken: task.LeaseToken}}}
}

func nack(task *pb.LeasedTask, why, text string) *pb.SettleItem {
	return &pb.SettleItem{Settlement: &pb.SettleItem_Nack{Nack: &pb.NackItem{
		LeaseToken: task.LeaseToken, Error: &pb.TaskError{Type: why, Text: []byte(text)}}}}
}
