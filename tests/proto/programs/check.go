// Builds a request, serialises and parses it, compares, and writes it for the test.
package main

import (
	"log"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	skiplanev1 "skiplane.dev/client/go/skiplane/v1"
)

func main() {
	task := &skiplanev1.NewTask{Payload: []byte("hello"), Key: "order-17"}
	request := &skiplanev1.EnqueueRequest{Queue: "mail", Tasks: []*skiplanev1.NewTask{task}}
	bytes, err := proto.Marshal(request)
	if err != nil {
		log.Fatal(err)
	}
	parsed := &skiplanev1.EnqueueRequest{}
	if err := proto.Unmarshal(bytes, parsed); err != nil || !proto.Equal(request, parsed) {
		log.Fatal(err, parsed)
	}
	os.Stdout.Write(bytes)

	// The services have clients; nobody answers here.
	channel, err := grpc.NewClient("127.0.0.1:1",
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer channel.Close()
	_ = skiplanev1.NewBrokerServiceClient(channel).Enqueue
	_ = skiplanev1.NewAdminServiceClient(channel).CreateQueue
}
