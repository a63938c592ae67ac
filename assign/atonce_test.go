package assign_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

var succeeded = assign.ListOptions{States: []assign.State{assign.StateSucceeded}, Limit: 500}

// submitAtOnce submits n tasks at once over a slow line, does something while they are under way,
// and returns what became of them.
func submitAtOnce(t *testing.T, s *natsrun.Server, n int,
	meanwhile func(link *natsrun.Link),
) (all []*assign.Pending[int], faults []error) {
	t.Helper()
	link := s.Link()
	c, err := assign.NewClient(natstest.Connect(t, s, append(link.Options(), noReports...)...),
		assign.ClientConfig{Namespace: testNS})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := assign.List(t.Context(), c, succeeded); err != nil { // it is open
		t.Fatal(err)
	}
	type submitted struct {
		p   *assign.Pending[int]
		err error
	}
	done := make(chan submitted)
	link.DelayDir(natsrun.ToClient, time.Second)
	for i := range n {
		go func() {
			p, err := assign.Submit(t.Context(), c, double, i)
			done <- submitted{p, err}
		}()
	}
	time.Sleep(time.Second / 2) // virtual: all are stored, and nothing is heard of any
	meanwhile(link)
	for range n {
		select {
		case d := <-done:
			if d.err != nil {
				faults = append(faults, d.err)
			} else {
				all = append(all, d.p)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%d of %d have returned", len(all)+len(faults), n)
		}
	}
	return all, faults
}

// TestManyAreSubmittedAtOnce: each is stored once, whether the answers arrive or are lost with the
// connection.
func TestManyAreSubmittedAtOnce(t *testing.T) {
	for name, meanwhile := range map[string]func(*natsrun.Link){
		"a slow line": func(*natsrun.Link) {},
		"a lost connection": func(link *natsrun.Link) {
			link.Cut()
			link.Heal()
			link.DelayDir(natsrun.ToClient, 0)
			link.Reset()
		},
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				leader(t, newNode(t, s, "a", doubling(t, "a", newTally())))
				all, faults := submitAtOnce(t, s, 100, meanwhile)
				if err := errors.Join(faults...); err != nil {
					t.Fatal(err)
				}
				for _, p := range all {
					if _, err := p.Wait(t.Context()); err != nil {
						t.Errorf("%s: %v", p.ID(), err)
					}
				}
				c := New(t, s)
				if list, err := assign.List(t.Context(), c, succeeded); err != nil || len(list.Tasks) != 100 {
					t.Errorf("%d tasks have ended, %v, want 100", len(list.Tasks), err)
				}
			})
		})
	}
}

// TestManyAreSubmittedToAFullStream: those that find no room are told so, and soon.
func TestManyAreSubmittedToAFullStream(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		if _, err := assign.Submit(t.Context(), New(t, s), double, 21); err != nil { // it makes the stream
			t.Fatal(err)
		}
		const room = 40
		limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxMsgs = 1 + room })
		began := time.Now()
		all, faults := submitAtOnce(t, s, 100, func(*natsrun.Link) {})
		for _, err := range faults {
			if !errors.Is(err, assign.ErrStreamFull) {
				t.Error(err)
			}
		}
		if len(all) != room {
			t.Errorf("%d were stored, want %d", len(all), room)
		}
		if d := time.Since(began); d > 10*time.Second {
			t.Errorf("the last one was told after %v, with an answer on its way for a second", d)
		}
	})
}
