package assign_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	taskrecord "github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// storeBundle stores a bundle by hand, as a client would that has made the ids of a block: tasks of
// the kind say. Each has a header n, its index. They wait for their time as long as delay says.
func storeBundle(t *testing.T, nc *nats.Conn, block string, members int, delay time.Duration) (ids []string) {
	t.Helper()
	list := make([]taskrecord.Member, members)
	policy := fmt.Sprintf(`{"v":1,"kind":"say","attempts":1,"backoff_ms":1,"max_backoff_ms":1,"retention_s":3600,`+
		`"delay_ms":%d}`, delay.Milliseconds())
	for i := range list {
		list[i] = taskrecord.Member{
			Index: uint16(i), Task: policy, Meta: fmt.Sprintf(`{"n":"%d"}`, i), Data: []byte(`"hi"`),
		}
		ids = append(ids, bundles.ID(block, i))
	}
	h, data := taskrecord.EncodeBundle(list)
	m := nats.NewMsg(stored + taskrecord.BundleKey + ids[0])
	m.Data = data
	for _, f := range h {
		m.Header.Set(f.Name, f.Value)
	}
	if _, err := nc.RequestMsg(m, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestMembersAreFoundAndCancelled beside the scheduler that has them: by their ids, in lists and by
// a bulk operation. One that has ended is what its outcome says, though its bundle stands.
func TestMembersAreFoundAndCancelled(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", func(a *assign.Assigner) { saying(t, a, nil) }, slowly)
		leader(t, a)
		c, ctx := New(t, s), t.Context()
		const members = 40
		ids := storeBundle(t, a.nc, "client.z", members, time.Hour)
		natstest.Eventually(t, "the scheduler has read them", time.Minute, func() (bool, string) {
			n := len(listAll(t, c, assign.ListOptions{}))
			return n == members, fmt.Sprint(n)
		})
		st, err := assign.Get(ctx, c, ids[7])
		if err != nil || st.State != assign.StateDelayed || st.Kind != "say" || st.Headers["n"] != "7" {
			t.Errorf("%+v, %v", st, err)
		}
		if err := assign.Find(c, say, ids[7]).Cancel(ctx); err != nil {
			t.Error(err)
		}
		if st, err := assign.Get(ctx, c, ids[7]); err != nil || st.State != assign.StateCancelled {
			t.Errorf("%+v, %v", st, err)
		}
		if err := assign.Delete(ctx, c, ids[7]); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // virtual: nothing is left of its outcome
		if st, err := assign.Get(ctx, c, ids[7]); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("%+v, %v", st, err)
		}
		one := assign.ListOptions{Headers: map[string]string{"n": "9"}}
		if all := listAll(t, c, one); len(all) != 1 || all[ids[9]].Headers["n"] != "9" {
			t.Errorf("%+v", all)
		}
		r, err := assign.CancelAll(ctx, c, assign.BulkOptions{ListOptions: assign.ListOptions{Prefix: "client.z."}})
		if err != nil || r.Done != members-1 || r.Failed+r.Skipped != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		natstest.Eventually(t, "all have ended", time.Minute, func() (bool, string) {
			n := len(listAll(t, c, assign.ListOptions{States: []assign.State{assign.StateCancelled}}))
			return n == members-1, fmt.Sprint(n)
		})
		ended := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == ids[7] })
		for _, id := range ended {
			if st, err := assign.Get(ctx, c, id); err != nil || st.State != assign.StateCancelled {
				t.Errorf("%+v, %v", st, err)
			}
		}
		time.Sleep(taskrecord.BundleRetention + 10*time.Minute) // virtual: longer than what is left of a bundle stays
		for _, family := range []string{taskrecord.BundleKey, taskrecord.EndedKey, taskrecord.CancelKey} {
			if left := records(t, a.nc, family+">"); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		}
	})
}

