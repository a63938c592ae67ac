package view

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestEligible: whatever the records of some members and their leases say, in any order and through
// snapshots, the count of those that would lead a role is right, and each change of it was told.
func TestEligible(t *testing.T) {
	for seed := range int64(200) {
		random := rand.New(rand.NewSource(seed))
		w, rev, told := newWatcher(), uint64(100), map[string]int{}
		w.self = w.Own(record.Peer{Class: record.Candidate, Instance: "m0"})
		for step := range 200 {
			rev++
			p := record.Peer{Class: record.Candidate, Instance: fmt.Sprint("m", random.Intn(4))}
			if random.Intn(8) == 0 {
				p.Class = record.Worker
			}
			state := []record.LeaseState{record.Live, record.Live, record.Idle, record.Closed, record.Killed}[random.Intn(5)]
			session := uint64(random.Intn(3) + 5)
			switch random.Intn(8) {
			case 0:
				w.sees(record.LeaseKey(p), rev, nil)
			case 1, 2, 3:
				w.sees(record.LeaseKey(p), rev, leaseOf(session, fmt.Sprint(session), state))
			case 4:
				w.sees(record.MemberKey(p), rev, nil)
			case 5, 6:
				m := record.Member{V: 1, Session: session, Draining: random.Intn(5) == 0}
				said := map[string]record.Candidacy{}
				for r := range random.Intn(3) {
					said[fmt.Sprint("r", r)] = record.Candidacy{Eligible: random.Intn(4) > 0}
				}
				m.Roles = record.CandidaciesOf(said)
				w.sees(record.MemberKey(p), rev, m)
			default:
				w.BeginWatch(Watch{Wide: random.Intn(2) == 0, Told: true, Last: rev, Known: rev}, record.Peer{})
				w.EndSnapshot(w.now, nil, &w.news) // nothing is there any more, but for what a replica that lags lacks
			}
			for _, n := range w.news.Notices {
				if c, ok := n.(CandidatesChanged); ok {
					told[c.Role] = c.N
				}
			}
			w.news.Reset()
			for _, r := range w.Roles() {
				n := 0
				for _, q := range r.Candidates {
					if said, _ := q.Member.Candidacy(r.Name); q.offers(q.Member, q.Belongs(), &said) {
						n++
					}
				}
				if w.Eligible(r) != n || told[r.Name] != n {
					t.Fatalf("seed %d, step %d: %s has %d candidates, counted %d, told %d", seed, step, r.Name, n, w.Eligible(r),
						told[r.Name])
				}
			}
		}
	}
}
