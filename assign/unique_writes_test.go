package assign_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestUniqueSubmissionsAreSingleWrites: what they store belongs to no atomic batch, during which
// the server stores nothing else. Recurrences keep their ticks beside a crowd of them.
func TestUniqueSubmissionsAreSingleWrites(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		ran := newTally()
		leader(t, newNode(t, s, "a", doubling(t, "a", ran)))
		c := New(t, s)
		if err := assign.Recur(t.Context(), c, double, "often", "@every 1s", 21); err != nil {
			t.Fatal(err)
		}
		const submitters, seconds, each = 8, 5, 20
		var crowd sync.WaitGroup
		for n := range submitters {
			crowd.Go(func() {
				for i := range seconds * each {
					opts := []assign.SubmitOption{assign.WithUnique(fmt.Sprint("key ", n, " ", i))}
					if i%2 == 0 {
						opts = append(opts, assign.WithID(fmt.Sprint("id-", n, "-", i)))
					}
					if _, err := assign.Submit(t.Context(), c, slow, "x", opts...); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Second / each) // virtual
				}
			})
		}
		crowd.Wait()
		time.Sleep(1500 * time.Millisecond) // virtual: the last of them has run
		ran.mu.Lock()
		if len(ran.of) < seconds {
			t.Errorf("%d ticks in more than %d seconds: %v", len(ran.of), seconds, ran.of)
		}
		ran.mu.Unlock()
		nc := natstest.Connect(t, s)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := js.Stream(t.Context(), "TASKS_"+testNS)
		if err != nil {
			t.Fatal(err)
		}
		for _, subject := range []string{"q.id-0-0", records(t, nc, "u.>")[0]} {
			m, err := stream.GetLastMsgForSubject(t.Context(), stored+subject)
			if err != nil {
				t.Fatal(err)
			}
			if batch := m.Header.Get("Nats-Batch-Id"); batch != "" {
				t.Errorf("%s was stored by the batch %s", subject, batch)
			}
		}
		if all := records(t, nc, "u.>"); len(all) != submitters*seconds*each {
			t.Errorf("%d keys", len(all))
		}
	})
}

// TestUniqueKeyOfAClientThatIsGone: a client has reserved a place and taken the key, and is gone.
// The next one that wants the key gets it, and what the first may still have sent is refused. So is
// a copy of a submission that comes after the outcome.
func TestUniqueKeyOfAClientThatIsGone(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		c := New(t, s)
		ended, _ := submitUnique(t, c, "k")
		nc := natstest.Connect(t, s)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := js.Stream(t.Context(), "TASKS_"+testNS)
		if err != nil {
			t.Fatal(err)
		}
		last := func(key string) *jetstream.RawStreamMsg {
			t.Helper()
			m, err := stream.GetLastMsgForSubject(t.Context(), stored+key)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		copied := last("q." + ended) // nobody has run it yet
		b := newBench()
		close(b.gate)
		newNode(t, s, "a", b.register(t, "a"))
		if _, err := assign.Find(c, slow, ended).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		refused := func(what string, m *nats.Msg) {
			t.Helper()
			if _, err := js.PublishMsg(t.Context(), m); err == nil {
				t.Errorf("%s was stored", what)
			}
		}
		refused("a late copy", &nats.Msg{Subject: copied.Subject, Header: copied.Header, Data: copied.Data})

		key := records(t, nc, "u.>")[0]
		natstest.Eventually(t, "a free key", 10*time.Second, func() (bool, string) {
			return len(last(key).Data) == 0, key
		})
		marker := &nats.Msg{Subject: stored + "q.lost", Header: nats.Header{"KV-Operation": {"DEL"}, "Nats-TTL": {"20s"}}}
		place, err := js.PublishMsg(t.Context(), marker, jetstream.WithExpectLastSequencePerSubject(0))
		if err != nil {
			t.Fatal(err)
		}
		record := fmt.Sprintf(`{"v":2,"task":"lost","at":%d,"kind":"slow","key":"k"}`, place.Sequence)
		if _, err := js.Publish(t.Context(), stored+key, []byte(record),
			jetstream.WithExpectLastSequencePerSubject(last(key).Sequence)); err != nil {
			t.Fatal(err)
		}
		if id, existing := submitUnique(t, c, "k"); id == "lost" || existing {
			t.Errorf("%s, %v", id, existing)
		}
		late := &nats.Msg{Subject: stored + "q.lost", Header: nats.Header{
			"Task": copied.Header["Task"], "Task-Keys": copied.Header["Task-Keys"],
			"Nats-Expected-Last-Subject-Sequence": {fmt.Sprint(place.Sequence)},
		}}
		refused("the submission of a client that was shut out", late)
	})
}

