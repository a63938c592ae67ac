package doctor

import (
	"maps"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// recently is how far back killed sessions count; their records stay for a day.
const recently = time.Hour

// manyKilled is from how many on they are more than a machine that went down.
const manyKilled = 3

// manyWrites to one role while the doctor watches: one hand-over takes two.
const manyWrites = 3

// churn looks for roles and sessions that come and go.
func (x *examination) churn(watchFor time.Duration) {
	var killed []string
	for _, r := range x.s.All() {
		if r.Kind == protocol.KindLease && r.Form == protocol.FormRecord && r.Lease.State == protocol.Killed && x.s.Age(r) < recently {
			killed = append(killed, r.Peer.Instance)
		}
	}
	slices.Sort(killed)
	writes := x.seen.writes()
	calm := true
	if len(killed) >= manyKilled {
		calm = false
		x.add(warning, "churn", "see whether these processes crash, pause or lose their connection; if they live, raise their TTL",
			"%d sessions were ended by others within the last hour: %s", len(killed), show.FirstFew(killed))
	}
	for _, role := range slices.Sorted(maps.Keys(writes)) {
		if writes[role] >= manyWrites {
			calm = false
			x.add(warning, "churn", "see why its work returns or fails: rolectl inspect "+role+" --for 30s", "%s has changed hands again and again: %d writes within %s", role, writes[role], watchFor)
		}
	}
	if calm {
		x.ok("churn", "%d sessions were ended by others within the last hour; no role changed hands again and again", len(killed))
	}
}
