package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

func TestMain(m *testing.M) { natstest.Main(m) }

const policy = `{"v":1,"kind":"k","priority":3,"attempts":1,"backoff_ms":1,"max_backoff_ms":1,"retention_s":60}`

// shelf is a client, and who writes the records of bundles by hand.
type shelf struct {
	*Client
	t    *testing.T
	line *line
	at   string // begins the subjects of records
}

func newShelf(t *testing.T, s *natsrun.Server) *shelf {
	t.Helper()
	c := New(natstest.Connect(t, s), stream.Options{
		Namespace: "work", AutoCreate: true, Storage: jetstream.MemoryStorage, Replicas: 1,
	}, nil, nil)
	t.Cleanup(c.Close)
	l, err := c.opened(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &shelf{c, t, l, record.Stored(l.stream.Name())}
}

// put stores a record, and returns its revision.
func (s *shelf) put(key string, h []natskv.Field, data []byte) uint64 {
	s.t.Helper()
	m := nats.NewMsg(s.at + key)
	m.Data = data
	for _, f := range h {
		m.Header.Set(f.Name, f.Value)
	}
	if _, err := s.nc.RequestMsg(m, 10*time.Second); err != nil {
		s.t.Fatal(err)
	}
	e, err := s.look(s.t.Context(), s.line, key)
	if err != nil || e.Revision == 0 {
		s.t.Fatal(e, err)
	}
	return e.Revision
}

// bundle stores a bundle with these members of a block. Each has a header n, its index.
func (s *shelf) bundle(block string, indexes ...int) (revision uint64) {
	s.t.Helper()
	list := make([]record.Member, len(indexes))
	for i, index := range indexes {
		list[i] = record.Member{
			Index: uint16(index), Task: policy, Meta: fmt.Sprintf(`{"n":"%d"}`, index),
			Data: fmt.Append(nil, "input of ", index),
		}
	}
	h, data := record.EncodeBundle(list)
	return s.put(record.BundleKey+bundles.ID(block, indexes[0]), h, data)
}

// ended stores which members of a bundle have ended, by their places.
func (s *shelf) ended(name string, of uint64, places ...int) {
	s.t.Helper()
	set := bundles.NewSet(8)
	for _, place := range places {
		set.Add(place)
	}
	data, err := record.EncodeEnded(record.Ended{Of: of, Places: set})
	if err != nil {
		s.t.Fatal(err)
	}
	s.put(record.EndedKey+name, nil, data)
}

// succeeded stores the outcome of a task.
func (s *shelf) succeeded(id string) {
	s.t.Helper()
	h, data := record.EncodeOutcome("k", tasks.Outcome{Status: tasks.StatusSucceeded, Tries: 1}, "", nil)
	s.put(record.QueueKey+id, h, data)
}

// scheduler answers the questions to the scheduler.
func (s *shelf) scheduler(answer func(q control.Query) control.Answer) {
	s.t.Helper()
	if _, err := s.nc.Subscribe(s.sub.Ctl(), func(m *nats.Msg) {
		var q control.Query
		if err := json.Unmarshal(m.Data, &q); err != nil {
			s.t.Error(err)
		}
		data, err := json.Marshal(answer(q))
		if err != nil {
			s.t.Error(err)
		}
		if err := m.Respond(data); err != nil {
			s.t.Error(err)
		}
	}); err != nil {
		s.t.Fatal(err)
	}
}

// reads counts the readings of bundles from now on.
func (s *shelf) reads() func() int {
	s.t.Helper()
	sub, err := s.nc.SubscribeSync("$JS.API.STREAM.MSG.GET." + s.line.stream.Name())
	if err != nil {
		s.t.Fatal(err)
	}
	return func() (n int) {
		for {
			m, err := sub.NextMsg(time.Second) // virtual
			if err != nil {
				return n
			}
			var ask struct {
				Next string `json:"next_by_subj"`
			}
			if json.Unmarshal(m.Data, &ask) == nil && ask.Next != "" {
				n++
			}
		}
	}
}

// TestAMemberIsReadAsIfItWereAlone, as long as it is open. A record at its place is
// the truth.
func TestAMemberIsReadAsIfItWereAlone(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		first := s.bundle("c.a", 0, 2, 4)
		second := s.bundle("c.a", 1, 3, 5, 35)
		s.ended("c.a.1", second, 1, 2)
		s.bundle("c.b", 0, 1)
		s.succeeded("c.b.0")
		s.put(record.QueueKey+"c.b.1", []natskv.Field{{Name: "KV-Operation", Value: "DEL"}}, nil)
		stale := s.bundle("c.stale", 0, 1)
		s.ended("c.stale.0", stale+1000, 0, 1)
		s.bundle("c.gone", 0, 1)
		s.put(record.BundleKey+"c.gone.0", nil, nil)
		s.bundle("c.over", 0)
		s.put(record.EndedKey+"c.over.0", nil, nil) // as if the bundle were removed between two readings
		s.put(record.BundleKey+"c.later.1", []natskv.Field{{Name: record.HeaderBundle, Value: `{"v":2}`}}, []byte("x"))
		s.put(record.BundleKey+"c.later.x_y", nil, []byte("no bundle"))
		s.bundle("c.later", 0)
		for _, tt := range []struct {
			id    string
			state tasks.State // "": there is none
			err   error
		}{
			{"c.a.0", tasks.StatePending, nil},
			{"c.a.4", tasks.StatePending, nil},
			{"c.a.1", tasks.StatePending, nil},
			{"c.a.3", "", taskerr.ErrTaskNotFound},
			{"c.a.5", "", taskerr.ErrTaskNotFound},
			{"c.a.z", tasks.StatePending, nil},
			{"c.a.6", "", taskerr.ErrTaskNotFound},
			{"c.a.7.1", "", taskerr.ErrTaskNotFound},
			{"c.a", "", taskerr.ErrTaskNotFound},
			{"c.b.0", tasks.StateSucceeded, nil},
			{"c.b.1", "", taskerr.ErrTaskNotFound},
			{"c.stale.1", tasks.StatePending, nil},
			{"c.gone.1", "", taskerr.ErrTaskNotFound},
			{"c.over.0", "", taskerr.ErrTaskNotFound},
			{"c.later.0", tasks.StatePending, nil},
			{"c.later.1", "", record.ErrRecord},
			{"c.later.2", "", record.ErrRecord},
			{"c.none.0", "", taskerr.ErrTaskNotFound},
		} {
			st, err := s.Get(t.Context(), tt.id)
			if !errors.Is(err, tt.err) || tt.state != "" && st.State != tt.state {
				t.Errorf("%s: %+v, %v; want %v, %v", tt.id, st, err, tt.state, tt.err)
			}
			if st.State == tasks.StatePending && tt.state != "" {
				_, index, _ := bundles.Split(tt.id)
				if st.Kind != "k" || st.Priority != 3 || st.Headers["n"] != fmt.Sprint(index) || st.Submitted.IsZero() ||
					string(st.Input) != fmt.Sprint("input of ", index) {
					t.Errorf("%+v", st)
				}
			}
		}
		if got, err := s.task(t.Context(), s.line, "c.a.2"); err != nil || got.Revision != first || got.place != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestManyReadABundleOnce, and what they are told is what is stored. A bundle is read again after a
// while, and one that comes later is found at once.
func TestManyReadABundleOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		all := make([]int, 200)
		for i := range all {
			all[i] = i
		}
		first := s.bundle("c.a", all[:100]...)
		s.bundle("c.a", all[100:]...)
		look := func(when string, open func(i int) bool, readings int) {
			t.Helper()
			count := s.reads()
			var group errgroup.Group
			for i := range all {
				group.Go(func() error {
					got, err := s.task(t.Context(), s.line, bundles.ID("c.a", i))
					if err != nil || got.Revision > 0 != open(i) {
						return fmt.Errorf("%d: %+v, %w", i, got, err)
					}
					clear(got.Value) // it is the caller's own
					return nil
				})
			}
			if err := group.Wait(); err != nil {
				t.Errorf("%s: %v", when, err)
			}
			if n := count(); n > readings {
				t.Errorf("%s: %d readings of bundles, want %d", when, n, readings)
			}
		}
		every := func(int) bool { return true }
		look("at first", every, 2)
		look("again", every, 0)
		if got, err := s.task(t.Context(), s.line, "c.a.7"); err != nil || string(got.Value) != "input of 7" {
			t.Errorf("%q, %v", got.Value, err)
		}
		s.ended("c.a.0", first, 7)
		look("one has ended", func(i int) bool { return i != 7 }, 2) // for that one the end of the block is read
		time.Sleep(keepSeen)
		look("later", func(i int) bool { return i != 7 }, 4)
		if _, err := s.Get(t.Context(), "c.a.rr"); !errors.Is(err, taskerr.ErrTaskNotFound) {
			t.Error(err)
		}
		s.bundle("c.a", bundles.Most-1)
		if st, err := s.Get(t.Context(), "c.a.rr"); err != nil {
			t.Errorf("%+v, %v", st, err)
		}
		s.put(record.BundleKey+"c.a.2s", nil, nil)
		s.put(record.EndedKey+"c.a.2s", nil, nil)
		look("a bundle is removed", func(i int) bool { return i < 100 && i != 7 }, len(all))
	})
}