// TestUniqueKeyOfARequeueThatIsGone: a client was about to submit a dead task again: it has taken
// the key, and is gone. The next one that wants the key gets it, and what the first may still have
// sent is refused. The dead task is still there, and keeps its time.
func TestUniqueKeyOfARequeueThatIsGone(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		var fixed atomic.Bool
		n := newNode(t, s, "a", breaking(t, &fixed))
		c := New(t, s)
		id := dies(t, c, assign.WithUnique("k"))
		n.close(t)
		nc := natstest.Connect(t, s)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := js.Stream(t.Context(), "TASKS_"+testNS)
		if err != nil {
			t.Fatal(err)
		}
		dead, err := stream.GetLastMsgForSubject(t.Context(), stored+"q."+id)
		if err != nil {
			t.Fatal(err)
		}
		before, err := assign.Get(t.Context(), c, id)
		if err != nil {
			t.Fatal(err)
		}
		key := records(t, nc, "u.>")[0]
		record := fmt.Sprintf(`{"v":2,"task":%q,"at":%d,"kind":"brittle","key":"k"}`, id, dead.Sequence)
		if _, err := js.Publish(t.Context(), stored+key, []byte(record)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // virtual: when the task ended is kept too
		p, err := assign.Submit(t.Context(), c, brittle, "in", assign.WithUnique("k"))
		if err != nil || p.ID() == id || p.Existing() {
			t.Fatalf("%v, %v", p, err)
		}
		if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: dead.Subject, Data: dead.Data, Header: nats.Header{
			"Task": dead.Header["Task"], "Task-Keys": dead.Header["Task-Keys"],
			"Nats-Expected-Last-Subject-Sequence": {fmt.Sprint(dead.Sequence)},
		}}); err == nil {
			t.Error("the requeue of a client that was shut out was stored")
		}
		after, err := assign.Get(t.Context(), c, id)
		if err != nil || after.State != assign.StateDead || !after.Ended.Equal(before.Ended) || after.Error != before.Error ||
			!after.KeptUntil.After(before.KeptUntil) {
			t.Errorf("%+v, %v; before %+v", after, err, before)
		}
		if err := assign.Requeue(t.Context(), c, id); !errors.Is(err, assign.ErrKeyTaken) {
			t.Errorf("%v", err)
		}
	})
}

// TestRequeueOfAKeyedTaskIsSingleWrites: also one whose answers are lost, which is one.
func TestRequeueOfAKeyedTaskIsSingleWrites(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		var fixed atomic.Bool
		newNode(t, s, "a", breaking(t, &fixed))
		c, link := lossyClient(t, s)
		id := dies(t, c, assign.WithUnique("k"))
		fixed.Store(true)
		nc := natstest.Connect(t, s)
		natstest.Republish(t, nc, "TASKS_"+testNS, stored+">", "kept.>")
		sub, err := nc.SubscribeSync("kept.>")
		if err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		loseAnswers(t, link, func() error { return assign.Requeue(t.Context(), c, id) })
		if _, err := assign.Find(c, brittle, id).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // virtual: for whatever comes late
		submissions := 0
		for n, _, _ := sub.Pending(); n > 0; n-- {
			m, err := sub.NextMsg(time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if batch := m.Header.Get("Nats-Batch-Id"); batch != "" {
				t.Errorf("%s was stored by the batch %s", m.Subject, batch)
			}
			if m.Subject == "kept.q."+id && m.Header.Get("Task-Outcome") == "" {
				submissions++
			}
		}
		if submissions != 1 {
			t.Errorf("%d submissions", submissions)
		}
	})
}
