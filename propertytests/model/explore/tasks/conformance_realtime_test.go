//go:build realtime

package tasks

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestStreamConforms: the stream of the search and one of the real server, given the same
// conditional writes, and copies of former ones, store the same at the same places, and show a late
// reader the same.
func TestStreamConforms(t *testing.T) {
	nc := natstest.Connect(t, natstest.Server(t))
	seen, made := map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 30, 60).Draw(t, "steps")
		made++
		if err := conforms(nc, fmt.Sprint("ns", made), steps, seen); err != nil {
			t.Fatal(err)
		}
	})
	t.Log(seen)
	for _, what := range []string{"write", "guarded write", "replay"} {
		for _, over := range []string{"nothing", "a record"} {
			for _, outcome := range []string{"won", "refused"} {
				if what := what + " on " + over + " " + outcome; seen[what] == 0 {
					t.Errorf("never happened: %s", what)
				}
			}
		}
	}
}

// parallelWrite is one write that is done to both.
type parallelWrite struct {
	Subject, On string
	Expect      expectedSequence
	Replay      bool // a copy of a former one instead
	Back        int  // how many writes ago that was
}

// expectedSequence says which sequence a write expects.
type expectedSequence uint8

const (
	right expectedSequence = iota
	nothing
	former // or that of another subject
	unborn
)

var storeSubjects = []string{"q.t0", "q.t1", "t.t0", "t.t1", "seal"}

func drawStep(t *rapid.T) parallelWrite {
	s := parallelWrite{
		Subject: rapid.SampledFrom(storeSubjects).Draw(t, "subject"),
		Expect:  rapid.SampledFrom([]expectedSequence{right, right, right, nothing, former, unborn}).Draw(t, "expect"),
		Replay:  rapid.IntRange(0, 2).Draw(t, "replay") == 2,
		Back:    rapid.IntRange(0, 4).Draw(t, "back"),
	}
	if s.On = s.Subject; rapid.Bool().Draw(t, "guarded") {
		s.On = rapid.SampledFrom(storeSubjects).Draw(t, "on")
	}
	return s
}

// conforms runs a program on both.
func conforms(nc *nats.Conn, namespace string, steps []parallelWrite, seen map[string]int) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stream, err := natskv.Reach{}.CreateStream(ctx, nc, namespace+".", jetstream.StreamConfig{
		Name: "TASKS_" + namespace, Subjects: []string{namespace + ".q.>", namespace + ".t.>", namespace + ".seal"},
		MaxMsgsPerSubject: 1,
		Discard:           jetstream.DiscardNew, DenyDelete: true, AllowMsgTTL: true,
	}, func(*jetstream.StreamInfo) []string { return nil })
	if err != nil {
		return err
	}
	writer, err := natskv.NewWriter(nc, stream)
	if err != nil {
		return err
	}
	defer writer.Close()
	x := New(&Config{Leaders: 1, Tasks: maxTasks, Slots: 1})
	w := World{net: x.keepNet(&net{}), ledger: x.keepLedger(&history{next: 1})}
	var sent []*message
	for i, s := range steps {
		m, what := w.ledger.message(s), "write"
		if m.on != m.record.Subject {
			what = "guarded write"
		}
		if s.Replay && len(sent) > 0 {
			m, what = sent[max(len(sent)-1-s.Back, 0)], "replay"
		} else {
			sent = append(sent, m)
		}
		over := map[bool]string{false: "a record", true: "nothing"}[w.ledger.newest(m.on) == nil]
		r := written(writer, m)
		outcome, sequence, err := x.store(&w, m)
		switch {
		case err != nil:
			return err
		case outcome == record.Won && r.Outcome == natskv.Won && r.Revision == sequence:
			seen[what+" on "+over+" won"]++
		case outcome == record.Refused && r.Outcome == natskv.Refused:
			seen[what+" on "+over+" refused"]++
		default:
			return fmt.Errorf("step %d, %+v: the model says %v at %d, the server %v at %d, %v", i, s, outcome, sequence,
				r.Outcome, r.Revision, r.Err)
		}
	}
	return shows(ctx, nc, stream, w.ledger)
}

// message is the write of a step; what it stores, no condition asks.
func (l *history) message(s parallelWrite) *message {
	m := &message{kind: writes, record: &streamEntry{Subject: s.Subject, Kind: note}, on: s.On, expect: l.sequence(s.On)}
	switch s.Expect {
	case nothing:
		m.expect = 0
	case former:
		m.expect = max(m.expect, 1) - 1
	case unborn:
		m.expect = l.next + 2
	}
	return m
}

// written does a write on the real server.
func written(writer *natskv.Writer, m *message) natskv.Result {
	op := natskv.Write{Key: m.record.Subject, Value: []byte("record"), Expect: m.expect}
	if m.on != m.record.Subject {
		op.Guard = &natskv.Guard{Key: m.on, Revision: m.expect}
	}
	answered := make(chan natskv.Result, 1)
	writer.Submit(op, time.Minute, func(r natskv.Result) { answered <- r })
	return <-answered
}

// shows compares what a late reader of the stream sees: the newest record of each subject, in
// order.
func shows(ctx context.Context, nc *nats.Conn, stream *natskv.Stream, l *history) error {
	w, err := stream.Watch(ctx, nc, "", 0)
	if err != nil {
		return err
	}
	defer w.Close()
	found := 0
	for u := range w.C() {
		for _, e := range u.Entries {
			if found >= len(l.stream) || e.Key != l.stream[found].Subject || e.Revision != l.stream[found].Sequence {
				return fmt.Errorf("the reader sees %s at %d as number %d", e.Key, e.Revision, found)
			}
			found++
		}
		if u.Snapshot {
			break
		}
	}
	if found != len(l.stream) {
		return fmt.Errorf("the reader sees %d records, the model has %d: %w", found, len(l.stream), w.Err())
	}
	return nil
}
