package dashboard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// reader is the writer of a stream, without a network: it notes when it was sent what.
type reader struct {
	head  http.Header
	began time.Time

	mu   sync.Mutex
	at   []time.Duration
	text []string
}

func (r *reader) Header() http.Header { return r.head }
func (*reader) WriteHeader(int)       {}
func (*reader) Flush()                {}
func (r *reader) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.text = append(r.at, time.Since(r.began)), append(r.text, string(p))
	return len(p), nil
}

// quiet makes a page about a bucket in use, in a bubble, with a function that lets someone follow a
// view until the test ends.
func quiet(t *testing.T, s *natsrun.Server) (follow func(view string) *reader) {
	t.Helper()
	nc := natstest.Connect(t, s)
	session, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", BucketAutoCreate: true, InstanceID: "a", TTL: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := assign.New(session, assign.Config{Namespace: "jobs", Role: "jobs", StreamAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	name, lead := a.Role()
	e, err := session.Campaign(election.RoleConfig{Role: name, Lead: lead})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := session.Open(t.Context(), nc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close(context.Background()) })
	nc = natstest.Connect(t, s)
	o, err := election.Observe(t.Context(), nc, "roles", election.WithWorkers())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	jobs, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "jobs", StreamAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(jobs.Close)
	h, err := New(Options{Observer: o, Tasks: []*assign.Client{jobs}})
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	t.Cleanup(func() {
		h.Close()
		readers.Wait()
	})
	return func(view string) *reader {
		r := &reader{head: http.Header{}, began: time.Now()}
		readers.Go(func() { h.ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/live?view="+view, nil)) })
		return r
	}
}

// TestComments: a stream in which nothing changes sends a comment every 15 s, so that proxies keep
// it, and a reader sees that it is there.
func TestComments(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := quiet(t, s)("/events%3Frole=nothing")
		time.Sleep(65 * time.Second)
		r.mu.Lock()
		defer r.mu.Unlock()
		var comments int
		for i, text := range r.text {
			if !strings.HasPrefix(text, ":") {
				continue
			}
			comments++
			if want := time.Duration(comments) * 15 * time.Second; r.at[i] != want || !strings.HasSuffix(text, "\n\n") {
				t.Errorf("comment %d comes after %v: %q", comments, r.at[i], text)
			}
		}
		if comments != 4 {
			t.Errorf("%d comments within 65 s: %q", comments, r.text)
		}
	})
}

// TestManyCostWhatOneCosts: the server has the same subscriptions and gets as many messages at rest
// whether one or 50 follow its screens.
func TestManyCostWhatOneCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("a crowd of viewers")
	}
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		follow := quiet(t, s)
		rest := func() (subscriptions uint32, in, out int64) {
			read := func() (in, out int64) {
				natstest.Settle(t)
				v, err := s.Running().Varz(nil)
				if err != nil {
					t.Fatal(err)
				}
				subscriptions = v.Subscriptions
				return v.InMsgs, v.OutMsgs
			}
			time.Sleep(30 * time.Second) // a newcomer has its first picture
			in, out = read()
			time.Sleep(3 * time.Minute)
			nowIn, nowOut := read()
			return subscriptions, nowIn - in, nowOut - out
		}
		views := []string{
			"/", "/members", "/doctor", "/events", "/role%3Fname=jobs", "/tasks", "/dead", "/groups", "/recurrences",
		}
		follow(strings.Join(views, "&view="))
		subs, in, out := rest()
		var all []*reader
		for i := range 49 {
			all = append(all, follow(views[i%len(views)]))
		}
		manySubs, manyIn, manyOut := rest()
		t.Logf("one: %d subscriptions, %d messages in and %d out; 50: %d, %d, %d", subs, in, out, manySubs, manyIn, manyOut)
		for i, r := range all {
			if r.mu.Lock(); len(r.text) < 10 {
				t.Errorf("reader %d was sent %d texts", i, len(r.text))
			}
			r.mu.Unlock()
		}
		// A question in every two seconds may be asked a moment earlier or later.
		near := func(a, b int64) bool { return max(a-b, b-a) <= 6 }
		if subs != manySubs || !near(in, manyIn) || !near(out, manyOut) {
			t.Error("50 cost more than one")
		}
	})
}
