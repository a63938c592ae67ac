package record

import "strings"

// Class says what a session takes part in, and so under which keys its lease and member record lie.
type Class uint8

const (
	Candidate Class = iota // campaigns for roles; every candidate watches it
	Worker                 // runs tasks only; watched by the scheduler's leader alone
)

// Peer names one session slot of the bucket: an instance in its class.
type Peer struct {
	Class    Class
	Instance string
}

// Kind is what a key of the bucket holds.
type Kind uint8

const (
	KindOther Kind = iota
	KindLease
	KindMember
	KindRole
)

const (
	leasePrefix        = "lease."
	memberPrefix       = "member."
	rolePrefix         = "role."
	probePrefix        = "probe."
	workerLeasePrefix  = "worker.lease."
	workerMemberPrefix = "worker.member."
)

// CandidateFilters are the keys that every candidate watches: a fleet of workers costs it nothing.
func CandidateFilters() []string {
	return []string{rolePrefix + ">", leasePrefix + ">", memberPrefix + ">"}
}

// WorkerFilters are the keys that a worker-only session watches: the roles, to know who schedules,
// the leases and members of the candidates, to know whether that one lives, and its own two
// records.
func WorkerFilters(instance string) []string {
	return append(CandidateFilters(), workerLeasePrefix+instance, workerMemberPrefix+instance)
}

// LeaseFilters select the leases of candidates and of workers.
func LeaseFilters() []string { return []string{leasePrefix + ">", workerLeasePrefix + ">"} }

// AllFilter selects every record of the bucket.
const AllFilter = ">"

// LeaseKey is where the lease of p lies.
func LeaseKey(p Peer) string {
	if p.Class == Worker {
		return workerLeasePrefix + p.Instance
	}
	return leasePrefix + p.Instance
}

// MemberKey is where the member record of p lies.
func MemberKey(p Peer) string {
	if p.Class == Worker {
		return workerMemberPrefix + p.Instance
	}
	return memberPrefix + p.Instance
}

// RoleKey is where the record of a role lies; its revision is the epoch of the term it grants.
func RoleKey(role string) string { return rolePrefix + role }

// ProbeKey is where an instance proves, by a guarded write, that a term of its own is the present
// one.
func ProbeKey(instance string) string { return probePrefix + instance }

// ParseKey tells what a key holds: for a lease or a member record the peer, for a role its name.
func ParseKey(key string) (kind Kind, peer Peer, role string) {
	if name, ok := strings.CutPrefix(key, leasePrefix); ok {
		return KindLease, Peer{Candidate, name}, ""
	}
	if name, ok := strings.CutPrefix(key, memberPrefix); ok {
		return KindMember, Peer{Candidate, name}, ""
	}
	if name, ok := strings.CutPrefix(key, rolePrefix); ok {
		return KindRole, Peer{}, name
	}
	if name, ok := strings.CutPrefix(key, workerLeasePrefix); ok {
		return KindLease, Peer{Worker, name}, ""
	}
	if name, ok := strings.CutPrefix(key, workerMemberPrefix); ok {
		return KindMember, Peer{Worker, name}, ""
	}
	return KindOther, Peer{}, ""
}
