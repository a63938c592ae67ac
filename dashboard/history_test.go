package dashboard

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/seconds"
)

// TestEndsOfTerms: a term that was given away ends when it was, for the reason that is told. One
// whose leader has died ends with its last sign, and nobody is known to have led since.
func TestEndsOfTerms(t *testing.T) {
	h, now := newHistory(), time.Unix(1e9, 0)
	leads := func(leader string, epoch uint64) {
		h.note(event.LeaderChanged{Meta: event.Meta{Time: now}, Role: "billing", Leader: leader, Epoch: epoch})
	}
	leads("a", 1)
	now = now.Add(time.Minute)
	leads("", 0) // an observer tells so first
	h.note(event.RoleVacant{Meta: event.Meta{Time: now}, Role: "billing", By: "a", Reason: "stepped down", Epoch: 1})
	now = now.Add(time.Second)
	leads("b", 2)
	now = now.Add(time.Minute)
	h.see(now, &findings.RoleFacts{Info: election.RoleInfo{
		Role: "billing", State: election.RoleLeading, Leader: "b", Epoch: 2, LastSeen: 4 * time.Second,
	}})
	now = now.Add(6 * time.Second)
	leads("", 0)
	leads("c", 3)
	terms := h.of("billing")
	if len(terms) != 3 {
		t.Fatalf("%+v", terms)
	}
	if terms[0].Reason != "stepped down" || terms[1].Gap != seconds.Duration(time.Second) {
		t.Errorf("given away: %+v, then %+v", terms[0], terms[1])
	}
	if terms[1].Reason != ofDeath || terms[2].Gap != seconds.Duration(10*time.Second) {
		t.Errorf("died: %+v, then %+v", terms[1], terms[2])
	}
	var changes []string
	for _, e := range h.recent() {
		changes = append(changes, e.Change+" "+e.Member)
	}
	if len(changes) != 5 || changes[0] != "leader c" || changes[1] != "vacant b" {
		t.Errorf("%q", changes)
	}
}
