package natskv

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestReadingWhoseConsumerIsDeleted: a portion that waits for records when the server drops the
// consumer ends with an error. Without one it would look like the end of the stream.
func TestReadingWhoseConsumerIsDeleted(t *testing.T) {
	nc, s, w := newStreamWriter(t)
	for i := range 3 {
		mustWin(t, w, Write{Key: fmt.Sprint("q.", i)})
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	// One record is never acknowledged, so the server holds the others back.
	consumer, err := js.CreateConsumer(t.Context(), "S", jetstream.ConsumerConfig{
		Name: "held", FilterSubject: "s.q.>", AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: 1,
		InactiveThreshold: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &Reading{s: s, nc: nc, consumer: "held"}
	if entries, err := r.Next(t.Context(), 1, 0); err != nil || len(entries) != 1 {
		t.Fatalf("%d records, %v", len(entries), err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := r.Next(t.Context(), 10, 0)
		ended <- err
	}()
	natstest.Eventually(t, "the portion waits", time.Minute, func() (bool, string) {
		info, err := consumer.Info(t.Context())
		return err == nil && info.NumWaiting == 1, fmt.Sprintf("%+v, %v", info, err)
	})
	if err := js.DeleteConsumer(t.Context(), "S", "held"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the portion ended without an error")
	}
}
