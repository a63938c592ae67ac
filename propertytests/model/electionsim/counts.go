package electionsim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Counts is what happened in one schedule, or in many: a run that elected nobody proves nothing.
type Counts struct {
	Schedules, Steps                            int
	Sessions, SessionsLost, Closed, Duplicates  int
	Regressed                                   int // sessions ended by a bucket that had lost what was seen
	Terms, QuietTerms, Claims, UnknownClaims    int // QuietTerms: since everything has converged
	Vacates, Sweeps, Rotations, Returned, Stuck int
	Kills, Evictions, MarkersOverLive, Wiped    int
	IdleBeats, IdleKills, Widened, Expired      int // IdleKills: of idle sessions; Expired: by the server
	Orphans, MutedIdle, Unseen, Workloads       int
	Blamed, AtRest                              int // idle sessions said not to answer; sessions ended as ones at rest
	Lost, LostAcks, Late, UnknownBeats          int
	Again, Outdated                             int // answers that came twice; after another write of that key was sent
	Recreated, Gone, MadeAgain                  int // buckets; sessions ended by it
	Elsewhere, Refused                          int // connections to another bucket; sessions ended by it
	WonElsewhere                                int // writes that it took
	LateRefused, LateWon                        int // writes that were sent before it and landed after it
	Apart                                       int // terms of two buckets at once
	// times that the bucket lost writes; those; terms whose record that was; beside another one
	Losses, LostWrites, LostTerms, LostApart int
	Mistaken                                 int // records overwritten that were taken for lost ones
	// adoptions that have ended; leases that were revoked; purges, and those that came late; terms
	// that were believed in through a purge
	Adopted, Revoked, Purges, LatePurges, LedThroughPurge int
	Restored, LedThroughLoss                              int // buckets; terms that were believed in when they got lost
	// roles that were removed; claims of those; removals that came too late; vacancies written
	// again
	Removed, Reclaimed, KeptRoles, KeptVacancies int
	Unwanted, Abandoned, RemovedHeld             int // RemovedHeld: by a session that had ended
	Ended                                        int // sessions ended by guards
	// sessions ended by a missing permission; their leases closed; left since work still ran
	Denied, Wills, WillsKept    int
	GuardAdmitted, GuardRefused int // writes to guarded resources
	GuardDeposed, GuardOutlived int // refused after those of a later term, and of a later bucket
	GuardAfterLoss              int // refused, where the record of either term was lost
	// writes of claims together; those claims; such writes refused, unknown, won without an answer
	Together, TogetherClaims, TogetherRefused, TogetherUnknown, TogetherUnheard int
	// sent by a process that had ceased to lead; forged; resources recreated from their floor
	GuardUnaware, GuardForged, GuardRemade         int
	Watches, Rebuilds, Lagging, Skipped, Validated int
	LeadersCrashed, WithRecords                    int // in the quiet; records lost with them
	// schedules with such crashes; roles led again; left alone, since nobody follows
	CrashedIn, LedInTime, Irreplaceable int
	DealtAgain                          int // of these, roles that were led only after a second plan
	Woken                               int // told that they follow in a role
	// roles given away for the sake of balance, and how many that had to be; roles told of as
	// unplaced
	Moves, LeastMoves, Unplaced int
	FailBacks, FlappedBack      int // to better zones; those that did not last
	Steered                     int // zones drained and roles paused
	Forgotten                   int // markers that left at once, since the server's clock stepped
	Drifting                    int // schedules in which two clocks drift apart by 15 % or more
	Seconds                     int // of virtual time
	Faults, Causes              map[string]int
}

func newCounts() Counts { return Counts{Faults: map[string]int{}, Causes: map[string]int{}} }

