package election_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/race"
)

// TestAStartAmongDeadIds: 2,000 sessions have ended (500 under the race detector), and the bucket
// still tells of them. A process that starts, and one that connects again, reads each of their
// records once: the number of messages does not depend on theirs in any other way, and that of
// consumers does not at all. Each consumer has one filter, since the server is slow with several
// (see natskv.Bucket.Watch).
func TestAStartAmongDeadIds(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		dead := int64(2000)
		if race.Enabled {
			dead = 500
		}
		nc := natstest.Connect(t, s)
		b, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: bucket})
		if err != nil {
			t.Fatal(err)
		}
		bury(t, nc, b, int(dead))
		var made atomic.Int64
		advice := "$JS.EVENT.ADVISORY.CONSUMER.CREATED." + b.Stream() + ".>"
		if _, err := nc.Subscribe(advice, func(*nats.Msg) { made.Add(1) }); err != nil {
			t.Fatal(err)
		}
		counted := func() (consumers, messages int64) {
			t.Helper()
			natstest.Settle(t)
			v, err := s.Running().Varz(nil)
			if err != nil {
				t.Fatal(err)
			}
			return made.Load(), v.InMsgs + v.OutMsgs
		}
		within := func(what string, consumers, messages int64) {
			t.Helper()
			t.Logf("%s: %d consumers, %d messages", what, consumers, messages)
			if consumers > 2 || messages > 2*dead+dead/4 { // a lease and a member record of each
				t.Errorf("%s takes %d consumers and %d messages among %d dead ids", what, consumers, messages, dead)
			}
		}
		link := s.Link()
		watches, before := counted()
		session := open(t, s, instance("leader"), append(link.Options(), nats.MaxReconnects(-1),
			nats.ReconnectWait(50*time.Millisecond))...)
		_, term := lead(t, session, election.RoleConfig{Role: "r"})
		n, m := counted()
		within("a start", n-watches, m-before)

		watches, before = n, m
		link.Reset()
		natstest.Eventually(t, "the leader watches again", time.Minute, func() (bool, string) {
			n, m = counted()
			return n > watches && m > before+2*dead, fmt.Sprintf("%d consumers, %d messages", n-watches, m-before)
		})
		within("a new connection", n-watches, m-before)
		if !term.Valid() {
			t.Error("the term has ended")
		}

		observe(t, s)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := js.Stream(t.Context(), b.Stream())
		if err != nil {
			t.Fatal(err)
		}
		all, seen := stream.ListConsumers(t.Context()), 0
		for c := range all.Info() {
			seen++
			if c.Config.FilterSubject == "" || len(c.Config.FilterSubjects) > 0 {
				t.Errorf("a watch has the filters %q and %q, want one", c.Config.FilterSubject, c.Config.FilterSubjects)
			}
		}
		if err := all.Err(); err != nil || seen < 2 {
			t.Errorf("%d consumers, %v, want one of the leader and one of an observer", seen, err)
		}
	})
}
