package protocol

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// replicas are what may be said about the store when a watch is made.
var replicas = map[string]WatchReset{
	"a single server":           {Told: true, Single: true},
	"replicas, all up to date":  {Told: true},
	"replicas, one is behind":   {Told: true, Behind: true},
	"replicas, nobody tells it": {},
}

// oneBeat is how long two may lead after the store has lost an acknowledged claim: until the watch
// of its claimant has shown something later.
const oneBeat = 2 * time.Second

// TestALostClaim: a claim that was acknowledged is lost, with what others have written, and
// somebody else claims the role. The process that had claimed it first comes back to the store a
// moment later, and learns of it from a new watch: it leads for one more heartbeat at most,
// whatever is known of the replicas.
func TestALostClaim(t *testing.T) {
	for name, reset := range replicas {
		t.Run(name, func(t *testing.T) {
			s := newLossy(t, reset)
			a := s.join("a", 0, "x")
			s.until("a leads x", func() bool { return a.leads("x") })
			s.beat("a")
			s.pass(100*time.Millisecond, nil)
			keys, last := s.copied()
			s.others(20)
			a.step(Join{RoleConfig{Name: "r"}})
			s.until("a leads r", func() bool { return a.leads("r") })

			s.back(keys, last)
			a.leave()
			c := s.join("c", 0, "r")
			s.until("c leads r", func() bool { return c.leads("r") })
			s.others(30)
			a.comeBack()
			if both := s.pass(10*time.Minute, func() bool { return a.leads("r") && c.leads("r") }); both > oneBeat {
				t.Errorf("both lead for %v", both)
			}
			if !c.leads("r") {
				t.Errorf("c leads no more: %+v, %v", c.m.Status("r"), c.fault)
			}
		})
	}
}

// TestALostClaimOfTheOnlyCandidate: whatever has become of the term meanwhile, a process that is
// told of no loss leads again, by a claim of what stands there; so does who ends its session, in
// the next one.
func TestALostClaimOfTheOnlyCandidate(t *testing.T) {
	for name, reset := range replicas {
		for what, meanwhile := range map[string]func(s *lossy, a *lossyNode){
			"the term continues": func(*lossy, *lossyNode) {},
			"it steps down":      func(_ *lossy, a *lossyNode) { a.step(StepDown{ID: 77, Role: "r"}) },
			"its work fails": func(_ *lossy, a *lossyNode) {
				a.step(Returned{Role: "r", Term: a.m.Status("r").Epoch, Failed: true})
			},
			"its session is lost": func(s *lossy, a *lossyNode) {
				a.leave()
				s.pass(8*time.Second, nil)
				a.comeBack()
			},
			"a new watch was asked for": func(_ *lossy, a *lossyNode) { a.m.rebuild("") },
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				s := newLossy(t, reset)
				s.commit(record.RoleKey("r"), record.Encode(record.Role{V: 1, Vacant: true, TTLms: 6000, By: "z"}), false)
				a := s.join("a", 0, "x")
				s.until("a leads x", func() bool { return a.leads("x") })
				s.beat("a")
				keys, last := s.copied()
				a.step(Join{RoleConfig{Name: "r"}})
				s.until("a leads r", func() bool { return a.leads("r") })
				s.back(keys, last)
				a.watches = false
				meanwhile(s, a)
				s.others(30)
				s.someMember() // stands later than the claim
				a.wants = true
				led := s.pass(10*time.Minute, func() bool { return a.leads("r") })
				if a.fault == nil && (led < 9*time.Minute || !a.leads("x")) {
					t.Errorf("it leads r for %v of 10 minutes, and x: %v", led, a.leads("x"))
				}
				if told := reset.Told && !reset.Behind; !told && a.fault != nil {
					t.Errorf("nobody knows of a loss, and it has ended: %v", a.fault)
				}
			})
		}
	}
}

// TestALostVacancy: a process that has given a role up that its record still gives it in a session
// that lives takes it again, or ends.
func TestALostVacancy(t *testing.T) {
	for name, reset := range replicas {
		t.Run(name, func(t *testing.T) {
			s := newLossy(t, reset)
			a, b := s.join("a", 0, "x", "r"), s.join("b", 0, "y")
			s.until("both lead", func() bool { return a.leads("x") && a.leads("r") && b.leads("y") })
			b.step(Join{RoleConfig{Name: "r"}})
			s.pass(2*time.Second, nil)
			s.beat("a")
			keys, last := s.copied()
			s.lags = true
			a.step(StepDown{ID: 77, Role: "r"})
			s.until("it is vacant", func() bool { return a.m.view.Role("r").Role.Vacant })
			s.back(keys, last)
			s.others(30)
			s.lags, a.wants, b.wants = false, true, true
			if led := s.pass(10*time.Minute, func() bool { return a.leads("r") || b.leads("r") }); led < 9*time.Minute {
				t.Errorf("it is led for %v of 10 minutes: %v, %v", led, a.fault, b.fault)
			}
		})
	}
}

