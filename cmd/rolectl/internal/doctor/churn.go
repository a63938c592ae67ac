package doctor

import (
	"maps"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/wording"
)

const (
	// manyKilled is the number of killed sessions that is more than one crashed machine.
	manyKilled = 3
	// manyWrites is the number of writes to a role that is more than one hand-over, which takes
	// two.
	manyWrites = 3
)

// churn looks for roles and sessions that keep changing. A killed session counts for as long as its
// record stays in the bucket: twice the longest TTL of a session.
func (x *examination) churn(watchFor time.Duration) {
	recently := 2 * x.s.MaxTTL()
	var killed []string
	for _, r := range x.s.All() {
		if r.Kind == record.KindLease && r.Form == record.FormRecord && r.Lease.State == record.Killed &&
			x.s.Age(r) < recently {
			killed = append(killed, r.Peer.Instance)
		}
	}
	slices.Sort(killed)
	writes := x.seen.writes()
	calm := true
	if len(killed) >= manyKilled {
		calm = false
		x.Add(findings.Warning, "churn",
			"check whether these processes crash, pause or lose their connection; if they are alive, raise their TTL",
			"others have ended %s within the last %s: %s", wording.Count(len(killed), "session"), wording.Age(recently),
			wording.FirstFew(killed))
	}
	for _, role := range slices.Sorted(maps.Keys(writes)) {
		if writes[role] >= manyWrites {
			calm = false
			x.Add(findings.Warning, "churn", "find out why its work returns or fails: rolectl inspect "+role+" --for 30s",
				"%s keeps changing its leader: %s within %s", role, wording.Count(writes[role], "write"), watchFor)
		}
	}
	if calm {
		x.OK("churn", "others have ended %s within the last %s; no role keeps changing its leader",
			wording.Count(len(killed), "session"), wording.Age(recently))
	}
}
