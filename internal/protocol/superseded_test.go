package protocol

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestSupersededMemberRecord: the watch need not show a member record of ours that a later one has
// replaced in the store, though the acknowledgement of that one is on its way. When the later one
// was never stored, the loss is noticed in the end.
func TestSupersededMemberRecord(t *testing.T) {
	for name, stored := range map[string]bool{"replaced": true, "lost": false} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, nil)
			g.step(Join{RoleConfig{Name: "r"}})
			g.run(3*time.Second, nil)
			g.mute, g.pend, g.effs = true, nil, nil // the test answers
			g.step(Describe{Meta: map[string]string{"v": "1"}})
			first := g.pendingAt("c.member.a")
			g.rev++
			g.step(Written{ID: first.ID, Outcome: record.Won, Revision: g.rev})
			g.step(Describe{Meta: map[string]string{"v": "2"}})
			second := g.pendingAt("c.member.a")

			beat := func(n uint64) { // of another member: what the watch shows
				g.rev++
				lease := record.Lease{V: 1, Session: 1, Nonce: "x", TTLms: 6000, Beat: n, State: record.Live}
				e := record.Decode("c.lease.b", record.Encode(lease), g.rev, false, g.m.cfg.MaxTTL)
				g.step(Delivered{&e})
			}
			beat(1)
			if g.rebuilds() != 0 || g.m.self.Member == nil {
				t.Fatalf("while the second write is open: %d new watches, our record is %v", g.rebuilds(), g.m.self.Member)
			}
			if stored {
				g.mute = false
				g.win(second, true)
				beat(2)
				if g.rebuilds() != 0 || g.m.self.Member.Meta["v"] != "2" {
					t.Errorf("%d new watches, our record is %v", g.rebuilds(), g.m.self.Member)
				}
				return
			}
			g.step(Written{ID: second.ID, Outcome: record.Unknown})
			for n := uint64(2); n < 12; n++ {
				g.now.Holder, g.now.Observer = g.now.Holder.Add(time.Second/2), g.now.Observer.Add(time.Second/2)
				beat(n)
			}
			if g.rebuilds() == 0 {
				t.Error("the loss is not noticed")
			}
		})
	}
}

// pendingAt takes the open write at a key.
func (g *rig) pendingAt(key string) (found Write) {
	for _, w := range g.pend {
		if w.Key == key {
			found = w
		}
	}
	g.pend = nil
	return found
}

func (g *rig) rebuilds() (n int) {
	for _, e := range g.effs {
		if _, is := e.(RebuildWatch); is {
			n++
		}
	}
	return n
}

// TestRefusalUnderALateWatch: a claim is refused because somebody else has the role, and the watch
// will show that after everything that was written before. It is waited for. A watch that has shown
// what is later, and not the reason, is replaced.
func TestRefusalUnderALateWatch(t *testing.T) {
	for name, shown := range map[string]bool{"late": true, "lost": false} {
		t.Run(name, func(t *testing.T) {
			b := newBusy(20*time.Microsecond, time.Millisecond)
			b.join(1)
			for until := b.now.Add(2 * b.m.cfg.Heartbeat); b.now < until; {
				b.next()
			}
			write := func(role string, r record.Role) {
				r.V, r.TTLms = record.Version, 2000
				b.commit(sending{writes: []Write{{Key: record.RoleKey(role), Value: record.Encode(r)}}})
			}
			for i := range 1150 { // more than explainTime of the watch, and less than ends a term
				write(fmt.Sprint("other-", i), record.Role{Vacant: true})
			}
			if shown {
				write("mine", record.Role{ID: "z", Session: 999, Token: "t"})
			} else {
				b.last++
				b.keys[record.RoleKey("mine")] = b.last
			}
			b.step(Join{RoleConfig{Name: "mine"}})
			for until := b.now.Add(6 * time.Second); b.now < until && b.harm == ""; {
				b.next()
			}
			want := map[bool]string{false: "the watch is recreated: a refusal that the watch does not explain"}[shown]
			if b.harm != want {
				t.Errorf("harm: %q, want %q", b.harm, want)
			}
		})
	}
}

// TestRefusalUnderADeadWatch: a watch that is behind and shows nothing more is replaced. Otherwise
// a session whose opening was refused would never open.
func TestRefusalUnderADeadWatch(t *testing.T) {
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "r"}})
	g.run(3*time.Second, nil)
	g.mute, g.pend, g.effs = true, nil, nil
	r := &retry{}
	g.m.unexplained(r)
	g.m.view.Merge(g.now.Observer, &record.Entry{
		Kind: record.KindMember, Peer: g.m.self.Peer, Form: record.FormRecord, Revision: g.rev + 10,
	}, &g.m.news) // an answer tells of a revision that the watch never shows
	for range 3 {
		g.now.Holder, g.now.Observer = g.now.Holder.Add(explainTime), g.now.Observer.Add(explainTime)
		g.m.now = g.now
		g.m.due(r)
	}
	if !g.m.rebuilding {
		t.Error("no new watch was asked for")
	}
}