// TestTwoLostClaims, and what stands between them: one watch does for both.
func TestTwoLostClaims(t *testing.T) {
	s := newLossy(t, WatchReset{Told: true, Behind: true})
	for _, role := range []string{"p", "r"} {
		s.commit(record.RoleKey(role), record.Encode(record.Role{V: 1, Vacant: true, TTLms: 6000, By: "z"}), false)
	}
	a := s.join("a", 0, "x")
	s.until("a leads x", func() bool { return a.leads("x") })
	s.beat("a")
	keys, last := s.copied()
	a.step(Join{RoleConfig{Name: "p"}})
	s.until("a leads p", func() bool { return a.leads("p") })
	s.others(10)
	a.step(Join{RoleConfig{Name: "r"}})
	s.until("a leads r", func() bool { return a.leads("r") })
	s.back(keys, last)
	a.watches = false
	s.others(5)
	s.someMember()
	s.others(30)
	a.wants = true
	first := map[string]uint64{"p": a.m.Status("p").Epoch, "r": a.m.Status("r").Epoch}
	both := s.pass(10*time.Second, func() bool { return a.leads("p") && a.leads("r") })
	for role, epoch := range first {
		if got := a.m.Status(role); both < 8*time.Second || !got.Leading || got.Epoch == epoch {
			t.Errorf("%s: %+v, it was led at %d, and both for %v of 10 s", role, got, epoch, both)
		}
	}
}

// TestARotationThatIsStoredLate, by its last attempt of many: what a new watch shows before it ends
// nothing.
func TestARotationThatIsStoredLate(t *testing.T) {
	s := newLossy(t, WatchReset{Told: true})
	a, b := s.join("a", 3*time.Second, "r"), s.join("b", 0, "x")
	s.until("both lead", func() bool { return a.leads("r") && b.leads("x") })
	s.beat("b")
	a.loses = func(w Write) bool { return w.Key == record.RoleKey("r") }
	s.until("it rotates", func() bool { return len(a.lost) > 0 })
	s.pass(5500*time.Millisecond, nil) // longer than a rotation is waited for
	a.watches = false
	s.beat("b") // what stands before it
	rotation := a.lost[len(a.lost)-1]
	stored := s.commit(rotation.Key, rotation.Value, rotation.Delete)
	a.loses, a.wants = nil, true
	s.pass(2*time.Second, nil)
	if got := a.m.Status("r").Epoch; got < stored || a.ended > 0 {
		t.Errorf("it leads by epoch %d, and the record stands at %d; %d terms have ended", got, stored, a.ended)
	}
}

// TestALostClaimUnderALiveWatch: nobody's connection and nobody's watch breaks, since the replica
// that serves them continues: it had not come to the claim. A process that is shown another record
// at the revision of the claim knows that the store has gone back.
func TestALostClaimUnderALiveWatch(t *testing.T) {
	for name, reset := range replicas {
		for _, lost := range []int{0, 3} { // records of others, before the claim
			t.Run(fmt.Sprint(name, ", ", lost, " other records lost"), func(t *testing.T) {
				s := newLossy(t, reset)
				a, c := s.join("a", 0, "x"), s.join("c", 0, "y")
				s.until("both lead", func() bool { return a.leads("x") && c.leads("y") })
				s.beat("c")
				s.beat("a")
				s.vacancy("r")
				keys, last := s.copied()
				s.lags = true
				s.others(lost)
				a.step(Join{RoleConfig{Name: "r"}})
				s.until("a leads r", func() bool { return a.leads("r") })
				epoch := a.m.Status("r").Epoch

				s.back(keys, last)
				s.lags = false
				c.step(Join{RoleConfig{Name: "r"}})
				s.until("c leads r", func() bool { return c.leads("r") })
				s.others(2 * lost)
				if both := s.pass(10*time.Minute, func() bool { return a.leads("r") && c.leads("r") }); both > oneBeat {
					t.Errorf("both lead for %v, at epochs %d and %d", both, epoch, c.m.Status("r").Epoch)
				}
				if c.m.Status("r").Epoch == epoch && !errors.Is(a.fault, ErrStoreRegressed) {
					t.Errorf("one epoch was given twice, and a has not ended: %v", a.fault)
				}
			})
		}
	}
}

