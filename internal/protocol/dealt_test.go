package protocol

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/spread"
)

// TestDealtAgain: a role that was lost can be claimed, and a plan leaves it to b. Then b gets
// another role, so that this one is to be ours: that one falls vacant and is dealt to b before it;
// or b claims it although no plan knows who led it, or although it was lost later. We claim what is
// ours then, and do not wait until it is our turn behind all others.
func TestDealtAgain(t *testing.T) {
	const falls, unknown, lostToo = "falls vacant", "its leader was not known", "was lost too"
	for _, other := range []string{falls, unknown, lostToo} {
		t.Run(other, func(t *testing.T) {
			g := newRig(t, nil)
			b, c := candidate("b"), candidate("c")
			first, second, led := goesTo("b", 0), goesTo("b", 1), goesTo("b", 2)
			g.joins(b, 0, record.Candidacy{})
			takes := record.Candidacy{Eligible: true, Spread: true}
			prefers := takes
			prefers.Priority = 1
			session := g.m.view.Peer(b).Session()
			g.sees(record.MemberKey(b), record.Member{
				V: 1, Session: session,
				Roles: record.CandidaciesOf(map[string]record.Candidacy{first: takes, second: prefers, led: takes}),
			})
			leads := func(role string) {
				g.sees(record.RoleKey(role), record.Role{V: 1, ID: "b", Session: session, Token: role, TTLms: 100_000})
			}
			leads(led)
			g.step(Join{RoleConfig{Name: "ours"}})
			g.run(time.Second, nil)
			former := uint64(1)
			if other == falls {
				g.joins(c, 0, record.Candidacy{})
				former = g.m.view.Peer(c).Session()
			}
			if other != lostToo {
				g.sees(record.RoleKey(second), record.Role{V: 1, ID: "c", Session: former, Token: "t", TTLms: 100_000})
			}
			lost := record.Role{V: 1, Vacant: true, Forced: true, By: "c", TTLms: 6000}
			g.sees(record.RoleKey(first), lost)
			if other == lostToo {
				g.sees(record.RoleKey(second), lost)
			}
			g.effs = nil
			for _, role := range []string{first, second, led} {
				g.step(Join{RoleConfig{Name: role, Spread: true}})
			}
			g.run(5990*time.Millisecond, nil)
			g.sees(record.RoleKey("unwanted"), lost) // so that the next plan is made
			g.run(20*time.Millisecond, nil)
			if ours := g.claimed(); len(ours) > 0 {
				t.Fatalf("claims %v, want it left to b", ours)
			}
			if other == falls {
				g.sees(record.LeaseKey(c), record.Lease{V: 1, Session: former, State: record.Killed, By: "b"})
			} else {
				leads(second)
			}
			g.run(50*time.Millisecond, nil)
			if ours := g.claimed(); !slices.Equal(ours, []string{first}) {
				t.Errorf("claims %v, want %s", ours, first)
			}
		})
	}
}

// TestDealtAgainBesideOurOwnClaim: we have claimed a role that was lost, and a session ends that
// held two others. We count what we claim, and leave both to b; b does not know of it yet, and
// leaves one to us. So we deal out again what b does not take, be our claim open still when we hear
// of that end, or acknowledged though the watch comes to that end only later.
func TestDealtAgainBesideOurOwnClaim(t *testing.T) {
	for _, acknowledged := range []bool{false, true} {
		g := claimsBeside(t, acknowledged)
		b := g.m.view.Peer(candidate("b"))
		g.sees(record.RoleKey(toB), record.Role{V: 1, ID: "b", Session: b.Session(), Token: "b", TTLms: 100_000})
		if ours := g.claimed(); len(ours) > 0 {
			t.Fatalf("acknowledged %v: claims %v at once, want all left to b", acknowledged, ours)
		}
		g.run(50*time.Millisecond, nil)
		if ours := g.claimed(); !slices.Equal(ours, []string{toUs}) {
			t.Errorf("acknowledged %v: claims %v, want %s", acknowledged, ours, toUs)
		}
	}
}

// TestDealtAgainAFewTimes: b takes nothing of what we leave to it. Some more plans are made, and
// then none until it is our turn behind it.
func TestDealtAgainAFewTimes(t *testing.T) {
	for _, acknowledged := range []bool{false, true} {
		g := claimsBeside(t, acknowledged)
		plans, made := 0, record.Instant(0)
		g.run(500*time.Millisecond, func() {
			if group := g.m.spread.groups[0]; group.made != made {
				plans, made = plans+1, group.made
			}
		})
		if ours := g.claimed(); plans > 2+maxDoubts || len(ours) > 0 {
			t.Errorf("acknowledged %v: %d plans, want %d at most; claims %v", acknowledged, plans, 2+maxDoubts, ours)
		}
	}
}

