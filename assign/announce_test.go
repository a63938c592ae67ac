package assign_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// waited is when a Wait returned, and what.
type waited struct {
	at  time.Time
	err error
}

func waiting(ctx context.Context, p *assign.Pending[string]) <-chan waited {
	done := make(chan waited, 1)
	go func() {
		_, err := p.Wait(ctx)
		done <- waited{time.Now(), err}
	}()
	return done
}

// with is a server to which all connect with some options.
type with struct {
	*natsrun.Server
	opts []nats.Option
}

func (s with) Connect(opts ...nats.Option) (*nats.Conn, error) {
	return s.Server.Connect(append(opts, s.opts...)...)
}

// TestTheNextSchedulerAnnouncesWhatMayNotHaveBeen: a scheduler stores an outcome and announces it
// to nobody. A caller that has waited for long reads seldom by then: the next scheduler makes it
// read.
func TestTheNextSchedulerAnnouncesWhatMayNotHaveBeen(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		c := rootClient(t, s)
		var seen []string
		for round := range 20 { // it may be read just then
			gates := newBench()
			a := newNode(t, s, "a", gates.register(t, "a"))
			leader(t, a)
			p, err := assign.Submit(t.Context(), c, slow, "x")
			if err != nil {
				t.Fatal(err)
			}
			gates.allStarted(t, 1)
			done := waiting(t.Context(), p)
			time.Sleep(5*time.Minute + time.Duration(round)*time.Second) // virtual: it now reads twice a minute
			close(gates.gate)
			natstest.Eventually(t, "the scheduler says that it may not announce", time.Minute, func() (bool, string) {
				return a.count(func(e event.Event) bool {
					f, ok := e.(event.Fault)
					return ok && errors.Is(f.Err, election.ErrPermission) && strings.Contains(f.Doing, ".done.")
				}) > 0, a.dump()
			})
			missed := len(done) == 0
			// With a name of its own: the lease of one that left five minutes ago has expired, and a
			// process waits for the longest lease when it comes back to a marker.
			b := newNode(t, with{s, []nats.Option{nats.UserInfo("root", "p")}}, fmt.Sprint("b", round), nil)
			a.close(t)
			natstest.Eventually(t, "b has read the stream", time.Minute, func() (bool, string) {
				return b.count(func(e event.Event) bool { _, ok := e.(event.TaskRecovered); return ok }) > 0, "no TaskRecovered"
			})
			recovered := time.Now()
			got := <-done
			if got.err != nil {
				t.Fatal(got.err)
			}
			b.close(t)
			seen = append(seen, fmt.Sprintf("round %d: missed %v, heard of %v after the next scheduler had read it", round,
				missed, got.at.Sub(recovered)))
			if !missed || got.at.Before(recovered.Add(-time.Second)) {
				continue
			}
			if late := got.at.Sub(recovered); late > time.Second {
				t.Errorf("the caller heard of it %v after the next scheduler had read it", late)
			}
			return
		}
		t.Errorf("in no round was the announcement missed:\n%s", strings.Join(seen, "\n"))
	}, denying([]string{said + ".done.>"}, nil))
}

// TestALateAnnouncementIsNotBelieved: a caller that begins to wait for a task that was submitted
// before reads its record. The announcement may be of the end that the task had before it was
// requeued.
func TestALateAnnouncementIsNotBelieved(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		b := newBench()
		newNode(t, s, "a", b.register(t, "a"))
		c := New(t, s)
		if _, err := assign.Submit(t.Context(), c, slow, "x", assign.WithID("again")); err != nil {
			t.Fatal(err)
		}
		b.allStarted(t, 1)
		done := waiting(t.Context(), assign.Find(c, slow, "again"))
		natstest.Settle(t)
		nc := natstest.Connect(t, s)
		late := "{\"v\":1,\"kind\":\"slow\",\"status\":\"dead\",\"cause\":\"permanent\",\"attempts\":1}\n\n\n\n"
		for _, what := range []string{late, "", "nonsense"} {
			if err := nc.Publish(saidIn(t, nc, taskStream)+".done.again", bulletin("again", what)); err != nil {
				t.Fatal(err)
			}
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		natstest.Settle(t)
		if len(done) > 0 {
			t.Fatalf("believed: %v", (<-done).err)
		}
		close(b.gate)
		if got := <-done; got.err != nil {
			t.Error(got.err)
		}
	})
}

