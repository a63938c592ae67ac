package assign_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

// deposed is a leader that has lost the role, keeps its session and its key, and continues as if
// nothing had happened.
type deposed struct {
	*forger
	first, second, w *node
	seal             uint64 // revision of the seal that was its own
	js               jetstream.JetStream
	stream           jetstream.Stream
	bench            *bench
	open             *assign.Pending[string] // a task that is running, with a note
}

func depose(t *testing.T, s *natsrun.Server) *deposed {
	t.Helper()
	d := &deposed{bench: newBench()}
	a, z := newNode(t, s, "a", nil), newNode(t, s, "z", nil)
	d.first, d.second = leader(t, a, z), z
	if d.first == z {
		d.second = a
	}
	ran := newTally()
	d.w = newNode(t, s, "w", func(a *assign.Assigner) {
		d.bench.register(t, "w")(a)
		doubling(t, "w", ran)(a)
		if err := assign.Handle(a, say, func(ctx context.Context, task *assign.Task[string]) (string, error) {
			if task.Attempt() == 1 {
				return "", errors.New("leaves a note")
			}
			<-ctx.Done()
			return "", ctx.Err()
		}); err != nil {
			t.Error(err)
		}
	}, workerOnly)
	d.forger = newForger(t, s, d.first)
	d.accepted(d.w, "good", "double")
	c := New(t, s)
	var err error
	if d.open, err = assign.Submit(t.Context(), c, say, "x", assign.WithID("open"),
		assign.With(assign.Timeout(time.Hour))); err != nil {
		t.Fatal(err)
	}
	if d.js, err = jetstream.New(d.nc); err != nil {
		t.Fatal(err)
	}
	if d.stream, err = d.js.Stream(t.Context(), "TASKS_"+testNS); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the task has a note, and runs again", 10*time.Second, func() (bool, string) {
		_, err := d.stream.GetLastMsgForSubject(t.Context(), stored+"t.open")
		st, statusErr := d.open.Status(t.Context())
		return err == nil && statusErr == nil && st.State == assign.StateRunning, fmt.Sprint(err, st, statusErr)
	})
	d.seal = d.at(stored + "seal")
	if err := d.first.e.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the second scheduler seals", 20*time.Second, func() (bool, string) {
		return d.second.e.IsLeader() && d.at(stored+"seal") > d.seal, d.second.dump()
	})
	host := hostOf(t, d.w)
	natstest.Eventually(t, "the worker knows it", 10*time.Second, func() (bool, string) {
		info, _ := host.Role(testRole)
		return info.Leader == d.second.name, fmt.Sprint(info)
	})
	return d
}

// at is the revision of a record.
func (d *deposed) at(subject string) uint64 {
	d.t.Helper()
	m, err := d.stream.GetLastMsgForSubject(d.t.Context(), subject)
	if err != nil {
		d.t.Fatal(err)
	}
	return m.Sequence
}

// guarded publishes as the deposed leader does, under the seal that was its own.
func (d *deposed) guarded(m *nats.Msg) error {
	if m.Header == nil {
		m.Header = nats.Header{}
	}
	m.Header.Set("Nats-Expected-Last-Subject-Sequence", fmt.Sprint(d.seal))
	m.Header.Set("Nats-Expected-Last-Subject-Sequence-Subject", stored+"seal")
	_, err := d.js.PublishMsg(d.t.Context(), m)
	return err
}

// unchanged checks that an attempt to change a record was refused for want of the seal, and has
// changed nothing.
func (d *deposed) unchanged(subject string, before uint64, err error) {
	d.t.Helper()
	var refused *jetstream.APIError
	if !errors.As(err, &refused) || refused.ErrorCode != jetstream.JSErrCodeStreamWrongLastSequence {
		d.t.Errorf("%s: %v, want a wrong last sequence", subject, err)
	}
	if now := d.at(subject); now != before {
		d.t.Errorf("%s was at revision %d, is at %d", subject, before, now)
	}
}

func TestDeposedLeaderPushes(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		d := depose(t, s)
		for range 3 {
			before := d.w.count(isRejected("stale_epoch"))
			answers := d.push(d.w, d.assign(d.to(d.w), 0, d.task("bad", "slow")))
			if len(answers) != 1 || answers[0].Verdict != tasks.StaleEpoch {
				t.Errorf("answered %+v, want stale", answers)
			}
			natstest.Settle(t)
			if n := d.w.count(isRejected("stale_epoch")); n != before+1 {
				t.Errorf("%d counted as stale, want %d", n, before+1)
			}
		}
		v := d.to(d.w)
		stop := workers.StopOrder{ID: "open", Attempt: tasks.Attempt{Epoch: d.epoch, N: 2}, Serial: 2}
		if answers := d.send("cancel", d.w, frame.Seal(frame.EncodeStop(&v, stop), d.sign)); len(answers) != 0 {
			t.Errorf("a stop was answered: %+v", answers)
		}
		// With the epoch of its successor its key is the wrong one.
		info, _ := hostOf(t, d.w).Role(testRole)
		d.epoch = info.Epoch
		d.refused(d.w, "signature", d.assign(d.to(d.w), 0, d.task("bad", "slow")))
		if n := d.bench.runs("bad"); n != 0 {
			t.Errorf("it was run %d times", n)
		}
		if st, err := d.open.Status(t.Context()); err != nil || st.State != assign.StateRunning || st.Attempts > 2 {
			t.Errorf("the running task: %+v, %v", st, err)
		}
	})
}

func TestDeposedLeaderWrites(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		d := depose(t, s)
		outcome := nats.Header{"Task-Outcome": {`{"v":1,"kind":"say","status":"succeeded","attempts":1}`}}
		subject := stored + "q.open"
		before := d.at(subject)
		d.unchanged(subject, before, d.guarded(&nats.Msg{Subject: subject, Header: outcome, Data: []byte(`"stale"`)}))
		note, err := json.Marshal(map[string]any{"v": 1, "epoch": d.epoch, "attempt": 99})
		if err != nil {
			t.Fatal(err)
		}
		subject = stored + "t.open"
		d.unchanged(subject, d.at(subject), d.guarded(&nats.Msg{Subject: subject, Data: note}))
		// Nor can it seal once more: its own seal is not the last.
		subject = stored + "seal"
		before = d.at(subject)
		_, err = d.js.Publish(t.Context(), subject, []byte(`{"v":1,"epoch":1,"holder":"a","mark":"m"}`), jetstream.WithExpectLastSequencePerSubject(d.seal))
		d.unchanged(subject, before, err)
		if st, err := d.open.Status(t.Context()); err != nil || st.State != assign.StateRunning {
			t.Errorf("the running task: %+v, %v", st, err)
		}
	})
}

// TestDeposedLeaderPurges: a record is removed by an empty one, under the seal like any other
// write; purges and deletes, which nothing fences, the stream does not allow at all.
func TestDeposedLeaderPurges(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		d := depose(t, s)
		for _, subject := range []string{stored + "t.open", stored + "q.open"} {
			before := d.at(subject)
			d.unchanged(subject, before, d.guarded(&nats.Msg{Subject: subject, Header: nats.Header{"Nats-TTL": {"60s"}}}))
			if err := d.stream.Purge(t.Context(), jetstream.WithPurgeSubject(subject)); err == nil {
				t.Errorf("%s was purged", subject)
			}
			if err := d.stream.DeleteMsg(t.Context(), before); err == nil {
				t.Errorf("%s was deleted", subject)
			}
			if now := d.at(subject); now != before {
				t.Errorf("%s was at revision %d, is at %d", subject, before, now)
			}
		}
	})
}