// TestABundleIsForgottenInTime: before an outcome of one of its members leaves.
func TestABundleIsForgottenInTime(t *testing.T) {
	const early = time.Second // a record may leave as much before its time
	if keepSeen+2*record.ReadWithin+recordLag >= record.MinRetention-early {
		t.Error("it is remembered for too long")
	}
}

// TestAMemberThatIsDeleted: the client that has deleted it does not remember its bundle, and finds
// no task under its id. Any client may submit another task under that id.
func TestAMemberThatIsDeleted(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s, other := newShelf(t, srv), newShelf(t, srv)
		block := s.prefix + ".0"
		id := bundles.ID(block, 0)
		s.bundle(block, 0, 1)
		for _, c := range []*shelf{s, other} {
			if _, err := c.Get(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 2 { // both end in one step, with no record beside the bundle
			s.succeeded(bundles.ID(block, i))
		}
		s.put(record.BundleKey+id, nil, nil)
		if err := s.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(markedFor + time.Second)
		if st, err := s.Get(t.Context(), id); !errors.Is(err, taskerr.ErrTaskNotFound) {
			t.Errorf("%+v, %v", st, err)
		}
		h, err := other.Submit(t.Context(), &Submission{ID: id, Kind: "k", Header: policy}, nil)
		if err != nil || h.Existing() {
			t.Errorf("%+v, %v", h, err)
		}
	})
}

