package main

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	group      = "orders" // of the shards
	partitions = 16       // final: see the guide "Sharding"
	stream     = "ORDERS"
)

// ensureStream creates the stream. Clients publish to orders.<account>. The server stores that as
// orders.<partition>.<account>, and the same account is always in the same partition.
func ensureStream(ctx context.Context, js jetstream.JetStream) error {
	_, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name:     stream,
		Subjects: []string{"orders.*"},
		SubjectTransform: &jetstream.SubjectTransformConfig{
			Source:      "orders.*",
			Destination: fmt.Sprintf("orders.{{partition(%d,1)}}.{{wildcard(1)}}", partitions),
		},
	})
	return err // nil as well if the stream is there, with the same configuration
}

// subjects are those of a partition.
func subjects(partition int) string { return fmt.Sprintf("orders.%d.*", partition) }
