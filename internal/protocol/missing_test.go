package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestMissingIsWaitedFor: a complete snapshot that lacks the record of a role, or the lease of its
// holder, does not prove that the holder has stopped. Its session is ended, and the role claimed,
// when the lease time since that snapshot is over.
func TestMissingIsWaitedFor(t *testing.T) {
	const ttl = 6 * time.Second
	for _, lost := range []string{"c.role.r", "c.lease.b"} {
		t.Run(lost, func(t *testing.T) {
			g := newRig(t, nil)
			lease := record.Lease{V: 1, Session: g.rev + 1, Nonce: "x", TTLms: ttl.Milliseconds(), Beat: 1, State: record.Live}
			g.sees("c.lease.b", lease)
			g.sees("c.role.r", heldBy("b", lease.Session, ttl.Milliseconds()))
			g.step(Join{RoleConfig{Name: "r"}})
			g.run(2*time.Second, nil)

			role := *g.m.View().Role("r")
			g.step(WatchReset{})
			if lost == "c.role.r" {
				lease.Beat++
				g.sees("c.lease.b", lease)
			} else {
				g.step(Delivered{&record.Entry{
					Kind: record.KindRole, Name: "r", Revision: role.Revision, Form: record.FormRecord,
					Role: role.Role,
				}})
			}
			g.sees("c.lease.a", g.m.self.Lease) // newer than what is lost: no replica that lags
			g.step(SnapshotDone{})
			form := g.m.View().Role("r").Form
			if b := g.m.View().Peer(record.Peer{Class: record.Candidate, Instance: "b"}); lost == "c.lease.b" && b != nil {
				form = b.Form
			}
			g.run(ttl-100*time.Millisecond, nil)
			if killed := g.killed("b"); killed || g.claims("r") {
				t.Fatalf("before the lease time was over: session ended %v, role claimed %v", killed, g.claims("r"))
			}
			if form != record.FormMissing {
				t.Fatalf("after that snapshot it was of form %v, not missing", form)
			}
			g.run(time.Second, nil)
			if !g.claims("r") {
				t.Error("when the lease time was over the role was not claimed")
			}
		})
	}
}

// TestMissingLeaseOfALaterSession: a lease that is gone is waited for by its own lease time and by
// that of the roles of its session. An earlier session of a longer one has ended, whatever it held.
func TestMissingLeaseOfALaterSession(t *testing.T) {
	const ttl, earlier = 3 * time.Second, 30 * time.Second
	g := newRig(t, nil)
	g.sees("c.role.old", heldBy("b", g.rev, earlier.Milliseconds()))
	lease := record.Lease{V: 1, Session: g.rev + 1, Nonce: "x", TTLms: ttl.Milliseconds(), Beat: 1, State: record.Live}
	g.sees("c.lease.b", lease)
	g.sees("c.role.r", heldBy("b", lease.Session, ttl.Milliseconds()))
	g.run(time.Second, nil)

	g.step(WatchReset{})
	for _, name := range []string{"old", "r"} {
		r := g.m.View().Role(name)
		g.step(Delivered{&record.Entry{
			Kind: record.KindRole, Name: name, Revision: r.Revision, Form: record.FormRecord, Role: r.Role,
		}})
	}
	g.sees("c.lease.a", g.m.self.Lease) // newer than what is lost: no replica that lags
	g.step(SnapshotDone{})
	g.run(ttl-100*time.Millisecond, nil)
	if g.killed("b") {
		t.Fatal("the session was ended before its lease time was over")
	}
	g.run(time.Second, nil)
	if !g.killed("b") {
		t.Error("the session was not ended when its lease time was over")
	}
}

// claims reports whether a role was ever claimed.
func (g *rig) claims(role string) bool {
	for _, e := range g.effs {
		if w, ok := e.(Write); ok && w.Key == record.RoleKey(role) {
			return true
		}
	}
	return false
}

// TestReplicasThatLag: whatever lags when watches are recreated and again, a term continues whose
// record stands.
func TestReplicasThatLag(t *testing.T) {
	for name, reset := range replicas {
		if reset.Single {
			continue // nothing lags there
		}
		t.Run(name, func(t *testing.T) {
			s := newLossy(t, reset)
			a := s.join("a", 0, "x")
			s.until("a leads x", func() bool { return a.leads("x") })
			s.beat("a")
			old, oldLast := s.copied()
			a.step(Join{RoleConfig{Name: "r"}})
			s.until("a leads r", func() bool { return a.leads("r") })
			for i := range 6 {
				keys, last := s.copied()
				s.back(old, oldLast)
				if i%2 == 0 { // the store's leader tells how far itself is
					s.last = last
				}
				a.m.rebuild("")
				a.watch()
				s.back(keys, last)
				s.pass(20*time.Millisecond, nil)
			}
			if !a.leads("r") || a.ended > 0 {
				t.Errorf("a leads %v, and has ended %d terms", a.leads("r"), a.ended)
			}
		})
	}
}

