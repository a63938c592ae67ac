package natstest

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Republish makes a stream republish to destination every message that is stored at source from now
// on. A subscriber there sees each record, even one that is replaced at the same moment.
func Republish(tb testing.TB, nc *nats.Conn, stream, source, destination string) {
	tb.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		tb.Fatal(err)
	}
	// a stream without a leader does not answer yet
	Eventually(tb, stream+" republishes", time.Minute, func() (bool, string) {
		ctx, cancel := context.WithTimeout(tb.Context(), 2*time.Second)
		defer cancel()
		s, err := js.Stream(ctx, stream)
		if err != nil {
			return false, err.Error()
		}
		cfg := s.CachedInfo().Config
		cfg.RePublish = &jetstream.RePublish{Source: source, Destination: destination}
		if _, err := js.UpdateStream(ctx, cfg); err != nil {
			return false, err.Error()
		}
		return true, ""
	})
}