// TestWhoeverWaitsForManyTasksOfAnotherClientSubscribesOnce: to the bulletins of that client, and
// to each task, however many wait for it; and hears of each at once.
func TestWhoeverWaitsForManyTasksOfAnotherClientSubscribesOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		const n = 8
		b := newBench()
		leader(t, newNode(t, s, "a", b.register(t, "a")))
		submitter := New(t, s)
		nc := natstest.Connect(t, s)
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		if err := assign.PauseKind(t.Context(), c, "another", "for a while"); err != nil { // the client is open
			t.Fatal(err)
		}
		before := nc.NumSubscriptions()
		var all []<-chan waited
		for range n {
			p, err := assign.Submit(t.Context(), submitter, slow, "x")
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				all = append(all, waiting(t.Context(), assign.Find(c, slow, p.ID())))
			}
		}
		b.allStarted(t, n)
		time.Sleep(5*time.Minute + time.Second) // virtual: they now read twice a minute
		if more := nc.NumSubscriptions() - before; more != 1+n {
			t.Errorf("%d subscriptions for %d tasks", more, n)
		}
		closed := time.Now()
		close(b.gate)
		var last time.Duration
		for _, done := range all {
			got := <-done
			if got.err != nil {
				t.Fatal(got.err)
			}
			last = max(last, got.at.Sub(closed))
		}
		if last > 100*time.Millisecond { // virtual
			t.Errorf("the last was heard of after %v", last)
		}
		if left := nc.NumSubscriptions() - before; left != 0 {
			t.Errorf("%d subscriptions are left", left)
		}
	})
}

// bulletin announces one task.
func bulletin(task, announcement string) []byte {
	b := append(binary.AppendUvarint(nil, uint64(len(task))), task...)
	return append(binary.AppendUvarint(b, uint64(len(announcement))), announcement...)
}

// TestAfterARequeueTheEndBeforeItIsNotBelieved: it is announced late, to the client that has
// submitted the task, has seen that it is dead, and has requeued it.
func TestAfterARequeueTheEndBeforeItIsNotBelieved(t *testing.T) {
	for how, ask := range map[string]func(ctx context.Context, c *assign.Client, p *assign.Pending[string]) error{
		"find": func(ctx context.Context, c *assign.Client, p *assign.Pending[string]) error {
			_, err := assign.Find(c, brittle, p.ID()).Wait(ctx)
			return err
		},
		"wait": func(ctx context.Context, _ *assign.Client, p *assign.Pending[string]) error {
			_, err := p.Wait(ctx)
			return err
		},
		"cancel": func(ctx context.Context, _ *assign.Client, p *assign.Pending[string]) error { return p.Cancel(ctx) },
		"events": func(ctx context.Context, _ *assign.Client, p *assign.Pending[string]) error {
			events, err := p.Events(ctx)
			if err != nil {
				return err
			}
			for e := range events {
				if e.Type == assign.EventEnded && e.Task.State == assign.StateDead {
					return assign.ErrTaskDead
				}
			}
			return nil
		},
	} {
		t.Run(how, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				settled(t)
				var fixed atomic.Bool
				link := s.Link()
				leader(t, newNode(t, with{s, link.Options()}, "a", nil))
				newNode(t, s, "w", breaking(t, &fixed), workerOnly)
				c := New(t, s)
				link.DelayDir(natsrun.ToServer, 300*time.Millisecond) // for frames, and what the scheduler announces
				p, err := assign.Submit(t.Context(), c, brittle, "in")
				if err != nil {
					t.Fatal(err)
				}
				natstest.Eventually(t, "the task is dead", time.Minute, func() (bool, string) {
					st, err := assign.Get(t.Context(), c, p.ID())
					return err == nil && st.State == assign.StateDead, fmt.Sprint(st.State, err)
				})
				fixed.Store(true)
				if err := assign.Requeue(t.Context(), c, p.ID()); err != nil {
					t.Fatal(err)
				}
				if err := ask(t.Context(), c, p); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