// TestReplicaThatLagsBehindARotation: a rotation is stored, and its answer lost; the next attempt
// is refused. A replica that knows neither of the rotation nor of the claim does not end the term.
func TestReplicaThatLagsBehindARotation(t *testing.T) {
	s := newLossy(t, WatchReset{Told: true, Behind: true})
	a := s.join("a", 3*time.Second, "x")
	s.until("a leads x", func() bool { return a.leads("x") })
	s.beat("a")
	old, oldLast := s.copied()
	a.step(Join{RoleConfig{Name: "r"}})
	s.until("a leads r", func() bool { return a.leads("r") })
	a.loses = func(w Write) bool { return w.Key == record.RoleKey("r") }
	s.until("a rotates", func() bool { return len(a.lost) > 0 })
	a.loses, s.lags = nil, true
	s.commit("c.role.r", a.lost[0].Value, false)
	r := a.m.view.Role("r").Notes.mine
	s.until("it is refused", func() bool { return r.Notes.retry.refused })
	keys, last := s.copied()
	s.back(old, oldLast)
	a.watch()
	s.back(keys, last)
	s.pass(100*time.Millisecond, nil)
	if !a.leads("r") || a.ended > 0 {
		t.Fatalf("a leads %v, and has ended %d terms", a.leads("r"), a.ended)
	}
	s.lags = false
	a.watch()
	s.pass(time.Second, nil)
	if !a.leads("r") || a.ended > 0 || r.term.epoch != s.keys["c.role.r"].revision {
		t.Errorf("a leads %v, and has ended %d terms; at epoch %d, the record stands at %d", a.leads("r"), a.ended,
			r.term.epoch, s.keys["c.role.r"].revision)
	}
}

// TestAnOlderLeaseStands: the store loses beats that were acknowledged, and an older one stands; a
// replica is behind, or nobody tells, so that nothing proves it. The instance is there again all
// the same, in this session or the next one; and an end of another that was lost is written again.
func TestAnOlderLeaseStands(t *testing.T) {
	for name, reset := range replicas {
		if reset.Told && !reset.Behind {
			continue // there it is proof, sooner or later
		}
		t.Run(name, func(t *testing.T) {
			s := newLossy(t, reset)
			a := s.join("a", 0, "r")
			s.until("a leads r", func() bool { return a.leads("r") })
			b := s.join("b", 0, "x")
			s.until("b leads x", func() bool { return b.leads("x") })
			s.beat("a")
			keys, last := s.copied()
			s.others(20)
			s.beat("a")
			s.back(keys, last)
			s.others(50)
			was := s.keys["c.lease.a"].revision
			s.until("a beats again", func() bool { return s.keys["c.lease.a"].revision > was })
			s.until("a leads r", func() bool { return a.leads("r") })
			if a.fault != nil || b.fault != nil {
				t.Errorf("%v, %v", a.fault, b.fault)
			}
		})
	}
}

// TestAMissingTermIsWaitedFor: a term's record that somebody has seen is lost, an older vacancy
// stands, and a replica that is being filled shows neither at first. A process that has seen the
// term does not claim before its lease time is over.
func TestAMissingTermIsWaitedFor(t *testing.T) {
	for _, missing := range []bool{false, true} {
		s := newLossy(t, WatchReset{Told: true, Behind: true})
		s.commit(record.RoleKey("r"), record.Encode(record.Role{V: 1, Vacant: true, TTLms: 6000, By: "z"}), false)
		c := s.join("c", 0, "x")
		s.until("c leads x", func() bool { return c.leads("x") })
		keys, last := s.copied()
		s.others(20)
		b := s.join("b", 0, "r")
		s.until("b leads r", func() bool { return b.leads("r") })
		b.leave()
		c.step(Join{RoleConfig{Name: "r"}})
		s.back(keys, last)
		s.others(60)
		if missing {
			whole := s.keys
			s.keys = map[string]stored{}
			s.someMember()
			c.watch()
			s.keys = whole
		}
		c.m.rebuild("")
		c.watch()
		s.someMember()
		both := s.pass(time.Minute, func() bool { return b.leads("r") && c.leads("r") })
		if both > 0 || !c.leads("r") {
			t.Errorf("missing in a snapshot before: %v: both lead for %v; c leads %v", missing, both, c.leads("r"))
		}
	}
}

// TestEverythingErased: somebody erases all messages of the bucket, by hand, so that nothing tells
// of them, and the next revision is higher than all before. It is led as before, when the lease
// time of what was there is over; whatever is known of replicas.
func TestEverythingErased(t *testing.T) {
	for name, reset := range replicas {
		t.Run(name, func(t *testing.T) {
			s := newLossy(t, reset)
			a := s.join("a", 2*time.Second, "r")
			s.until("a leads r", func() bool { return a.leads("r") })
			b := s.join("b", 2*time.Second, "r")
			s.pass(3*time.Second, nil)
			clear(s.keys)
			both := s.pass(5*time.Minute, func() bool { return a.leads("r") && b.leads("r") })
			if both > 0 {
				t.Errorf("both lead for %v", both)
			}
			if !a.leads("r") && !b.leads("r") {
				t.Errorf("nobody leads: %+v (%v), %+v (%v)", a.m.Status("r"), a.fault, b.m.Status("r"), b.fault)
			}
			for _, key := range []string{"c.lease.a", "c.lease.b", "c.member.a", "c.member.b", "c.role.r"} {
				if s.keys[key].revision == 0 {
					t.Errorf("%s was not written again", key)
				}
			}
		})
	}
}
