package natstest

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Republish makes a stream republish what is stored at source to destination from now on. Whoever subscribes there sees each
// record, also one that is replaced in the same moment.
func Republish(tb testing.TB, nc *nats.Conn, stream, source, destination string) {
	tb.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		tb.Fatal(err)
	}
	Eventually(tb, stream+" republishes", time.Minute, func() (bool, string) { // one that has no leader yet answers nothing
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
