package assign_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assign/keyring"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// ringOf makes a ring: the first id seals.
func ringOf(t *testing.T, ids ...string) *keyring.Ring {
	t.Helper()
	var keys []keyring.Key
	for _, id := range ids {
		keys = append(keys, keyring.Key{ID: id, Secret: bytes.Repeat([]byte(id[:1]), 32)})
	}
	r, err := keyring.New(keys[0], keys[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func withCodec(c assign.Codec) nodeOption {
	return func(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.Codec = c }
}

// clientWith is a client with a codec, and perhaps with middleware.
func clientWith(t *testing.T, s *natsrun.Server, codec assign.Codec, around ...assign.SubmitMiddleware) *assign.Client {
	t.Helper()
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, Codec: codec, SubmitMiddleware: around})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		nc.Close()
	})
	return c
}

// secret is a text that nobody without the key may read.
const secret = "the-number-of-a-credit-card"

// recall is a kind whose handler leaves a checkpoint and fails, and then returns what it has found,
// in a large output if the input is large.
var recall = assign.NewKind[string, string]("recall", assign.Backoff(time.Second, time.Second))

func recalls(t *testing.T, runs chan<- string) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, recall, func(ctx context.Context, task *assign.Task[string]) (string, error) {
			if runs != nil {
				runs <- task.ID()
			}
			if task.Checkpoint() == nil {
				if err := task.Progress(ctx, 0.5, []byte("so far: "+secret)); err != nil {
					return "", err
				}
				return "", errors.New("once more")
			}
			return string(task.Checkpoint()) + task.Input, nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestNothingIsReadable: neither stream ever holds a text that was sealed, and those with the key
// read it.
func TestNothingIsReadable(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ring := ringOf(t, "1")
		a := newNode(t, s, "a", recalls(t, nil), withCodec(ring))
		leader(t, a)
		seen := listening(t, s)
		c := clientWith(t, s, ring)
		for _, input := range []string{secret, strings.Repeat(secret, 10_000)} { // the second one has a large output
			p, err := assign.Submit(t.Context(), c, recall, input, assign.WithHeader("tenant", "a"))
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Wait(t.Context())
			if err != nil || out != "so far: "+secret+input {
				t.Fatalf("%d bytes, %v\n%s", len(out), err, a.dump())
			}
			var sealedErr *assign.SealedError
			plain := New(t, s)
			if _, err := assign.Find(plain, recall, p.ID()).Wait(t.Context()); !errors.Is(err, assign.ErrUnknownKey) ||
				!errors.As(err, &sealedErr) || sealedErr.Key != "1" || sealedErr.Part != "output" {
				t.Errorf("without the key: %v", err)
			}
		}
		if err := assign.Recur(t.Context(), c, recall, "daily", "@daily", secret); err != nil {
			t.Fatal(err)
		}
		natstest.Settle(t)
		messages, leaks := seen()
		if messages < 10 || len(leaks) > 0 {
			t.Errorf("of %d messages these can be read: %q", messages, leaks)
		}
	})
}

// listening hears all that is said and stored, and finds the secret in it.
func listening(t *testing.T, s *natsrun.Server) (seen func() (messages int, leaks []string)) {
	t.Helper()
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	sub, err := nc.SubscribeSync(">")
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return func() (messages int, leaks []string) {
		for {
			m, err := sub.NextMsg(time.Millisecond)
			if err != nil {
				return messages, leaks
			}
			if messages++; bytes.Contains(m.Data, []byte(secret)) {
				leaks = append(leaks, m.Subject)
			}
		}
	}
}

// TestTheKeyIsElsewhere: a worker without the key rejects the task, and one with the key runs it.
func TestTheKeyIsElsewhere(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		runs := make(chan string, 100)
		a := newNode(t, s, "a", recalls(t, nil), slots(8)) // it has no codec, and schedules
		leader(t, a)
		newNode(t, s, "b", recalls(t, nil), workerOnly, withCodec(ringOf(t, "2")))
		c := clientWith(t, s, ringOf(t, "1"))
		p, err := assign.Submit(t.Context(), c, recall, secret, assign.WithID("x"))
		if err != nil {
			t.Fatal(err)
		}
		newNode(t, s, "c", recalls(t, runs), workerOnly, withCodec(ringOf(t, "2", "1")))
		if out, err := p.Wait(t.Context()); err == nil || !errors.Is(err, assign.ErrUnknownKey) {
			t.Errorf("the output is sealed with the key of c: %q, %v", out, err)
		}
		both := clientWith(t, s, ringOf(t, "1", "2"))
		out, err := assign.Find(both, recall, "x").Wait(t.Context())
		if err != nil || out != "so far: "+secret+secret || <-runs != "x" {
			t.Errorf("%q, %v\n%s", out, err, a.dump())
		}
	})
}

