package assign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// put stores a record by hand.
func put(t *testing.T, nc *nats.Conn, key, header, value, data string) {
	t.Helper()
	m := &nats.Msg{Subject: stored + key, Data: []byte(data), Header: nats.Header{}}
	if header != "" {
		m.Header[header] = []string{value}
	}
	if _, err := nc.RequestMsg(m, 5*time.Second); err != nil {
		t.Fatal(err)
	}
}

// unserved is a client of a namespace that has its stream and no scheduler yet, and a connection
// that stores by hand.
func unserved(t *testing.T, s *natsrun.Server) (*assign.Client, *nats.Conn) {
	t.Helper()
	c := New(t, s)
	if _, err := assign.GetOverview(t.Context(), c); err == nil { // makes the stream
		t.Fatal("a scheduler answers")
	}
	return c, natstest.Connect(t, s)
}

// stand wants records with data to be there.
func stand(t *testing.T, nc *nats.Conn, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if m := record(t, nc, key); m == nil || len(m.Data) == 0 {
			t.Errorf("%s is %+v", key, m)
		}
	}
}

// TestATickThatIsThereAlready: the tick's task is not submitted again, and ticks of others that
// fall due with it are.
func TestATickThatIsThereAlready(t *testing.T) {
	costly(t)
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("echo")
		a := newNode(t, s, "a", nil)
		leader(t, a)
		c := New(t, s)
		began := time.Now().Truncate(time.Second)
		names := []string{"one", "two", "three", "four", "five"}
		for _, name := range names {
			if err := assign.Recur(t.Context(), c, k, name, "* * * * *", 0, assign.CatchUp(assign.CatchUpAll)); err != nil {
				t.Fatal(err)
			}
		}
		third := began.Truncate(time.Minute).Add(3 * time.Minute).UTC().Format("20060102T150405Z")
		put(t, a.nc, "q.cron/two/"+third, "Task", rawTask, "7")
		revision := record(t, a.nc, "q.cron/two/"+third).Sequence
		time.Sleep(10 * time.Minute)
		if m := record(t, a.nc, "q.cron/two/"+third); m == nil || m.Sequence != revision {
			t.Errorf("what stood there is %+v now, it was stored as %d", m, revision)
		}
		newNode(t, s, "w", r.handle(t, "w", k), workerOnly)
		natstest.Eventually(t, "nine ticks each", time.Minute, func() (bool, string) {
			seen := ""
			ok := true
			for _, name := range names {
				n := len(r.ticksOf(name))
				ok = ok && n >= 9
				seen += fmt.Sprint(name, " ", n, ", ")
			}
			return ok, seen
		})
		for _, name := range names {
			everyTick(t, r.ticksOf(name), time.Minute, 9)
		}
	})
}

// TestASubmissionOfALaterVersion is left to a program that can read it, with all that belongs to
// it.
func TestASubmissionOfALaterVersion(t *testing.T) {
	costly(t)
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		k := assign.NewKind[[]byte, []byte]("echo")
		c, nc := unserved(t, s)
		put(t, nc, "t.later", "", "", `{"v":1,"epoch":1,"attempt":1,"failures":1}`)
		put(t, nc, "c.later", "Task-Attempt", "1.1", "half")
		put(t, nc, "t.gone", "", "", `{"v":1,"epoch":1,"attempt":1,"failures":1}`) // of nobody: this is tidied
		put(t, nc, "q.later", "Task", `{"v":2,"kind":"echo","new":{}}`, "x")
		a := newNode(t, s, "a", failsOnce(t, k), slowly)
		leader(t, a)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		p, err := assign.Submit(ctx, c, k, []byte("fail"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "a note of nobody is erased", time.Hour, func() (bool, string) {
			m := record(t, nc, "t.gone")
			return m == nil || len(m.Data) == 0, fmt.Sprintf("%+v", m)
		})
		time.Sleep(time.Hour)
		stand(t, nc, "q.later", "t.later", "c.later")
	})
}

// TestABundleOfALaterVersion is left to a program that can read it, and so are its members: their
// notes and checkpoints stay, and no task that waits for them ends. As nobody else can tell which
// tasks these are, the term ends. Garbage ends no term.
func TestABundleOfALaterVersion(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		k := assign.NewKind[[]byte, []byte]("echo")
		c, nc := unserved(t, s)
		put(t, nc, "b.client.0.0", "Task-Bundle", `{"v":1}`, "garbage")
		put(t, nc, "b.client.1.0", "Task-Bundle", `{"v":2}`, "in another form")
		put(t, nc, "t.client.1.0", "", "", `{"v":1,"epoch":1,"attempt":1,"failures":1}`)
		put(t, nc, "c.client.1.0", "Task-Attempt", "1.1", "half")
		put(t, nc, "x.client.1.0", "", "", `{"v":1}`)
		var waiting []*assign.Pending[[]byte]
		for _, o := range []assign.SubmitOption{assign.After("client.1.0"), assign.AfterEnded("client.1.0")} {
			p, err := assign.Submit(t.Context(), c, k, []byte("x"), o)
			if err != nil {
				t.Fatal(err)
			}
			waiting = append(waiting, p)
		}
		a := newNode(t, s, "a", failsOnce(t, k), slowly)
		err := ended(t, a, "the term ends")
		if !errors.Is(err, assign.ErrFenced) || !strings.Contains(err.Error(), "b.client.1.0") {
			t.Errorf("%v: want ErrFenced and the bundle", err)
		}
		time.Sleep(time.Hour) // virtual: it comes to lead again and again
		stand(t, nc, "b.client.1.0", "t.client.1.0", "c.client.1.0", "x.client.1.0")
		for _, p := range waiting {
			if m := record(t, nc, "q."+p.ID()); m == nil || m.Header.Get("Task-Outcome") != "" {
				t.Errorf("%s has ended: %+v", p.ID(), m)
			}
		}
		put(t, nc, "b.client.1.0", "", "", "")                       // a later scheduler has ended them all
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour) // longer than its cool-down
		defer cancel()
		p, err := assign.Submit(ctx, c, k, []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(ctx); err != nil {
			t.Error(err)
		}
	})
}