// TestWhoComesLaterReadsAgain: a caller takes what was read for another one before it only if that
// is enough. Those that wait meanwhile share one reading.
func TestWhoComesLaterReadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, enough := range []bool{true, false} {
			var s recentReads
			var begun atomic.Int64
			look := func() (int64, error) {
				return together(t.Context(), &s, "key", func(context.Context) (int64, error) {
					n := begun.Add(1)
					time.Sleep(time.Second)
					return n, nil
				}, func(int64) bool { return enough })
			}
			var group errgroup.Group
			group.Go(func() error { _, err := look(); return err })
			synctest.Wait()
			want := int64(2)
			if enough {
				want = 1
			}
			for range 10 {
				group.Go(func() error {
					if n, err := look(); n != want || err != nil {
						return fmt.Errorf("reading %d, want %d: %w", n, want, err)
					}
					return nil
				})
			}
			if err := group.Wait(); err != nil || begun.Load() != want {
				t.Errorf("%d readings, want %d: %v", begun.Load(), want, err)
			}
		}
	})
}

// TestTheRequestToCancelAMember is stored as long as the member is open. It is refused when the
// member has ended, though its bundle stands, and also if it comes again.
func TestTheRequestToCancelAMember(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		of := s.bundle("c.a", 0, 1, 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Cancel(ctx, "c.a.1"); !errors.Is(err, taskerr.ErrCancelPending) {
			t.Fatal(err)
		}
		request, err := s.look(t.Context(), s.line, record.CancelKey+"c.a.1")
		if err != nil || request.Revision < of || len(request.Value) == 0 {
			t.Fatalf("%+v, %v", request, err)
		}
		s.ended("c.a.0", of, 1)
		s.succeeded("c.a.1")
		again := &nats.Msg{Subject: s.at + request.Key, Header: request.Header, Data: request.Value}
		answer, err := s.nc.RequestMsg(again, 10*time.Second)
		var ack struct{ Error *jetstream.APIError }
		if err != nil || json.Unmarshal(answer.Data, &ack) != nil || ack.Error == nil {
			t.Errorf("a copy that comes after the end: %v, %v", answer, err)
		}
		if err := s.Cancel(t.Context(), "c.a.1"); !errors.Is(err, taskerr.ErrTaskEnded) {
			t.Error(err)
		}
		for _, id := range []string{"c.a.0", "c.a.2"} {
			if o, err := s.requestCancel(t.Context(), s.line, id); o != nil || err != nil {
				t.Errorf("%s: %+v, %v", id, o, err)
			}
		}
	})
}

