package main

import (
	"context"
	"crypto/rand"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	pb "skiplane.dev/client/go/skiplane/v1"
)

const unansweredMax = 1000

// producer enqueues single tasks on the stream Produce. What a stream that broke left unanswered
// goes out again on the next one, under the same request id: so it is created once.
type producer struct {
	done func(task *pb.NewTask, id string, err error)
	room chan struct{} // holds one entry for each that is unanswered
	wake chan struct{} // there is something to send, or nothing more will come

	mu       sync.Mutex
	waiting  []*pb.EnqueueRequest         // to be sent on this stream
	sent     map[int64]*pb.EnqueueRequest // by their numbers in this stream
	number   int64
	isClosed bool
}

func newProducer(done func(task *pb.NewTask, id string, err error)) *producer {
	return &producer{done: done, room: make(chan struct{}, unansweredMax),
		wake: make(chan struct{}, 1), sent: map[int64]*pb.EnqueueRequest{}}
}

// enqueue waits while too many are unanswered.
func (p *producer) enqueue(task *pb.NewTask) {
	p.room <- struct{}{}
	p.add(&pb.EnqueueRequest{Queue: queue, RequestId: rand.Text(), Tasks: []*pb.NewTask{task}})
}

func (p *producer) add(request *pb.EnqueueRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, request)
	signalTo(p.wake)
}

// close says that no more will come.
func (p *producer) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isClosed = true
	signalTo(p.wake)
}

// produce plays one stream: nil once all is answered after close.
func (p *producer) produce(broker pb.BrokerServiceClient) (answered bool, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := broker.Produce(ctx)
	if err != nil {
		cancel()
		return false, err
	}
	var sender sync.WaitGroup
	defer sender.Wait()
	defer cancel()
	p.begin()
	sender.Go(func() { p.send(ctx, stream) })
	for {
		message, err := stream.Recv()
		if err == io.EOF && p.isDone() {
			return true, nil
		} else if err == io.EOF {
			return true, errOld
		} else if err != nil {
			return answered, err // also at a broker that drains
		}
		answered = true
		for _, result := range message.Results {
			p.take(result)
		}
	}
}

// begin repeats what is unanswered, in its order: the old stream has ended.
func (p *producer) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var repeats []*pb.EnqueueRequest
	for _, number := range slices.Sorted(maps.Keys(p.sent)) {
		repeats = append(repeats, p.sent[number])
	}
	p.waiting = append(repeats, p.waiting...)
	clear(p.sent)
	signalTo(p.wake)
}

func (p *producer) send(ctx context.Context, stream pb.BrokerService_ProduceClient) {
	for {
		for request := p.next(); request != nil; request = p.next() {
			if stream.Send(request) != nil {
				return // Recv says why
			}
		}
		if p.isDone() {
			stream.CloseSend()
			return
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
			return
		}
	}
}

// next is a message of one enqueue: so none is larger than a message may be.
func (p *producer) next() *pb.ProduceRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		return nil
	}
	request := p.waiting[0]
	p.waiting = p.waiting[1:]
	p.number++
	p.sent[p.number] = request
	return &pb.ProduceRequest{
		Enqueues: []*pb.ProduceEnqueue{{Number: p.number, Request: request}}}
}

func (p *producer) isDone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isClosed && len(p.room) == 0
}

func (p *producer) take(result *pb.ProduceResult) {
	p.mu.Lock()
	request := p.sent[result.Number]
	delete(p.sent, result.Number)
	p.mu.Unlock()
	refusal := result.Refusal
	if refusal == nil {
		p.done(request.Tasks[0], result.Response.Results[0].TaskId, nil)
	} else if err := status.Error(codes.Code(refusal.Code), refusal.Message); isFinal(err) {
		p.done(request.Tasks[0], "", err)
	} else { // the broker was full, or its database away
		delay := max(refusal.RetryDelay.AsDuration(), leastPause)
		time.AfterFunc(delay, func() { p.add(request) })
		return
	}
	<-p.room
	signalTo(p.wake)
}

func signalTo(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default: // it is told already
	}
}