// TestDealtAgainToOneThatTakesNone: b lives, and takes nothing of what is dealt to it. When it is
// our turn we claim all of that as fast as the store answers, whatever plans follow meanwhile.
func TestDealtAgainToOneThatTakesNone(t *testing.T) {
	const roles = 3 * firstWindow
	g := newRig(t, nil)
	g.joins(candidate("b"), roles, record.Candidacy{Eligible: true, Spread: true})
	g.step(Join{RoleConfig{Name: "x"}}) // so that its lease is live
	former := g.held(roles)
	g.mute = true
	g.sees(record.LeaseKey(candidate("p")), record.Lease{V: 1, Session: former, State: record.Killed, By: "b"})
	start := g.now.Observer
	for g.m.leading <= roles && g.now.Observer < start.Add(5*time.Second) {
		open := g.pend
		g.pend = nil
		for _, w := range open {
			g.win(w, true)
		}
		g.run(10*time.Millisecond, nil)
	}
	turn := g.m.cfg.Heartbeat + roles*time.Millisecond
	if took := g.now.Observer.Sub(start); took < g.m.cfg.Heartbeat || took > turn+100*time.Millisecond {
		t.Errorf("leads %d of %d roles and x after %v, want all soon after %v", g.m.leading, roles, took, turn)
	}
}

// TestDealtAgainForALeaseTime: b takes roles of p when nothing is vacant, so others do not share
// our plan. When the longest lease time is over that is nothing to roles that fall vacant.
func TestDealtAgainForALeaseTime(t *testing.T) {
	const roles = 8
	g := newRig(t, nil)
	b, p := candidate("b"), candidate("p")
	g.joins(b, roles, record.Candidacy{Eligible: true, Spread: true})
	g.step(Join{RoleConfig{Name: "x"}}) // so that its lease is live
	former := g.held(roles)
	session := g.m.view.Peer(b).Session()
	for i := range roles / 2 {
		g.sees(record.RoleKey(fmt.Sprintf("r%d", i)), record.Role{
			V: 1, ID: "b", Session: session, Token: "b", TTLms: 100_000,
		})
	}
	if g.m.spread.groups[0].doubts == 0 {
		t.Fatal("our plan moves all that b takes to b")
	}
	for range 3 {
		g.run(g.m.cfg.MaxTTL/2, nil)
		for peer, of := range map[record.Peer]uint64{b: session, p: former} {
			g.sees(record.LeaseKey(peer), record.Lease{
				V: 1, Session: of, Nonce: peer.Instance, TTLms: 120_000, State: record.Live,
			})
		}
	}
	g.mute = true
	g.sees(record.LeaseKey(p), record.Lease{V: 1, Session: former, State: record.Killed, By: "b"})
	plans, made := 0, record.Instant(0)
	g.run(500*time.Millisecond, func() {
		if group := g.m.spread.groups[0]; group.made != made {
			plans, made = plans+1, group.made
		}
	})
	if plans < 1 || plans > 2 {
		t.Errorf("%d plans, want two at most", plans)
	}
}

