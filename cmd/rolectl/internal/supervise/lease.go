package supervise

import "time"

// Lease is what allows a command to run.
type Lease struct {
	// Left is for how much longer the lease is believed in if nothing more is heard; nothing or less when it is over.
	Left func() time.Duration
	// TermAhead and KillAhead are how long before its end TERM and KILL are sent.
	TermAhead, KillAhead time.Duration
	// Stop is how long the command may take to end after an orderly TERM.
	Stop time.Duration
	// Look is how often Left is asked.
	Look time.Duration
}

// For returns the times that follow from the TTL of a session and its margin. KILL comes well before the end of belief, which
// is a margin before anybody else may lead.
func For(ttl time.Duration) Lease {
	return Lease{
		TermAhead: ttl / 5, KillAhead: max(ttl/20, 10*time.Millisecond),
		Look: min(max(ttl/50, 5*time.Millisecond), 200*time.Millisecond),
	}
}
