package election

import "github.com/nats-io/nats.go"

// Host is the part of a session that its attachments may use, for the length of one lease. See
// [Session.Attach].
type Host struct{ lease lease }

// Conn is the session's connection.
func (h Host) Conn() *nats.Conn { return h.lease.Conn() }

// Session is the number of the lease.
func (h Host) Session() uint64 { return h.lease.Session() }

// Instance is the session's instance id.
func (h Host) Instance() string { return h.lease.Instance() }

// Members are the members whose session is not known to be dead.
func (h Host) Members() []MemberInfo { return h.lease.Members() }

// Role returns a role as this session sees it. It returns false for a role that nobody has led yet.
func (h Host) Role(name string) (RoleInfo, bool) { return h.lease.Role(name) }

// Changed returns a channel. It receives a value when the leader of a role, or a member, may have
// changed since the last value.
// Heartbeats do not count.
func (h Host) Changed() <-chan struct{} { return h.lease.Changed() }
