package election_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestObserverReportsVacancies(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		o := observe(t, s)
		if all := o.Roles(); len(all) != 0 {
			t.Errorf("roles of an empty bucket: %+v", all)
		}
		ctx, cancel := context.WithCancel(t.Context())
		events := o.Events(ctx)
		next := func(what string, is func(e event.Event) bool) {
			t.Helper()
			for !is(receive(t, what, events)) {
			}
		}
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler", Priority: 3})
		next("a leads", func(e event.Event) bool {
			c, ok := e.(event.LeaderChanged)
			return ok && c.Role == "scheduler" && c.Leader == "a" && c.Epoch == term.Epoch() && c.Bucket == bucket
		})
		natstest.Settle(t) // the member record of a has a way of its own
		info, ok := o.Role("scheduler")
		if !ok || info.Leader != "a" || info.Epoch != term.Epoch() || info.Revision != term.Epoch() || info.Priority != 3 ||
			info.TTL != time.Second || info.Session != bridge.Number(session) || info.PublicKey == "" || info.Vacant ||
			info.Since < 0 ||
			len(info.Candidates) != 1 || info.Candidates[0].Instance != "a" || info.Successor != "" {
			t.Errorf("while a leads: %+v", info)
		}
		if err := p.StepDown(t.Context()); err != nil {
			t.Fatal(err)
		}
		next("the vacancy", func(e event.Event) bool {
			v, ok := e.(event.RoleVacant)
			return ok && v.Role == "scheduler" && v.By == "a" && v.Reason == "stepped down"
		})
		if err := session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		next("a has left", func(e event.Event) bool {
			m, ok := e.(event.MemberLeft)
			return ok && m.Member == "a"
		})
		cancel()
		for range events { // is closed
		}
	})
}

// TestObserverSeesTheDead: a leader that vanishes is seen as such once somebody has killed its
// session.
func TestObserverSeesTheDead(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		_, term := lead(t, open(t, s, instance("a"), link.Options()...), election.RoleConfig{Role: "scheduler"})
		open(t, s, instance("b"))
		o := observe(t, s)
		link.Cut()
		info := sees(t, o, "scheduler", "led by nobody", ledBy(""))
		if info.Vacant || info.Revision != term.Epoch() || info.Epoch != 0 {
			t.Errorf("its record was changed: %+v", info)
		}
		if members(o) != "[b]" {
			t.Errorf("members %s", members(o))
		}
		link.Heal()
	})
}

func TestObserverResumesAfterAServerRestart(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		p, term := lead(t, open(t, s, instance("a"), nats.MaxReconnects(-1)), election.RoleConfig{Role: "scheduler"})
		o := observe(t, s)
		sees(t, o, "scheduler", "led by a", ledBy("a"))
		for range 3 {
			if age := o.StaleFor(); age != 0 {
				t.Errorf("while it follows the bucket, it is %v old", age)
			}
			s.Stop()
			time.Sleep(time.Minute)
			if age := o.StaleFor(); age < 59*time.Second || age > time.Minute {
				t.Errorf("a minute after the server has stopped it is %v old", age)
			}
			if info, ok := o.Role("scheduler"); !ok || info.Revision == 0 {
				t.Errorf("during the outage it has forgotten: %+v", info)
			}
			if err := s.Restart(); err != nil {
				t.Fatal(err)
			}
			next := receive(t, "a leads again", p.began)
			sees(t, o, "scheduler", "led at the new epoch", func(i election.RoleInfo) bool { return i.Epoch == next.Epoch() })
			if next.Epoch() <= term.Epoch() {
				t.Errorf("epoch %d after %d", next.Epoch(), term.Epoch())
			}
			term = next
		}
		if o.Err() != nil {
			t.Error(o.Err())
		}
	})
}

