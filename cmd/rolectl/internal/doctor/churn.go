package doctor

import (
	"fmt"
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
// record stays in the bucket: twice the longest TTL of a session. One that begins again under its
// id overwrites that record, so it counts only if the doctor has watched it.
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
	again := x.seen.restarts()
	if len(killed)+len(again) >= manyKilled {
		calm = false
		text := fmt.Sprintf("others have ended %s within the last %s", wording.Count(len(killed), "session"),
			wording.Age(recently))
		if len(killed) > 0 {
			text += ": " + wording.FirstFew(killed)
		}
		if len(again) > 0 {
			text += fmt.Sprintf("; within %s these began again, and had not closed their sessions: %s", watchFor,
				wording.FirstFew(again))
		}
		x.Add(findings.Warning, "churn",
			"check whether these processes crash, pause or lose their connection; if they are alive, raise their TTL",
			"%s", text)
	}
	for _, role := range slices.Sorted(maps.Keys(writes)) {
		if writes[role] >= manyWrites {
			calm = false
			x.Add(findings.Warning, "churn", "find out why its work returns or fails: rolectl inspect "+role+" --for 30s",
				"%s keeps changing its leader: %s within %s", role, wording.Count(writes[role], "write"), watchFor)
		}
	}
	if calm {
		x.OK("churn", "others have ended %s within the last %s, those not counted that began again under their ids; "+
			"no role keeps changing its leader", wording.Count(len(killed), "session"), wording.Age(recently))
	}
}
