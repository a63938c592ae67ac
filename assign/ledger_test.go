package assign_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// record reads what stands at a key of the stream.
func record(t *testing.T, nc *nats.Conn, key string) *jetstream.RawStreamMsg {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "TASKS_"+testNS)
	if err != nil {
		t.Fatal(err)
	}
	m, err := stream.GetLastMsgForSubject(t.Context(), stored+key)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const someTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestWhatAnOutcomeKeeps: the trace always, and of a dead task all that is needed to submit it
// again.
func TestWhatAnOutcomeKeeps(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", func(a *assign.Assigner) { saying(t, a, nil) })
		leader(t, a)
		c := New(t, s)
		for _, x := range []struct {
			input, data string
			failure     string
			task        bool
		}{
			{input: "hello", data: `"said hello"`},
			{input: "permanent", data: `"permanent"`, failure: "no use", task: true},
			{input: "fail", data: `"fail"`, failure: "never", task: true},
			{input: "cancelled"},
		} {
			id := strings.ReplaceAll(x.input, " ", "-")
			opts := []assign.SubmitOption{
				assign.WithID(id), assign.WithTraceParent(someTrace), assign.WithHeader("tenant", "x"), assign.WithSticky("s"),
			}
			if x.input == "cancelled" {
				opts = append(opts, assign.WithDelay(time.Hour))
			}
			p, err := assign.Submit(t.Context(), c, say, x.input, opts...)
			if err != nil {
				t.Fatal(err)
			}
			submission := record(t, a.nc, "q."+id)
			if x.input == "cancelled" {
				if err := p.Cancel(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			_, _ = p.Wait(t.Context())
			m := record(t, a.nc, "q."+id)
			if m.Header.Get("Task-Outcome") == "" || m.Header.Get("traceparent") != someTrace || string(m.Data) != x.data {
				t.Errorf("%s: %v %s", x.input, m.Header, m.Data)
			}
			if !strings.Contains(m.Header.Get("Task-Failure"), x.failure) {
				t.Errorf("%s: failure %s", x.input, m.Header.Get("Task-Failure"))
			}
			for _, name := range []string{"Task", "Task-Keys", "Task-Meta"} {
				want := ""
				if x.task {
					want = submission.Header.Get(name)
				}
				if got := m.Header.Get(name); got != want {
					t.Errorf("%s: %s is %q, want %q", x.input, name, got, want)
				}
			}
		}
		for _, key := range []string{"t.fail", "x.cancelled"} { // erased: an empty record, or gone already
			natstest.Eventually(t, key+" is erased", 10*time.Second, func() (bool, string) {
				m := record(t, a.nc, key)
				if m == nil {
					return true, ""
				}
				return len(m.Data) == 0, string(m.Data)
			})
		}
	})
}

// TestCleanEnd: the seal tells a term that has ended in peace from one whose process was lost.
func TestCleanEnd(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("plain")
		clean := func(nc *nats.Conn) (clean bool, epoch uint64) {
			t.Helper()
			var seal struct {
				Clean bool
				Epoch uint64
			}
			if m := record(t, nc, "seal"); m == nil || json.Unmarshal(m.Data, &seal) != nil {
				t.Fatal("there is no seal")
			}
			return seal.Clean, seal.Epoch
		}
		c := New(t, s)
		nc, err := s.Connect()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		a := newNode(t, s, "a", r.handle(t, "a", k))
		waitAll(t, []*assign.Pending[string]{submitNamed(t, c, k, "one", 0)}, a)
		was, first := clean(nc)
		if was {
			t.Error("a term that continues has a clean end")
		}
		a.close(t)
		if is, epoch := clean(nc); !is || epoch != first {
			t.Errorf("after a clean end: clean %v, epoch %d, want %d", is, epoch, first)
		}
		b := newNode(t, s, "b", r.handle(t, "b", k))
		waitAll(t, []*assign.Pending[string]{submitNamed(t, c, k, "two", 0)}, b)
		b.link.Cut()
		time.Sleep(2 * testTTL)
		if is, epoch := clean(nc); is || epoch <= first {
			t.Errorf("after a loss: clean %v, epoch %d", is, epoch)
		}
		b.link.Heal()
	})
}

// TestLargeBacklog: more input waits than the scheduler keeps in memory. The rest is read when it
// is handed out, many at once.
func TestLargeBacklog(t *testing.T) {
	costly(t)
	thorough.Only(t, "it moves 80 MB several times")
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		const n, size = 1000, 80 << 10 // 80 MB; the scheduler keeps 64
		blob := assign.NewKind[[]byte, []byte]("blob")
		all := make([]*assign.Pending[[]byte], n)
		var submitting sync.WaitGroup
		for from := range 8 {
			submitting.Go(func() {
				for i := from; i < n; i += 8 {
					input := make([]byte, size)
					copy(input, fmt.Sprint(i))
					p, err := assign.Submit(t.Context(), c, blob, input)
					if err != nil {
						t.Error(err)
						return
					}
					all[i] = p
				}
			})
		}
		submitting.Wait()
		if t.Failed() {
			return
		}
		ran := newTally()
		register := func(a *assign.Assigner) {
			if err := assign.Handle(a, blob, func(_ context.Context, task *assign.Task[[]byte]) ([]byte, error) {
				ran.add("", task.ID())
				if len(task.Input) != size {
					return nil, fmt.Errorf("input of %d bytes", len(task.Input))
				}
				return task.Input[:8], nil
			}); err != nil {
				t.Error(err)
			}
		}
		alone := countRequests(t, s, "$JS.API.STREAM.MSG.GET.TASKS_"+testNS)
		portions := countRequests(t, s, "$JS.API.CONSUMER.MSG.NEXT.TASKS_"+testNS+".*")
		newNode(t, s, "a", register, slots(64))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		for i, p := range all {
			out, err := p.Wait(ctx)
			if want := fmt.Sprint(i); err != nil || !strings.HasPrefix(string(out), want) {
				t.Fatalf("task %d: %q, %v", i, out, err)
			}
		}
		if len(ran.of) != n || ran.max() != 1 {
			t.Errorf("%d tasks ran, one of them %d times", len(ran.of), ran.max())
		}
		if a, p := alone(), portions(); a > 100 || p < 2 || p > 100 {
			t.Errorf("%d inputs were read alone, and %d portions", a, p)
		}
	})
}

// countRequests counts what is published to a subject from now on.
func countRequests(t *testing.T, s dialer, subject string) (count func() int64) {
	t.Helper()
	nc := natstest.Connect(t, s)
	var n atomic.Int64
	if _, err := nc.Subscribe(subject, func(*nats.Msg) { n.Add(1) }); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return n.Load
}
