// Streams of Skiplane in Go: a producer that puts each line of its input into the queue "mail", and
// a worker on these tasks. Both outlive the brokers that they speak with.
//
//	mail produce ADDRESS... <LINES
//	mail work ADDRESS...
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	pb "skiplane.dev/client/go/skiplane/v1"
)

const (
	queue         = "mail"
	slots         = 20 // tasks at a time
	leaseDuration = 30 * time.Second
	leastPause    = 50 * time.Millisecond
	mostPause     = 5 * time.Second
)

var (
	// A broker whose host vanished is found by pings: it closes no connection.
	pings = keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}
	// By default gRPC waits up to two minutes before it connects again.
	connecting = backoff.Config{
		BaseDelay: leastPause, Multiplier: 2, Jitter: 0.2, MaxDelay: mostPause}
)

func dial(addresses []string) (brokers []pb.BrokerServiceClient) {
	for _, address := range addresses {
		connection, err := grpc.NewClient(address, grpc.WithKeepaliveParams(pings),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: connecting}),
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			log.Fatal(err)
		}
		brokers = append(brokers, pb.NewBrokerServiceClient(connection))
	}
	return brokers
}

// errOld is the end of a stream that neither failed nor was done: a broker ends it after a quarter
// of an hour.
var errOld = errors.New("it was old")

// player plays one stream, and says whether the broker answered.
type player func(broker pb.BrokerServiceClient) (answered bool, err error)

// again plays streams, each at the next broker, until one ends as it shall, or as all would.
func again(brokers []pb.BrokerServiceClient, play player) error {
	pause := leastPause
	for next := 0; ; next = (next + 1) % len(brokers) {
		answered, err := play(brokers[next])
		if err == nil || isFinal(err) {
			return err
		}
		log.Print("stream ended: ", err)
		if answered {
			pause = leastPause
		}
		if err == errOld {
			continue
		}
		time.Sleep(pause/2 + rand.N(pause/2)) // not all clients at once
		pause = min(2*pause, mostPause)
	}
}

// isFinal says whether a repeat would be refused again.
func isFinal(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.NotFound, codes.PermissionDenied, codes.Unauthenticated,
		codes.FailedPrecondition, codes.AlreadyExists, codes.Unimplemented:
		return true
	}
	return false
}

func work(brokers []pb.BrokerServiceClient) error {
	worker := newWorker(func(_ context.Context, task *pb.LeasedTask) error {
		fmt.Printf("attempt %d: %s\n", task.Attempt, task.Payload)
		seconds := 0.01 // as if it were work
		fmt.Sscanf(string(task.Payload), "sleep %g", &seconds)
		time.Sleep(time.Duration(seconds * float64(time.Second)))
		return nil
	})
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-stop
		signal.Reset() // the next one ends the process
		worker.stop()
	}()
	return again(brokers, worker.work)
}

func produce(brokers []pb.BrokerServiceClient) error {
	producer := newProducer(func(task *pb.NewTask, id string, err error) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s is committed: %s\n", id, task.Payload)
	})
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			producer.enqueue(&pb.NewTask{Payload: []byte(lines.Text())})
		}
		producer.close()
	}()
	return again(brokers, producer.produce)
}

func main() {
	programs := map[string]func([]pb.BrokerServiceClient) error{"work": work, "produce": produce}
	if len(os.Args) < 3 || programs[os.Args[1]] == nil {
		log.Fatal("usage: mail work|produce ADDRESS...")
	}
	if err := programs[os.Args[1]](dial(os.Args[2:])); err != nil {
		log.Fatal(err)
	}
}