// TestALostRotation: the record that stands is that of the epoch before, and who leads does not
// continue by one that nobody knows.
func TestALostRotation(t *testing.T) {
	for name, reset := range replicas {
		t.Run(name, func(t *testing.T) {
			s := newLossy(t, reset)
			a := s.join("a", 20*time.Second, "r")
			s.until("a leads", func() bool { return a.leads("r") })
			first := a.m.Status("r").Epoch
			var keys map[string]stored
			var last uint64
			for a.m.Status("r").Epoch == first {
				keys, last = s.copied()
				s.tick()
			}
			lost := a.m.Status("r").Epoch
			s.back(keys, last)
			a.wants = true // no watch outlives that its replica goes back
			s.others(30)
			b := s.join("b", 0, "r")
			went := time.Duration(0)
			led := s.pass(10*time.Minute, func() bool {
				if a.leads("r") && a.m.Status("r").Epoch == lost {
					went += lossyStep
				}
				return a.leads("r") || b.leads("r")
			})
			if went > oneBeat || led < 9*time.Minute {
				t.Errorf("it leads by a lost epoch for %v, and somebody leads for %v of 10 minutes", went, led)
			}
		})
	}
}

// TestATermGoesOn: nothing ends one whose record stands: not a new watch in the midst of others,
// not one over a replica that lags, and not one that is made while a rotation is acknowledged, or
// its acknowledgement is lost.
func TestATermGoesOn(t *testing.T) {
	for name, reset := range replicas {
		t.Run(name, func(t *testing.T) {
			s := newLossy(t, reset)
			a := s.join("a", 3*time.Second, "r", "q")
			s.join("b", 0, "x", "y")
			s.until("a leads", func() bool { return a.leads("r") && a.leads("q") })
			for range 200 {
				s.others(5)
				a.wants = true
				s.pass(70*time.Millisecond, nil)
				for i, w := range a.writes { // stored, and not acknowledged
					if s.keys[w.Key].revision == w.Expect && w.GuardKey == "" {
						s.commit(w.Key, w.Value, w.Delete)
						a.writes = append(a.writes[:i], a.writes[i+1:]...)
						a.step(Written{ID: w.ID, Outcome: record.Unknown})
						break
					}
				}
				if !a.leads("r") || !a.leads("q") {
					t.Fatalf("it leads no more: %+v, %+v, %v", a.m.Status("r"), a.m.Status("q"), a.fault)
				}
			}
		})
	}
}

// TestARotationWhoseOutcomeIsOpen stands in the place of the record of the epoch, and comes late in
// a snapshot: the term continues by the new epoch.
func TestARotationWhoseOutcomeIsOpen(t *testing.T) {
	s := newLossy(t, WatchReset{Told: true})
	a, b := s.join("a", 3*time.Second, "r"), s.join("b", 0, "x")
	s.until("both lead", func() bool { return a.leads("r") && b.leads("x") })
	s.beat("a")
	a.away, a.watches = true, false
	a.step(Connection{})
	var rotation Write
	s.until("a rotates, and is not answered", func() bool {
		i := slices.IndexFunc(a.writes, func(w Write) bool { return w.Key == record.RoleKey("r") })
		if i >= 0 {
			rotation = a.writes[i]
		}
		return i >= 0
	})
	s.beat("b") // what stands before it, and after the former epoch
	stored := s.commit(rotation.Key, rotation.Value, rotation.Delete)
	a.step(Written{ID: rotation.ID, Outcome: record.Unknown})
	a.away, a.wants, a.writes = false, true, nil
	a.step(Connection{Up: true})
	for range 100 {
		if s.tick(); !a.leads("r") {
			t.Fatalf("it leads no more: %+v", a.m.Status("r"))
		}
	}
	if got := a.m.Status("r").Epoch; got != stored {
		t.Errorf("it leads by epoch %d, and the record stands at %d", got, stored)
	}
}