// TestEachUnforeseenClaimAddsAGathering: z falls vacant, a plan is made, and then the session of c
// ends, which held y. Our clock is slow. We deal y out one gathering after that plan, and leave it
// to b, which has fewer roles. Then b claims one role after the other that was lost, each just when
// we have planned, until y is to be ours. So it is dealt to us a gathering later for each of these.
func TestEachUnforeseenClaimAddsAGathering(t *testing.T) {
	const (
		slow = 0.03 // of our clock
		step = 100 * time.Microsecond
	)
	y, z := goesTo("b", 0), goesTo("b", 1)
	for unforeseen := range 1 + maxDoubts {
		g := newRig(t, nil)
		takes := record.Candidacy{Eligible: true, Spread: true, Group: "g"}
		roles := map[string]record.Candidacy{y: takes, z: takes}
		var lost []string
		for i := range unforeseen {
			ours := fmt.Sprintf("ours%d", i)
			lost = append(lost, fmt.Sprintf("lost%d", i))
			roles[ours], roles[lost[i]] = takes, takes
			g.step(Join{RoleConfig{Name: ours, Spread: true, Group: "g"}})
		}
		g.step(Join{RoleConfig{Name: "pinned"}})
		g.run(3*time.Second, nil)
		b, c := candidate("b"), candidate("c")
		g.joins(b, 0, record.Candidacy{})
		g.joins(c, 0, record.Candidacy{})
		session, former := g.m.view.Peer(b).Session(), g.m.view.Peer(c).Session()
		takenBy := func(role string, of uint64, by string) {
			g.sees(record.RoleKey(role), record.Role{V: 1, ID: by, Session: of, Token: role, TTLms: 100_000})
		}
		takenBy(y, former, "c")
		takenBy(z, former, "c")
		for _, role := range lost {
			g.sees(record.RoleKey(role), record.Role{V: 1, Vacant: true, Forced: true, By: "c", TTLms: 6000})
		}
		for _, role := range append([]string{y, z}, lost...) {
			g.step(Join{RoleConfig{Name: role, Spread: true, Group: "g"}})
		}
		g.sees(record.MemberKey(b), record.Member{V: 1, Session: session, Roles: record.CandidaciesOf(roles)})
		g.run(100*time.Millisecond, nil)
		g.mute, g.effs = true, nil
		g.sees(record.RoleKey(z), record.Role{V: 1, Vacant: true, By: "c", TTLms: 6000})
		group := g.m.spread.groups[0]
		if group.made != g.now.Observer {
			t.Fatal("no plan was made when z fell vacant")
		}
		takenBy(z, session, "b")
		g.sees(record.LeaseKey(c), record.Lease{V: 1, Session: former, State: record.Killed, By: "b"})
		took, made := time.Duration(0), group.made
		for ; took < 100*time.Millisecond && !slices.Contains(g.claimed(), y); took += step {
			if group.made != made && len(lost) > 0 {
				takenBy(lost[0], session, "b")
				lost = lost[1:]
			}
			made = group.made
			past := record.Instant(float64(step) * (1 - slow))
			g.now.Holder, g.now.Observer = g.now.Holder+past, g.now.Observer+past
			g.step(Tick{})
		}
		want := time.Duration(float64(unforeseen+1) * float64(10*time.Millisecond) / (1 - slow))
		if took < want-step || took > want+time.Duration(unforeseen+2)*step {
			t.Errorf("claims %v after %v and %d claims that no plan foresaw, want y after %v", g.claimed(), took, unforeseen,
				want)
		}
	}
}

// The roles of claimsBeside: one that was lost, and two that fall vacant.
var lostOne, toUs, toB = goesTo("a", 0), goesTo("a", 1), goesTo("b", 0)

// claimsBeside returns a rig that has claimed a role that was lost. The session of c, which held
// two other roles, has ended before that claim, and it hears of that after the claim was sent, or
// acknowledged.
func claimsBeside(t *testing.T, acknowledged bool) *rig {
	g := newRig(t, nil)
	b, c := candidate("b"), candidate("c")
	g.joins(b, 0, record.Candidacy{})
	g.joins(c, 0, record.Candidacy{})
	session, former := g.m.view.Peer(b).Session(), g.m.view.Peer(c).Session()
	takes := record.Candidacy{Eligible: true, Spread: true, Group: "g"}
	roles := record.CandidaciesOf(map[string]record.Candidacy{lostOne: takes, toUs: takes, toB: takes})
	g.sees(record.MemberKey(b), record.Member{V: 1, Session: session, Roles: roles})
	for _, role := range []string{toUs, toB} {
		g.sees(record.RoleKey(role), record.Role{V: 1, ID: "c", Session: former, Token: role, TTLms: 100_000})
	}
	g.sees(record.RoleKey(lostOne), record.Role{V: 1, Vacant: true, Forced: true, By: "c", TTLms: 6000})
	g.step(Join{RoleConfig{Name: "ours"}})
	for _, role := range []string{lostOne, toUs, toB} {
		g.step(Join{RoleConfig{Name: role, Spread: true, Group: "g"}})
	}
	g.rev++
	g.step(Delivered{&record.Entry{Kind: record.KindLease, Peer: c, Revision: g.rev, Form: record.FormMarker}})
	g.mute = true
	claim := g.next(record.RoleKey(lostOne))
	g.run(50*time.Millisecond, nil)
	g.effs = nil
	end := record.Lease{V: 1, Session: former, State: record.Killed, By: "b"}
	if !acknowledged {
		g.sees(record.LeaseKey(c), end)
		g.win(claim, true)
		return g
	}
	g.rev++
	ended := record.Decode(record.LeaseKey(c), record.Encode(end), g.rev, false, g.m.cfg.MaxTTL)
	g.win(claim, false)
	g.run(20*time.Millisecond, nil)
	g.step(Delivered{&ended})
	won := g.keys[claim.Key]
	g.step(Delivered{&won})
	return g
}

// goesTo is the n-th role that one of a and b comes first for.
func goesTo(instance string, n int) string {
	for i := 0; ; i++ {
		role := fmt.Sprintf("r%d", i)
		if spread.Rank(role, "b") < spread.Rank(role, "a") != (instance == "b") {
			continue
		}
		if n--; n < 0 {
			return role
		}
	}
}
