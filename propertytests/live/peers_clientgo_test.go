package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// client-go's leaderelection gets these wrong; each is shown to hold here.

// Its validation lets the old leader stop after the takeover (lease 15 s, deadline 14 s, retry 11
// s). Here no configuration that does is accepted, and with the thinnest that is, the old leader
// has stopped at whatever moment it crashes.
func TestPeerClientGoStopsBeforeTakeover(t *testing.T) {
	for _, bad := range []election.SessionConfig{
		{Bucket: "b", TTL: 15 * time.Second, HeartbeatInterval: 11 * time.Second},
		{Bucket: "b", TTL: 15 * time.Second, SafetyMargin: -time.Second},
		{Bucket: "b", TTL: 15 * time.Second, SafetyMargin: 14 * time.Second},
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), "use ") {
			t.Errorf("%+v is accepted, or no remedy is named: %v", bad, err)
		}
	}
	inArena(t, func(t *testing.T, a *elections.Arena) {
		thin := func(p *elections.Plan) {
			p.Session.SafetyMargin, p.Session.DisconnectGracePeriod = 100*time.Millisecond, time.Minute
		}
		crowd(a, 2, thin)
		for i := range 20 {
			leader := a.AwaitLeader(role, 3*ttl)
			time.Sleep(ttl + time.Duration(i)*heartbeat/20)
			leader.Crash()
			fresh := a.Join(plan("fresh-"+number(uint64(i)), thin))
			a.Await("another leads", role, 3*ttl, func() bool { l := a.Leader(role); return l != nil && l != leader })
			if err := fresh.Opened(); err != nil {
				t.Fatal(err)
			}
		}
		all := holds(a, 21)
		for i, h := range all[1:] {
			if gap := h.From.Sub(all[i].Until); gap <= 0 {
				t.Errorf("stopped %v after the takeover: %v", -gap, all[i])
			}
		}
	})
}

// Its IsLeader has no time check: it is true until a goroutine has noticed.
func TestPeerClientGoIsLeaderChecksTime(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		c := &leaping{Clock: clock.System()}
		p := a.Join(plan("a", func(p *elections.Plan) { p.Clock = c }))
		a.AwaitLead(p, role, soon)
		time.Sleep(heartbeat / 2)
		c.leap(bridge.TrustedFor(p.Session) - 1)
		if !p.Leads(role) {
			t.Error("the belief ended a nanosecond early")
		}
		c.leap(ttl) // and no goroutine has run since
		if p.Leads(role) {
			t.Error("still leads after its deadline")
		}
	})
}

// It releases before OnStoppedLeading.
func TestPeerClientGoReleasesAfterStop(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		all := crowd(a, 2, func(p *elections.Plan) {
			p.OnDemote = func() { time.Sleep(2 * time.Second) }
			p.Work.Drain = 4 * time.Second
		})
		if err := all[0].Elections[role].Stop(); err != nil {
			t.Error(err)
		}
		a.AwaitLead(all[1], role, soon)
		if h := holds(a, 2); h[1].From.Before(h[0].Drained) || h[1].From.Sub(h[0].Until) < 2*time.Second {
			t.Errorf("the successor began before the drain: %v", h)
		}
	})
}

// Its Run is over with the first loss.
func TestPeerClientGoRunIsNotOneShot(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		p := crowd(a, 1)[0]
		for range 10 {
			p.Link.Cut()
			a.Await("the term ends", role, ttl, func() bool { return !p.Leads(role) })
			time.Sleep(ttl)
			p.Link.Heal()
			a.AwaitLead(p, role, 3*ttl)
		}
		if n := len(holds(a, 11)); n != 11 {
			t.Errorf("%d terms, want 11", n)
		}
	})
}

// It has no fencing, by its own words. Here the server refuses what a deposed leader writes under
// its token.
func TestPeerClientGoFencedWritesOfTheDeposedAreRefused(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		all := crowd(a, 2)
		old := all[0].Elections[role].Token()
		write := func(token fencing.Token) string {
			m := nats.NewMsg("$KV." + elections.Bucket + ".probe.writer")
			fencing.Condition(m, elections.Bucket, token)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			answer, err := a.Operator().RequestMsgWithContext(ctx, m)
			if err != nil {
				t.Fatal(err)
			}
			return string(answer.Data)
		}
		if said := write(old); strings.Contains(said, "error") {
			t.Errorf("the leader's write was refused: %s", said)
		}
		all[0].Crash()
		a.AwaitLead(all[1], role, 3*ttl)
		if said := write(old); !strings.Contains(said, "10071") {
			t.Errorf("the deposed leader's write was stored: %s", said)
		}
		fresh := all[1].Elections[role].Token()
		if said := write(fresh); strings.Contains(said, "error") {
			t.Errorf("the new leader's write was refused: %s", said)
		}
		var guard fencing.Guard
		if err := errors.Join(guard.Admit(old), guard.Admit(fresh)); err != nil {
			t.Error(err)
		}
		if err := guard.Admit(old); !errors.Is(err, fencing.ErrStale) {
			t.Errorf("a resource that has seen the new token admits the old one: %v", err)
		}
	})
}

// It makes one write for each role every two seconds; here followers and leaders of any number of
// roles share one.
func TestPeerClientGoWritesDoNotGrowWithRoles(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		const roles = 200
		p := a.Join(manyRoles("a", roles))
		a.Await("all roles are led", "role-0000", ttl, func() bool { return leads(p) == roles })
		a.Join(manyRoles("b", roles))
		time.Sleep(2 * ttl)
		stored := func() (n int) {
			for _, w := range a.RecordLog.Writes() {
				n += w
			}
			return n
		}
		before := stored()
		time.Sleep(100 * time.Second)
		if n := stored() - before; n > 50+10+5 { // a leader's heartbeats, and those of one that has nothing to do
			t.Errorf("%d records in 100 s with %d roles in 2 processes", n, roles)
		}
	})
}