// TestALostRecordUnderARotation: the record of the epoch is lost before the rotation that is to
// follow it, and that is refused, or never answered.
func TestALostRecordUnderARotation(t *testing.T) {
	for name, reset := range replicas {
		for _, answered := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", the rotation is answered: ", answered), func(t *testing.T) {
				s := newLossy(t, reset)
				s.vacancy("r")
				a := s.join("a", 3*time.Second, "x")
				s.until("a leads x", func() bool { return a.leads("x") })
				s.beat("a")
				keys, last := s.copied()
				a.step(Join{RoleConfig{Name: "r"}})
				s.until("a leads r", func() bool { return a.leads("r") })
				epoch := a.m.Status("r").Epoch
				s.lags = true // no watch shows anything before it rotates
				s.back(keys, last)
				s.others(30)
				rotation := func(w Write) bool { return w.Key == record.RoleKey("r") }
				if !answered {
					a.loses = rotation
				}
				s.until("a rotates, or knows", func() bool {
					return a.fault != nil || len(a.lost) > 0 || slices.ContainsFunc(a.writes, rotation)
				})
				s.lags, a.wants = false, true
				went := s.pass(10*time.Minute, func() bool { return a.leads("r") && a.m.Status("r").Epoch == epoch })
				if others := a.m.cfg.TTL; went > others {
					t.Errorf("it leads for %v by a record that does not stand, and others wait for %v", went, others)
				}
			})
		}
	}
}

// TestAWatchThatIsLate, by more than a role is rotated in: a claim is acknowledged, and its
// rotation stored, before the watch has come to either. The watch then shows a record later than
// the claim, which is not there any more, and the term continues.
func TestAWatchThatIsLate(t *testing.T) {
	s := newLossy(t, WatchReset{Told: true})
	a, b := s.join("a", time.Second, "x"), s.join("b", 0, "y")
	s.until("both lead", func() bool { return a.leads("x") && b.leads("y") })
	s.beat("a")
	s.lags = true
	a.step(Join{RoleConfig{Name: "r"}})
	s.until("a leads r", func() bool { return a.leads("r") })
	s.beat("b")
	i := -1
	s.until("a rotates", func() bool {
		i = slices.IndexFunc(a.writes, func(w Write) bool { return w.Key == record.RoleKey("r") })
		return i >= 0
	})
	rotation := a.writes[i]
	stored := s.commit(rotation.Key, rotation.Value, rotation.Delete)
	a.deliver("c.lease.b")
	if !a.leads("r") {
		t.Error("the term has ended before the watch has shown the rotation")
	}
	a.deliver(record.RoleKey("r"))
	if got := a.m.Status("r"); !got.Leading || got.Epoch != stored {
		t.Errorf("%+v, and the record stands at %d", got, stored)
	}
}

// TestAVacancyThatIsKnown, by its acknowledgement, before the watch has come to it: that the watch
// passes the record before it takes nothing back.
func TestAVacancyThatIsKnown(t *testing.T) {
	s := newLossy(t, WatchReset{Told: true, Behind: true})
	a := s.join("a", 0, "x")
	s.until("a leads x", func() bool { return a.leads("x") })
	keys, _ := s.copied()
	a.step(Join{RoleConfig{Name: "r"}})
	s.until("a leads r", func() bool { return a.leads("r") })
	now := s.keys
	s.keys = keys
	a.watch() // over a replica that lags
	s.keys, a.watches = now, false
	between := s.someMember()
	a.step(StepDown{ID: 77, Role: "r"})
	s.until("it is vacant", func() bool { return a.m.view.Role("r").Role.Vacant })
	a.deliver(between)
	if r := a.m.view.Role("r"); !r.Role.Vacant || r.Revision != s.keys[record.RoleKey("r")].revision {
		t.Errorf("known of it now: %+v at %d", r.Role, r.Revision)
	}
}

