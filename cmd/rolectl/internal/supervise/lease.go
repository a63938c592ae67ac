package supervise

import "time"

// Lease is what allows a command to run.
type Lease struct {
	// Left returns how much longer the lease is trusted without further news; 0 or less when it has
	// ended.
	Left func() time.Duration
	// TermAhead and KillAhead are how long before the end of the lease TERM and KILL are sent.
	TermAhead, KillAhead time.Duration
	// Stop is how long the command may take to end after an orderly TERM.
	Stop time.Duration
	// Look is how often Left is called.
	Look time.Duration
}

// For returns the times for the TTL of a session. KILL comes well before the trust ends, which is a
// margin before another process may lead.
func For(ttl time.Duration) Lease {
	return Lease{
		TermAhead: ttl / 5, KillAhead: max(ttl/20, 10*time.Millisecond),
		Look: min(max(ttl/50, 5*time.Millisecond), 200*time.Millisecond),
	}
}