// Add adds up.
func (c *Counts) Add(d Counts) {
	if c.Faults == nil {
		*c = newCounts()
	}
	for _, f := range []struct {
		to   *int
		from int
	}{
		{&c.Schedules, 1},
		{&c.Steps, d.Steps},
		{&c.Seconds, d.Seconds},
		{&c.Sessions, d.Sessions},
		{&c.SessionsLost, d.SessionsLost},
		{&c.Closed, d.Closed},
		{&c.Duplicates, d.Duplicates},
		{&c.Regressed, d.Regressed},
		{&c.Terms, d.Terms},
		{&c.QuietTerms, d.QuietTerms},
		{&c.Claims, d.Claims},
		{&c.UnknownClaims, d.UnknownClaims},
		{&c.Vacates, d.Vacates},
		{&c.Sweeps, d.Sweeps},
		{&c.Rotations, d.Rotations},
		{&c.Returned, d.Returned},
		{&c.Stuck, d.Stuck},
		{&c.Kills, d.Kills},
		{&c.IdleBeats, d.IdleBeats},
		{&c.IdleKills, d.IdleKills},
		{&c.Widened, d.Widened},
		{&c.Expired, d.Expired},
		{&c.Evictions, d.Evictions},
		{&c.MarkersOverLive, d.MarkersOverLive},
		{&c.Wiped, d.Wiped},
		{&c.Orphans, d.Orphans},
		{&c.MutedIdle, d.MutedIdle},
		{&c.Unseen, d.Unseen},
		{&c.Workloads, d.Workloads},
		{&c.Blamed, d.Blamed},
		{&c.AtRest, d.AtRest},
		{&c.Lost, d.Lost},
		{&c.LostAcks, d.LostAcks},
		{&c.Late, d.Late},
		{&c.UnknownBeats, d.UnknownBeats},
		{&c.Again, d.Again},
		{&c.Outdated, d.Outdated},
		{&c.Recreated, d.Recreated},
		{&c.Gone, d.Gone},
		{&c.MadeAgain, d.MadeAgain},
		{&c.Elsewhere, d.Elsewhere},
		{&c.Refused, d.Refused},
		{&c.WonElsewhere, d.WonElsewhere},
		{&c.LateRefused, d.LateRefused},
		{&c.LateWon, d.LateWon},
		{&c.Apart, d.Apart},
		{&c.Losses, d.Losses},
		{&c.LostWrites, d.LostWrites},
		{&c.LostTerms, d.LostTerms},
		{&c.LostApart, d.LostApart},
		{&c.Mistaken, d.Mistaken},
		{&c.Adopted, d.Adopted},
		{&c.Revoked, d.Revoked},
		{&c.Purges, d.Purges},
		{&c.LatePurges, d.LatePurges},
		{&c.LedThroughPurge, d.LedThroughPurge},
		{&c.Restored, d.Restored},
		{&c.LedThroughLoss, d.LedThroughLoss},
		{&c.Removed, d.Removed},
		{&c.Reclaimed, d.Reclaimed},
		{&c.KeptRoles, d.KeptRoles},
		{&c.KeptVacancies, d.KeptVacancies},
		{&c.Unwanted, d.Unwanted},
		{&c.RemovedHeld, d.RemovedHeld},
		{&c.Abandoned, d.Abandoned},
		{&c.Ended, d.Ended},
		{&c.Denied, d.Denied},
		{&c.Wills, d.Wills},
		{&c.WillsKept, d.WillsKept},
		{&c.GuardAdmitted, d.GuardAdmitted},
		{&c.GuardRefused, d.GuardRefused},
		{&c.GuardDeposed, d.GuardDeposed},
		{&c.GuardOutlived, d.GuardOutlived},
		{&c.GuardAfterLoss, d.GuardAfterLoss},
		{&c.GuardUnaware, d.GuardUnaware},
		{&c.GuardForged, d.GuardForged},
		{&c.GuardRemade, d.GuardRemade},
		{&c.Watches, d.Watches},
		{&c.Rebuilds, d.Rebuilds},
		{&c.Lagging, d.Lagging},
		{&c.Skipped, d.Skipped},
		{&c.Validated, d.Validated},
		{&c.Together, d.Together},
		{&c.TogetherClaims, d.TogetherClaims},
		{&c.TogetherRefused, d.TogetherRefused},
		{&c.TogetherUnknown, d.TogetherUnknown},
		{&c.TogetherUnheard, d.TogetherUnheard},
		{&c.LeadersCrashed, d.LeadersCrashed},
		{&c.WithRecords, d.WithRecords},
		{&c.CrashedIn, d.CrashedIn},
		{&c.Drifting, d.Drifting},
		{&c.Woken, d.Woken},
		{&c.Moves, d.Moves},
		{&c.LeastMoves, d.LeastMoves},
		{&c.Unplaced, d.Unplaced},
		{&c.FailBacks, d.FailBacks},
		{&c.Steered, d.Steered},
		{&c.Forgotten, d.Forgotten},
		{&c.FlappedBack, d.FlappedBack},
		{&c.LedInTime, d.LedInTime},
		{&c.DealtAgain, d.DealtAgain},
		{&c.Irreplaceable, d.Irreplaceable},
	} {
		*f.to += f.from
	}
	for k, n := range d.Faults {
		c.Faults[k] += n
	}
	for k, n := range d.Causes {
		c.Causes[k] += n
	}
}

func (c Counts) String() string {
	list := func(m map[string]int) string {
		var b strings.Builder
		for _, k := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(&b, " · %s %d", k, m[k])
		}
		return b.String()
	}
	type plain Counts // without this method and the lists
	faults, causes := c.Faults, c.Causes
	c.Faults, c.Causes = nil, nil
	return fmt.Sprintf("%+v\nfaults%s\nends%s", plain(c), list(faults), list(causes))
}
