package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestStepDownNamesWhoLeadsNow: the watch shows the vacancy and the successor's claim before our
// own write is acknowledged. The answer names the successor all the same, and not who comes after
// it.
func TestStepDownNamesWhoLeadsNow(t *testing.T) {
	for _, members := range [][]string{{"b"}, {"b", "c"}} {
		g := newRig(t, nil)
		g.step(Join{RoleConfig{Name: "r"}})
		g.run(3*time.Second, nil)
		term := g.begin("r")
		sessions := map[string]uint64{}
		for _, id := range members {
			p := record.Peer{Class: record.Candidate, Instance: id}
			g.rev++
			sessions[id] = g.rev
			g.step(Delivered{&record.Entry{
				Kind: record.KindLease, Peer: p, Revision: g.rev, Form: record.FormRecord,
				Lease: record.Lease{V: 1, Nonce: id, TTLms: 6000, State: record.Live},
			}})
			g.rev++
			g.step(Delivered{&record.Entry{
				Kind: record.KindMember, Peer: p, Revision: g.rev, Form: record.FormRecord,
				Member: &record.Member{
					V: 1, Session: sessions[id], Roles: record.CandidaciesOf(map[string]record.Candidacy{
						"r": {Eligible: true},
					}),
				},
			}})
		}
		g.step(StepDown{ID: 7, Role: "r"})
		g.mute = true
		g.step(Drained{"r", term.Epoch})
		var vacancy *Write
		for i := range g.pend {
			if g.pend[i].Key == record.RoleKey("r") {
				vacancy = &g.pend[i]
			}
		}
		if vacancy == nil {
			t.Fatalf("nothing was given away: %v", g.pend)
		}
		g.rev++
		seen := record.Decode(vacancy.Key, vacancy.Value, g.rev, false, g.m.cfg.MaxTTL)
		stored := g.rev
		g.rev++
		claimed := record.Entry{Kind: record.KindRole, Name: "r", Revision: g.rev, Form: record.FormRecord, Role: record.Role{
			V: 1, ID: "b", Session: sessions["b"], Token: "t", TTLms: 6000,
		}}
		g.step(Delivered{&claimed}) // the vacancy was superseded before the watch could show it
		g.step(Delivered{&seen})    // late, from a new watch: it changes nothing
		g.step(Written{ID: vacancy.ID, Outcome: record.Won, Revision: stored})
		if d, ok := g.done(7); !ok || d.Err != nil || d.Successor != "b" {
			t.Errorf("with members %v: answered %v with %+v, want successor b", members, ok, d)
		}
	}
}
