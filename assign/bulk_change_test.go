package assign_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestBulkCancelOverAChange: no task is left open by an operation that says that it is complete,
// though the scheduler changes half way, when many of its tasks have ended: also one that had to be
// continued, since nobody led for long.
func TestBulkCancelOverAChange(t *testing.T) {
	for _, tt := range []struct {
		how    string
		change func(t *testing.T, first *node)
		parts  bool
	}{
		{"it leaves", func(t *testing.T, first *node) { first.close(t) }, false},
		{"it is cut off", func(_ *testing.T, first *node) { first.link.Cut() }, true},
	} {
		t.Run(tt.how, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				const n = 60
				first, second := newNode(t, s, "a", nil), newNode(t, s, "z", nil)
				if leader(t, first, second) == second {
					first, second = second, first
				}
				far := s.Link()
				far.Delay(10 * time.Millisecond) // the tasks of a page end before it asks for the next one
				c, err := assign.NewClient(natstest.Connect(t, s, far.Options()...), assign.ClientConfig{Namespace: testNS})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				tenants(t, New(t, s), n, assign.WithDelay(time.Hour))
				time.Sleep(time.Minute)
				var pages atomic.Int32
				changed := make(chan struct{})
				if _, err := natstest.Connect(t, s).Subscribe(said+".ctl", func(*nats.Msg) {
					if pages.Add(1) == 4 {
						go func() {
							defer close(changed)
							tt.change(t, first)
						}()
					}
				}); err != nil {
					t.Fatal(err)
				}
				o, parts, done := assign.BulkOptions{ListOptions: assign.ListOptions{Limit: 10}}, 0, 0
				for {
					r, err := assign.CancelAll(t.Context(), c, o)
					if done += r.Done; err == nil {
						break
					}
					if !errors.Is(err, assign.ErrNoScheduler) || r.Failed > 0 {
						t.Fatalf("%+v, %v", r, err)
					}
					o.Cursor, parts = r.Next, parts+1
				}
				<-changed
				if second != leader(t, second) || done < n || parts > 0 != tt.parts {
					t.Errorf("%d of %d were cancelled, and it was continued %d times", done, n, parts)
				}
				time.Sleep(time.Minute)
				if is := listed(t, c, assign.ListOptions{States: open}); is != 0 {
					t.Errorf("%d of %d are open\n%s", is, n, second.dump())
				}
			})
		})
	}
}

// TestListOverAChange: a page behind one of the former scheduler leaves out no task that is open
// all the while, though the next scheduler has it in another place.
func TestListOverAChange(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const n = 30
		first, second := newNode(t, s, "a", nil), newNode(t, s, "z", nil)
		if leader(t, first, second) == second {
			first, second = second, first
		}
		c := New(t, s)
		tenants(t, c, n, assign.WithDelay(time.Hour))
		time.Sleep(time.Minute)
		o := assign.ListOptions{States: open, Limit: n / 2}
		page, err := assign.List(t.Context(), c, o)
		if err != nil || len(page.Tasks) != n/2 || page.Next == "" {
			t.Fatalf("%+v, %v", page, err)
		}
		for _, st := range page.Tasks {
			if err := assign.Find(c, hopeless, st.ID).Cancel(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		first.close(t)
		leader(t, second)
		o.Cursor = page.Next
		if is := listed(t, c, o); is != n/2 {
			t.Errorf("%d are listed behind the first page, want %d", is, n/2)
		}
	})
}

// TestListOfAnEarlierScheduler: one that takes a cursor of a later one for a place of its own is
// asked again from its beginning.
func TestListOfAnEarlierScheduler(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c, nc := New(t, s), natstest.Connect(t, s)
		const n = 7
		if _, err := nc.Subscribe(said+".ctl", func(m *nats.Msg) {
			var q struct{ Cursor, Limit uint64 }
			if err := json.Unmarshal(m.Data, &q); err != nil {
				t.Error(err)
			}
			answer := map[string]any{"ok": true}
			var page []map[string]any
			at := min(q.Cursor, n)
			for ; at < n && uint64(len(page)) < q.Limit; at++ {
				page = append(page, map[string]any{"id": fmt.Sprint("t", at), "state": "pending"})
			}
			if answer["tasks"] = page; at < n {
				answer["cursor"] = at
			}
			data, err := json.Marshal(answer)
			if err == nil {
				err = m.Respond(data)
			}
			if err != nil {
				t.Error(err)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		for cursor, want := range map[string]int{
			"": n, "open.4": n - 4, fmt.Sprint("open.", uint64(9)<<32|4): n, fmt.Sprint("open.", uint64(9)<<32): n,
		} {
			all := listAll(t, c, assign.ListOptions{States: open, Limit: 2, Cursor: cursor})
			if len(all) != want {
				t.Errorf("cursor %q: %d are listed, want %d", cursor, len(all), want)
			}
		}
	})
}