// TestObserverAgesInSilence: an observer that hears nothing knows so, and when all of the bucket
// has come again. A closed one is old for good.
func TestObserverAgesInSilence(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		lead(t, open(t, s, instance("a")), election.RoleConfig{Role: "scheduler"})
		link := s.Link()
		o, err := election.Observe(t.Context(), natstest.Connect(t, s, link.Options()...), bucket)
		if err != nil {
			t.Fatal(err)
		}
		link.Cut()
		time.Sleep(time.Minute)
		if age := o.StaleFor(); age < 20*time.Second || age > time.Minute {
			t.Errorf("a minute after the link was cut it is %v old", age)
		}
		link.Heal()
		natstest.Eventually(t, "it follows the bucket again", 5*time.Minute, func() (bool, string) {
			return o.StaleFor() == 0, o.StaleFor().String()
		})
		o.Close()
		time.Sleep(time.Second)
		if age := o.StaleFor(); age < time.Second {
			t.Errorf("a second after it was closed it is %v old", age)
		}
	})
}

func TestObserverWithWorkers(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		candidate := open(t, s, instance("a"))
		worker := instance("w")
		worker.WorkerOnly, worker.Meta = true, map[string]string{"zone": "north"}
		open(t, s, worker)
		narrow, wide := observe(t, s), observe(t, s, election.WithWorkers())
		natstest.Eventually(t, "the wide one sees both", time.Minute, func() (bool, string) {
			all := wide.Members()
			return len(all) == 2 && all[1].Described, sprint(all)
		})
		if m := wide.Members(); m[0].WorkerOnly || !m[1].WorkerOnly || m[1].Meta["zone"] != "north" || m[1].Instance != "w" {
			t.Errorf("members %+v", m)
		}
		if members(narrow) != "[a]" || sprint(len(candidate.Members())) != "1" {
			t.Errorf("without workers: %s, %+v", members(narrow), candidate.Members())
		}
	})
}

func TestObserverSinks(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		var sink recorder
		o := observe(t, s, election.WithSinks(&sink))
		lead(t, session, election.RoleConfig{Role: "scheduler"})
		sees(t, o, "scheduler", "led by a", ledBy("a"))
		o.Close()
		if n := len(ofType[event.LeaderChanged](&sink)); n != 1 {
			t.Errorf("%d leader changes, want 1: %+v", n, sink.all())
		}
		if n := len(ofType[event.MemberJoined](&sink)); n != 1 {
			t.Errorf("%d members joined, want 1", n)
		}
		if o.Err() != nil || o.Bucket() != bucket {
			t.Errorf("after Close: %v, %s", o.Err(), o.Bucket())
		}
		if _, open := <-o.Events(t.Context()); open {
			t.Error("an event after the end")
		}
		o.Close() // harmless
	})
}

// TestObserveNamesAnOptionThatIsNil: it does not call it, and asks nobody.
func TestObserveNamesAnOptionThatIsNil(t *testing.T) {
	_, err := election.Observe(t.Context(), nil, bucket, election.WithWorkers(), nil)
	var bad *election.ConfigError
	if !errors.As(err, &bad) || bad.Field != "option 1" {
		t.Errorf("%v", err)
	}
}

func TestObserverErrors(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		if _, err := election.Observe(t.Context(), nc, bucket); !errors.Is(err, election.ErrBucketNotFound) {
			t.Errorf("missing bucket: %v", err)
		}
		if _, err := election.Observe(t.Context(), nc, "a.b"); err == nil || !strings.Contains(err.Error(), `"a.b"`) {
			t.Errorf("bad name: %v", err)
		}
		open(t, s, instance("a"))
		if _, err := election.Observe(ended(), nc, bucket); !errors.Is(err, context.Canceled) {
			t.Errorf("ended context: %v", err)
		}

		js, err := jetstream.New(natstest.Connect(t, s))
		if err != nil {
			t.Fatal(err)
		}
		gone, closed := observe(t, s), natstest.Connect(t, s)
		orphan, err := election.Observe(t.Context(), closed, bucket)
		if err != nil {
			t.Fatal(err)
		}
		closed.Close()
		receive(t, "end by the connection's", after(orphan.Done()))
		if !errors.Is(orphan.Err(), election.ErrConnClosed) {
			t.Errorf("closed connection: %v, want %v", orphan.Err(), election.ErrConnClosed)
		}
		if err := js.DeleteKeyValue(t.Context(), bucket); err != nil {
			t.Fatal(err)
		}
		receive(t, "end by the bucket's", after(gone.Done()))
		if !errors.Is(gone.Err(), election.ErrBucketNotFound) {
			t.Errorf("deleted bucket: %v, want %v", gone.Err(), election.ErrBucketNotFound)
		}
	})
}
