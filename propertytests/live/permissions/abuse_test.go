package permissions_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// victim is a, leading its role, and an observer that nobody disturbs.
type victim struct {
	terms chan *election.Term
	term  *election.Term
	owner *nats.Conn
	seen  *election.Observer
}

func leads(t *testing.T, s *natsrun.Server, heard *denials) *victim {
	t.Helper()
	settles(t)
	v := &victim{terms: make(chan *election.Term, 16), owner: as(t, s, "owner", heard)}
	owns(t, v.owner)
	a := session(t, "a")
	open(t, a, as(t, s, "a", heard))
	campaign(t, a, election.RoleConfig{Role: scheduler, Lead: idle(v.terms)})
	v.term = next(t, "a leads", v.terms)
	var err error
	if v.seen, err = election.Observe(t.Context(), v.owner, bucket); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.seen.Close)
	return v
}

// losesFor waits until a leads again: its first term is over by then, and the later one has a
// larger epoch.
func (v *victim) losesFor(t *testing.T) {
	t.Helper()
	began := time.Now()
	term := next(t, "a leads again", v.terms)
	if v.term.Valid() {
		t.Error("two terms at once")
	}
	if term.Epoch() <= v.term.Epoch() {
		t.Errorf("epoch %d after %d", term.Epoch(), v.term.Epoch())
	}
	t.Logf("a leads again after %v", time.Since(began))
	v.term = term
}

// TestACandidateCanEndAnySessionOfItsBucket, also one that lives, since that is how a dead one is
// replaced: NATS cannot tell one from the other. It is not given the role by that, and the one who
// had it is back at once. forge_test.go shows further consequences.
func TestACandidateCanEndAnySessionOfItsBucket(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var heard denials
		v := leads(t, s, &heard)
		b := as(t, s, "b", &heard)
		killed := record.Encode(record.Lease{V: record.Version, State: record.Killed, By: "b"})
		if _, err := b.Request("$KV.roles.c.lease.a", killed, time.Second); err != nil {
			t.Fatal(err)
		}
		v.losesFor(t)
		if said := heard.all(t); said != "" {
			t.Errorf("the server complains:\n%s", said)
		}
	}, published(t))
}

// TestAnObserverCanHaveTheServerWriteGarbage: the server stores its own answer where the request
// says that the answer goes. That answer is not a record, so candidates wait and write over it: the
// role is without a leader for a while, and never with two. If this fails because the record stays,
// then NATS checks reply subjects now, and the documents may promise more.
func TestAnObserverCanHaveTheServerWriteGarbage(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var heard denials
		v := leads(t, s, &heard)
		o := as(t, s, "o", &heard)
		if err := o.PublishRequest("$JS.API.STREAM.INFO.KV_roles", "$KV.roles.c.role.scheduler", nil); err != nil {
			t.Fatal(err)
		}
		if err := o.Flush(); err != nil {
			t.Fatal(err)
		}
		v.losesFor(t)
		if said := heard.all(t); said != "" {
			t.Errorf("the server complains:\n%s", said)
		}
	}, published(t))
}

// TestAWorkersRecordIsNoOrder: a consumer delivers to the subject that its maker chose, but for the
// subjects of its own stream, so a worker can have its record delivered where orders are heard,
// though it may not publish there. It keeps the subject under which it was stored, and is not an
// order.
func TestAWorkersRecordIsNoOrder(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var heard denials
		v := leads(t, s, &heard)
		w := as(t, s, "w", &heard)
		order, err := json.Marshal(protocol.Request{
			ID: "forged", Op: protocol.OpStepDown, Role: scheduler,
			Epoch: v.term.Epoch(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Request("$KV.roles.w.member.w", order, time.Second); err != nil {
			t.Fatal(err)
		}
		b, err := natskv.Open(t.Context(), v.owner, bucket)
		if err != nil {
			t.Fatal(err)
		}
		orders := record.ControlSubject(bucket, b.Identity().ID, "a")
		arrives, err := v.owner.SubscribeSync(orders)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.owner.Flush(); err != nil {
			t.Fatal(err)
		}
		deliver(t, w, "KV_roles", "$KV.roles.w.member.w", orders)
		if m, err := arrives.NextMsg(time.Second); err != nil || m.Subject == orders {
			t.Fatalf("the order does not arrive as a record: %v, %v", m, err)
		}
		time.Sleep(time.Minute)
		if !v.term.Valid() || len(v.terms) > 0 {
			t.Error("a record that was delivered to the subject of orders was carried out")
		}
		if said := heard.all(t); said != "" {
			t.Errorf("the server complains:\n%s", said)
		}
	}, published(t))
}

// deliver makes a consumer that delivers the last record of one subject to another.
func deliver(t *testing.T, nc *nats.Conn, stream, from, to string) {
	t.Helper()
	ask, err := json.Marshal(map[string]any{"stream_name": stream, "action": "create", "config": map[string]any{
		"name": "forger", "deliver_subject": to, "filter_subject": from, "deliver_policy": "last_per_subject",
		"ack_policy": "none", "mem_storage": true, "num_replicas": 1,
	}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := nc.Request("$JS.API.CONSUMER.CREATE."+stream+".forger."+from, ask, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Error *struct{ Description string } `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil || answer.Error != nil {
		t.Fatalf("NATS checks where consumers deliver now, and the documents may promise more: %s", m.Data)
	}
}
