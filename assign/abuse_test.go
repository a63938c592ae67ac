package assign_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// told counts what a person is told of something that is wrong.
func told(n *node) int {
	return n.count(func(e event.Event) bool {
		switch e.(type) {
		case event.Fault, event.TaskFenced, event.RecordIgnored:
			return true
		}
		return false
	})
}

// rawTask is the header of a submission that is made without a client.
const rawTask = `{"v":1,"kind":"echo","attempts":3,"backoff_ms":1000,"max_backoff_ms":1000,"retention_s":60}`

// failsOnce gives a worker a handler that fails a task with the input fail once.
func failsOnce(t *testing.T, k assign.Kind[[]byte, []byte]) func(a *assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, k, func(ctx context.Context, task *assign.Task[[]byte]) ([]byte, error) {
			if string(task.Input) == "fail" && task.Attempt() == 1 {
				return nil, errors.New("once")
			}
			return []byte("fine"), nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// runs submits a task and waits for its end.
func runs(t *testing.T, c *assign.Client, k assign.Kind[[]byte, []byte], within time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	p, err := assign.Submit(ctx, c, k, []byte("small"))
	if err != nil {
		return err
	}
	_, err = p.Wait(ctx)
	return err
}

// TestAnInputTooLargeForAFrameHoldsNobodyUp: it was submitted without a client, or where messages
// may be larger.
func TestAnInputTooLargeForAFrameHoldsNobodyUp(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		k := assign.NewKind[[]byte, []byte]("echo")
		a := newNode(t, s, "a", failsOnce(t, k))
		leader(t, a)
		c := New(t, s)
		if err := runs(t, c, k, time.Minute); err != nil {
			t.Fatal(err)
		}
		m := &nats.Msg{
			Subject: stored + "q.big", Header: nats.Header{"Task": {rawTask}},
			Data: make([]byte, a.nc.MaxPayload()-112),
		}
		if _, err := a.nc.RequestMsg(m, 5*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := runs(t, c, k, 10*time.Minute); err != nil {
			t.Errorf("another task: %v after 10 minutes; told of it: %d events", err, told(a))
		}
	})
}

// TestGarbageOverAnOpenTaskHoldsNobodyUp: its input cannot be had any more.
func TestGarbageOverAnOpenTaskHoldsNobodyUp(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		k := assign.NewKind[[]byte, []byte]("echo", assign.Backoff(10*time.Second, 10*time.Second))
		a := newNode(t, s, "a", failsOnce(t, k))
		leader(t, a)
		c := New(t, s)
		if _, err := assign.Submit(t.Context(), c, k, []byte("fail"), assign.WithID("victim")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if _, err := a.nc.Request(stored+"q.victim", []byte("oops"), 5*time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		if err := runs(t, c, k, 10*time.Minute); err != nil {
			st, gerr := assign.Get(t.Context(), c, "victim")
			t.Errorf("another task: %v after 10 minutes; told of it: %d events; victim %+v %v", err, told(a), st, gerr)
		}
	})
}

// TestGarbageForASealIsWrittenOver: anybody who may ask the server may have its answer stored
// there.
func TestGarbageForASealIsWrittenOver(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		k := assign.NewKind[[]byte, []byte]("echo")
		a := newNode(t, s, "a", failsOnce(t, k))
		leader(t, a)
		c := New(t, s)
		if err := runs(t, c, k, time.Minute); err != nil {
			t.Fatal(err)
		}
		if err := a.nc.PublishRequest("$JS.API.STREAM.NAMES", stored+"seal", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := runs(t, c, k, 10*time.Minute); err != nil {
			t.Errorf("%v", err)
		}
	})
}
