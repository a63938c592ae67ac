package protocol

import (
	"testing"
	"time"
)

// TestStepDownNamesWhoLeadsNow: the watch shows the vacancy and the successor's claim before our own write is acknowledged.
// The answer names the successor all the same, and not who comes after it.
func TestStepDownNamesWhoLeadsNow(t *testing.T) {
	for _, members := range [][]string{{"b"}, {"b", "c"}} {
		g := newRig(t, nil)
		g.step(Join{RoleConfig{Name: "r"}})
		g.run(3*time.Second, nil)
		term := g.begin("r")
		sessions := map[string]uint64{}
		for _, id := range members {
			p := Peer{Class: Candidate, Instance: id}
			g.rev++
			sessions[id] = g.rev
			g.step(Delivered{&Entry{Kind: KindLease, Peer: p, Revision: g.rev, Form: FormRecord, Lease: Lease{V: 1, Nonce: id, TTLms: 6000, State: Live}}})
			g.rev++
			g.step(Delivered{&Entry{Kind: KindMember, Peer: p, Revision: g.rev, Form: FormRecord, Member: &Member{
				V: 1, Session: sessions[id], Roles: map[string]Candidacy{"r": {Eligible: true}},
			}}})
		}
		g.step(StepDown{ID: 7, Role: "r"})
		g.mute = true
		g.step(Drained{"r", term.Epoch})
		var vacancy *Write
		for i := range g.pend {
			if g.pend[i].Key == RoleKey("r") {
				vacancy = &g.pend[i]
			}
		}
		if vacancy == nil {
			t.Fatalf("nothing was given away: %v", g.pend)
		}
		g.rev++
		seen := Decode(vacancy.Key, vacancy.Value, g.rev, false, g.m.cfg.MaxTTL)
		stored := g.rev
		g.rev++
		claimed := Entry{Kind: KindRole, Name: "r", Revision: g.rev, Form: FormRecord, Role: Role{
			V: 1, ID: "b", Session: sessions["b"], Token: "t", TTLms: 6000,
		}}
		g.step(Delivered{&claimed}) // the vacancy was superseded before the watch could show it
		g.step(Delivered{&seen})    // late, from a new watch: it changes nothing
		g.step(Written{ID: vacancy.ID, Outcome: Won, Revision: stored})
		if d, ok := g.done(7); !ok || d.Err != nil || d.Successor != "b" {
			t.Errorf("with members %v: answered %v with %+v, want successor b", members, ok, d)
		}
	}
}