// TestMembersInLists: the headers of a page are read with each bundle once, and a task that has
// ended since is not among the open ones.
func TestMembersInLists(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		all := make([]int, 100)
		for i := range all {
			all[i] = i
		}
		of := s.bundle("c.a", all[:60]...)
		s.bundle("c.a", all[60:]...)
		s.bundle("c.b", all[:50]...)
		s.ended("c.a.0", of, 1)
		s.succeeded("c.a.1")
		s.put(record.QueueKey+"alone", []natskv.Field{
			{Name: record.HeaderTask, Value: policy}, {Name: record.HeaderMeta, Value: `{"n":"7"}`},
		}, nil)
		var list []control.Task
		add := func(id string) { list = append(list, control.Task{ID: id, Kind: "k", State: tasks.StatePending}) }
		for i := range all {
			add(bundles.ID("c.a", i))
		}
		for i := range 50 {
			add(bundles.ID("c.b", i))
		}
		add("alone")
		s.scheduler(func(control.Query) control.Answer {
			return control.Answer{OK: true, Tasks: list, Ending: []int{0, 1, 99}}
		})
		states := []tasks.State{tasks.StatePending}
		for _, tt := range []struct {
			header string
			ids    []string
			reads  int // of bundles, 3 at most of which are read for the tasks that end
		}{
			{"", nil, 2},
			{"7", []string{"c.a.7", "c.b.7", "alone"}, 6},
			{"1", []string{"c.b.1"}, 6},
			{"none", []string{}, 6},
		} {
			o := ListOptions{States: states, Limit: len(list)}
			if tt.header != "" {
				o.Headers = map[string]string{"n": tt.header}
			}
			count := s.reads()
			page, err := s.List(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			ids := []string{}
			for i := range page.Tasks {
				ids = append(ids, page.Tasks[i].ID)
			}
			if tt.ids == nil {
				if len(ids) != len(list)-1 || slices.Contains(ids, "c.a.1") {
					t.Errorf("%d tasks of %d: %v", len(ids), len(list)-1, ids)
				}
			} else if !slices.Equal(ids, tt.ids) {
				t.Errorf("%s: %v, want %v", tt.header, ids, tt.ids)
			}
			if n := count(); n > tt.reads {
				t.Errorf("%s: %d readings of bundles, want %d", tt.header, n, tt.reads)
			}
		}
	})
}

// TestMembersInAFeed: of the tasks that a scheduler tells of, those with the headers are told.
func TestMembersInAFeed(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		s.bundle("c.a", 0, 1, 2, 3)
		names := make(chan string, 10)
		s.scheduler(func(q control.Query) control.Answer {
			names <- q.ID
			return control.Answer{OK: true}
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		of := func(kind EventType, st *Status) string { return fmt.Sprint(kind, " ", st.ID) }
		o := FeedOptions{Headers: map[string]string{"n": "2"}}
		events, err := Feed(ctx, s.Client, o, of)
		if err != nil {
			t.Fatal(err)
		}
		name := <-names
		var news control.Answer
		news.OK, news.Cursor = true, 1
		for _, x := range []struct {
			index int
			state tasks.State
		}{
			{0, tasks.StatePending},
			{2, tasks.StatePending},
			{2, tasks.StateSucceeded},
			{1, tasks.StateSucceeded},
			{2, tasks.StatePending}, // as if it were requeued
		} {
			news.Tasks = append(news.Tasks, control.Task{ID: bundles.ID("c.a", x.index), Kind: "k", State: x.state})
		}
		data, err := json.Marshal(news)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.nc.Publish(s.sub.Feed(name), data); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"submitted c.a.2", "ended c.a.2", "submitted c.a.2"} {
			if got := <-events; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	})
}

// TestASubmissionUnderTheIDOfAMember finds the task that is there, with a unique key or without.
func TestASubmissionUnderTheIDOfAMember(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		block := s.prefix + ".0"
		of := s.bundle(block, 0, 1)
		submit := func(index int, kind, key string) (Handle, error) {
			return s.Submit(t.Context(), &Submission{
				ID: bundles.ID(block, index), Kind: kind, Header: policy, Unique: key,
			}, nil)
		}
		for _, key := range []string{"", "key"} {
			if h, err := submit(1, "k", key); err != nil || !h.Existing() {
				t.Errorf("%+v, %v", h, err)
			}
		}
		if _, err := submit(1, "other", ""); !errors.Is(err, taskerr.ErrOtherKind) {
			t.Error(err)
		}
		if h, err := submit(5, "k", ""); err != nil || h.Existing() {
			t.Errorf("there was none: %+v, %v", h, err)
		}
		s.ended(bundles.ID(block, 0), of, 1)
		if h, err := submit(1, "k", ""); err != nil || h.Existing() {
			t.Errorf("it has ended, and its outcome has left: %+v, %v", h, err)
		}
	})
}