// TestManyWaitForOneBundle: as long as they wait, after their connection was lost, and when all are
// cancelled, their client reads the bundle a few times, and not once for each.
func TestManyWaitForOneBundle(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", func(a *assign.Assigner) { saying(t, a, nil) })
		leader(t, a)
		link := s.Link()
		c, err := assign.NewClient(natstest.Connect(t, s, append(link.Options(), noReports...)...),
			assign.ClientConfig{Namespace: testNS})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		const members = 100
		ids := storeBundle(t, a.nc, "client.z", members, 10*time.Hour)
		natstest.Eventually(t, "the scheduler has read them", time.Minute, func() (bool, string) {
			n := len(listAll(t, c, assign.ListOptions{}))
			return n == members, fmt.Sprint(n)
		})
		read := countBundleReadings(t, s)
		var all sync.WaitGroup
		errs := make([]error, members)
		for i, id := range ids {
			all.Go(func() { _, errs[i] = assign.Find(c, say, id).Wait(t.Context()) })
		}
		time.Sleep(2 * time.Minute) // virtual
		if n := read(); n < 1 || n > 6 {
			t.Errorf("%d readings by those that wait", n)
		}
		time.Sleep(time.Minute) // virtual: what is remembered is too old
		read()
		link.Reset()
		time.Sleep(10 * time.Second) // virtual
		if n := read(); n > 2 {
			t.Errorf("%d readings after the connection was lost", n)
		}
		r, err := assign.CancelAll(t.Context(), c, assign.BulkOptions{})
		if err != nil || r.Done != members {
			t.Errorf("%+v, %v", r, err)
		}
		if n := read(); n > 1 {
			t.Errorf("%d readings to cancel all", n)
		}
		all.Wait()
		for i, err := range errs {
			if !errors.Is(err, assign.ErrTaskCancelled) {
				t.Errorf("%s: %v", ids[i], err)
			}
		}
	})
}

// countBundleReadings counts the readings of bundles by clients since the last count.
func countBundleReadings(t *testing.T, s dialer) (count func() int64) {
	t.Helper()
	nc := natstest.Connect(t, s)
	var n atomic.Int64
	if _, err := nc.Subscribe("$JS.API.STREAM.MSG.GET.TASKS_"+testNS, func(m *nats.Msg) {
		var ask struct {
			Next string `json:"next_by_subj"`
		}
		if json.Unmarshal(m.Data, &ask) == nil && ask.Next != "" {
			n.Add(1)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return func() int64 { return n.Swap(0) }
}

// TestMembersAreReadWithTheirBundles: a scheduler reads about as much for members that die, or
// that are tried again out of their order, as for tasks that stand alone.
func TestMembersAreReadWithTheirBundles(t *testing.T) {
	for name, x := range map[string]struct {
		blocks, members, size int
		fails                 func(*assign.Task[[]byte]) error
	}{
		"dead": {1, 400, 240, func(*assign.Task[[]byte]) error { return assign.Permanent(errors.New("no")) }},
		"tried again": {16, 60, 1000, func(task *assign.Task[[]byte]) error {
			time.Sleep(10 * time.Millisecond) // virtual
			if task.Attempt() > 1 {
				return nil
			}
			return assign.RetryAfter(time.Second+rand.N(2*time.Second), errors.New("once"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				settled(t)
				k := assign.NewKind[[]byte, []byte]("echo")
				a := newNode(t, s, "a", func(a *assign.Assigner) {
					handler := func(_ context.Context, task *assign.Task[[]byte]) ([]byte, error) { return nil, x.fails(task) }
					if err := assign.Handle(a, k, handler); err != nil {
						t.Error(err)
					}
				}, slots(16))
				leader(t, a)
				nc, all, read := natstest.Connect(t, s), 0, [2]uint64{}
				for i, within := range []bool{false, true} {
					before := a.nc.Stats().InBytes
					for b := range x.blocks {
						storeTasks(t, nc, fmt.Sprint("client.", i, "-", b), x.members, make([]byte, x.size), within)
					}
					all += x.blocks * x.members
					natstest.Eventually(t, "all have ended", time.Hour, func() (bool, string) {
						n := a.count(func(e event.Event) bool { _, is := e.(event.TaskCompleted); return is })
						return n == all, fmt.Sprint(n)
					})
					read[i] = a.nc.Stats().InBytes - before
				}
				if read[1] > 2*read[0] {
					t.Errorf("%d bytes are read for members, and %d for as many tasks that stand alone", read[1], read[0])
				}
			})
		})
	}
}

// storeTasks stores submissions of a block by hand, alone or in one bundle.
func storeTasks(t *testing.T, nc *nats.Conn, block string, n int, input []byte, within bool) {
	t.Helper()
	members := make([]taskrecord.Member, n)
	for i := range members {
		members[i] = taskrecord.Member{Index: uint16(i), Task: rawTask, Data: input}
		if !within {
			put(t, nc, taskrecord.QueueKey+bundles.ID(block, i), taskrecord.HeaderTask, rawTask, string(input))
		}
	}
	if within {
		h, data := taskrecord.EncodeBundle(members)
		put(t, nc, taskrecord.BundleKey+bundles.ID(block, 0), h[0].Name, h[0].Value, string(data))
	}
}
