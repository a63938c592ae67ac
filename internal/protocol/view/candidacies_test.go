package view

import (
	"fmt"
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestAlikeMembersShareTheirLists: members that say the same of many roles do it by one list. A
// record that says nothing else about roles has none of them looked at again, and one that does has
// those alone.
func TestAlikeMembersShareTheirLists(t *testing.T) {
	w := newWatcher()
	says := func(id string, rev uint64, except int) {
		m := record.Member{V: 1, Session: 1, Meta: map[string]string{"at": fmt.Sprint(rev)}}
		for i := range 100 {
			said := record.Candidacy{Eligible: i != except, Group: "g"}
			m.Roles = append(m.Roles, record.RoleCandidacy{Role: fmt.Sprintf("r%02d", i), Candidacy: said})
		}
		w.sees("c.member."+id, rev, m)
	}
	list := func(id string) record.Candidacies {
		return w.Peer(record.Peer{Class: record.Candidate, Instance: id}).Member.Roles
	}
	for i, id := range []string{"a", "b", "c"} {
		w.sees("c.lease."+id, uint64(i+1), leaseOf(1, id, record.Live))
		says(id, uint64(i+10), -1)
	}
	if !list("a").Same(list("b")) || !list("b").Same(list("c")) {
		t.Error("lists that say the same are not shared")
	}
	w.news.Reset()
	says("a", 20, -1)
	if len(w.news.Roles) > 0 || !list("a").Same(list("b")) {
		t.Errorf("%d roles are looked at again after a record that says the same", len(w.news.Roles))
	}
	w.news.Reset()
	says("a", 21, 7)
	other, same := w.Eligible(w.Role("r07")), w.Eligible(w.Role("r08"))
	if len(w.news.Roles) != 1 || other != 2 || same != 3 || list("a").Same(list("b")) {
		t.Errorf("%d roles are looked at again after a record that says one thing else", len(w.news.Roles))
	}
}