// TestALostTermIsWaitedFor: a claim is lost, and the store has the vacancy before it. A process
// that has seen the claim waits for the leader of that claim, which is cut off, as for a record
// that has vanished. Then it claims the role.
func TestALostTermIsWaitedFor(t *testing.T) {
	for name, reset := range replicas {
		t.Run(name, func(t *testing.T) {
			s := newLossy(t, reset)
			b, c := s.join("b", 0, "r"), s.join("c", 0, "y")
			s.until("b leads", func() bool { return b.leads("r") })
			b.step(StepDown{ID: 7, Role: "r"})
			s.until("it is vacant", func() bool { return c.m.View().Role("r").Role.Vacant })
			keys, last := s.copied()
			a := s.join("a", 0, "r")
			s.until("a leads", func() bool { return a.leads("r") })
			s.until("c knows", func() bool { return c.m.View().Leader(c.m.View().Role("r")) == "a" })
			a.leave()
			s.back(keys, last)
			b.leave()
			c.step(Join{RoleConfig{Name: "r"}})
			c.wants = true
			s.others(30)
			s.someMember()
			s.pass(time.Second, nil)
			if r := c.m.View().Role("r"); c.fault == nil &&
				(!r.Role.Vacant || r.Revision != keys[record.RoleKey("r")].revision) {
				t.Errorf("c knows of %+v at %d, and there stands the vacancy at %d", r.Role, r.Revision,
					keys[record.RoleKey("r")].revision)
			}
			if both := s.pass(20*time.Second, func() bool { return a.leads("r") && c.leads("r") }); both > 0 {
				t.Errorf("both lead for %v", both)
			}
			if c.fault == nil && !c.leads("r") {
				t.Error("c does not lead 20 s later, though its lease time is 6 s")
			}
		})
	}
}

// TestALostClaimWhoseRevisionIsAnothers: the revision of a lost claim is given again, to another
// key. No two records have one: so the leader by the claim ends with that, and not only when its
// watch has come to a later one.
func TestALostClaimWhoseRevisionIsAnothers(t *testing.T) {
	for name, reset := range replicas {
		t.Run(name, func(t *testing.T) {
			s := newLossy(t, reset)
			a := s.join("a", 0, "x")
			s.until("a leads x", func() bool { return a.leads("x") })
			s.beat("a")
			s.vacancy("r")
			keys, _ := s.copied()
			s.lags = true
			a.step(Join{RoleConfig{Name: "r"}})
			s.until("a leads r", func() bool { return a.leads("r") })
			s.back(keys, a.m.Status("r").Epoch-1)
			s.lags = false
			s.someMember()
			if a.leads("r") && a.fault == nil {
				t.Errorf("it leads at epoch %d, though that is the revision of another record", a.m.Status("r").Epoch)
			}
		})
	}
}

// TestALostMemberRecord: our member record is acknowledged and lost, and the watch continues, of a
// replica that had not come to it. It is written again: without it nobody counts on us.
func TestALostMemberRecord(t *testing.T) {
	for name, reset := range replicas {
		t.Run(name, func(t *testing.T) {
			s := newLossy(t, reset)
			a := s.join("a", 0, "x")
			s.until("a leads x", func() bool { return a.leads("x") })
			s.beat("a")
			keys, last := s.copied()
			s.lags = true
			a.step(Describe{ID: 7, Meta: map[string]string{"n": "1"}})
			s.until("it is written", func() bool { return a.m.self.MemberRevision > last })
			s.back(keys, last)
			s.lags = false
			s.others(5)
			s.pass(3*time.Second, nil)
			e := record.Decode("c.member.a", s.keys["c.member.a"].value, 1, false, time.Minute)
			if a.fault == nil &&
				(e.Form != record.FormRecord || e.Member.Meta["n"] != "1" ||
					a.m.self.MemberRevision != s.keys["c.member.a"].revision) {
				t.Errorf("the record that stands is %+v at %d, and %d is known", e.Member, s.keys["c.member.a"].revision,
					a.m.self.MemberRevision)
			}
		})
	}
}

// TestALostClaimAcknowledgedLate: the watch has come to another record at the revision of a claim
// before its acknowledgement arrives. No term begins by it.
func TestALostClaimAcknowledgedLate(t *testing.T) {
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "x"}})
	g.run(3*time.Second, nil)
	g.begin("x")
	g.sees(record.RoleKey("r"), record.Role{V: record.Version, TTLms: 6000, Vacant: true, By: "b"})
	g.mute = true
	g.step(Join{RoleConfig{Name: "r"}})
	i := slices.IndexFunc(g.pend, func(w Write) bool { return w.Key == record.RoleKey("r") })
	if i < 0 {
		t.Fatalf("not claimed: %v", g.pend)
	}
	g.sees(record.MemberKey(record.Peer{Class: record.Candidate, Instance: "nobody"}),
		record.Member{V: record.Version, Session: 1})
	g.step(Written{ID: g.pend[i].ID, Outcome: record.Won, Revision: g.rev})
	if s := g.m.Status("r"); s.Leading {
		t.Errorf("it leads at epoch %d, the revision of another record", s.Epoch)
	}
}