// TestMovedInput: an input that takes the place of another task's is not run by anybody.
func TestMovedInput(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ring := ringOf(t, "1")
		c := clientWith(t, s, ring)
		plain := New(t, s) // makes the stream
		if _, err := assign.Submit(t.Context(), plain, recall, "x", assign.WithID("first")); err != nil {
			t.Fatal(err)
		}
		p, err := assign.Submit(t.Context(), c, recall, secret, assign.WithID("mine"))
		if err != nil {
			t.Fatal(err)
		}
		nc, err := s.Connect()
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		m := record(t, nc, "q.mine")
		if bytes.Contains(m.Data, []byte(secret)) {
			t.Errorf("%q", m.Data)
		}
		moved := &nats.Msg{Subject: stored + "q.other", Header: m.Header, Data: m.Data}
		moved.Header.Del("Nats-Expected-Last-Subject-Sequence")
		if _, err := nc.RequestMsgWithContext(t.Context(), moved); err != nil {
			t.Fatal(err)
		}
		a := newNode(t, s, "a", recalls(t, nil), withCodec(ring))
		leader(t, a)
		if out, err := p.Wait(t.Context()); err != nil || !strings.HasSuffix(out, secret) {
			t.Errorf("the task itself: %q, %v", out, err)
		}
		_, err = assign.Find(c, recall, "other").Wait(t.Context())
		var dead *assign.TaskError
		if !errors.As(err, &dead) || dead.Cause != "permanent" || !strings.Contains(dead.Message, "belongs to another task") {
			t.Errorf("the moved one: %v", err)
		}
		st, err := assign.Get(t.Context(), c, "other")
		if err != nil || st.Input != nil || !errors.Is(st.Sealed, assign.ErrTampered) {
			t.Errorf("its status: %+v, %v", st, err)
		}
		_, err = assign.Find(c, recall, "first").Wait(t.Context())
		if !errors.As(err, &dead) || dead.Cause != "undecodable" || !strings.Contains(dead.Message, "AcceptPlain") {
			t.Errorf("one that is not sealed: %v", err)
		}
	})
}

// TestSealedDefinitions: a definition is not written again though each sealing differs, but it is
// with another key, and its ticks run.
func TestSealedDefinitions(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		runs := make(chan string, 100)
		a := newNode(t, s, "a", recalls(t, runs), withCodec(ringOf(t, "1", "2")))
		leader(t, a)
		revision := func(c *assign.Client) uint64 {
			t.Helper()
			if err := assign.Recur(t.Context(), c, recall, "often", "@every 1m", secret); err != nil {
				t.Fatal(err)
			}
			return record(t, a.nc, "r.often").Sequence
		}
		one := clientWith(t, s, ringOf(t, "1"))
		first := revision(one)
		if again := revision(one); again != first {
			t.Errorf("it is written again, at %d and %d", first, again)
		}
		if turned := revision(clientWith(t, s, ringOf(t, "2", "1"))); turned == first {
			t.Error("it is still sealed with the old key")
		}
		time.Sleep(2 * time.Minute) // virtual
		if id := <-runs; !strings.HasPrefix(id, "cron/often/") {
			t.Errorf("%s runs", id)
		}
	})
}

// TestSubmitMiddleware: it goes around each submission, the first one outermost, and may change it
// or refuse it.
func TestSubmitMiddleware(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", recalls(t, nil))
		leader(t, a)
		adds := func(name string) assign.SubmitMiddleware {
			return func(next assign.SubmitFunc) assign.SubmitFunc {
				return func(ctx context.Context, m *assign.Submitting) error {
					m.Headers["by"] += name
					if string(m.Input) == `"refused"` {
						return errors.New("not today")
					}
					return next(ctx, m)
				}
			}
		}
		c := clientWith(t, s, nil, adds("a"), adds("b"))
		all, err := assign.SubmitBatch(t.Context(), c, recall, []string{"x", "refused", "y"}, assign.WithHeader("by", "."))
		if err == nil || !strings.Contains(err.Error(), "not today") || all[1] != nil {
			t.Fatalf("%v, %v", all, err)
		}
		for _, i := range []int{0, 2} {
			st, err := assign.Get(t.Context(), c, all[i].ID())
			if err != nil || st.Headers["by"] != ".ab" {
				t.Errorf("%v, %v", st.Headers, err)
			}
		}
		silent := clientWith(t, s, nil, func(assign.SubmitFunc) assign.SubmitFunc {
			return func(context.Context, *assign.Submitting) error { return nil }
		})
		if _, err := assign.Submit(t.Context(), silent, recall, "x"); !errors.Is(err, assign.ErrInvalidOption) {
			t.Errorf("one that stores nothing: %v", err)
		}
		if _, err := assign.NewClient(a.nc, assign.ClientConfig{
			Namespace: testNS, AcceptPlain: true, SubmitMiddleware: []assign.SubmitMiddleware{nil},
		}); err == nil || !strings.Contains(err.Error(), "AcceptPlain") ||
			!strings.Contains(err.Error(), "SubmitMiddleware") {
			t.Errorf("%v", fmt.Sprint(err))
		}
	})
}
