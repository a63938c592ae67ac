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
	KindIdle  // a beat of an idle session
	KindSteer // what an operator has told all candidates
)

// The keys of format 2. The records that candidates need lie under one prefix, and those of workers
// under another, so that each watch needs one filter. A consumer with several costs the server as
// many steps for each record as there are subjects that match.
//
//	c.role.<role>  c.lease.<id>  c.member.<id>  candidates, and what they lead
//	               w.lease.<id>  w.member.<id>  workers
//	               i.c.<id>      i.w.<id>       beats of idle sessions
//	c.steer.zone.<zone>  c.steer.role.<role>    what operators tell all candidates
//	shards.<group>                              how many shards a group of roles has
//	probe.<id>                                  proofs of leadership
const (
	rolePrefix  = "c.role."
	probePrefix = "probe."
	shardPrefix = "shards."
	steerPrefix = "c.steer."
)

// The prefixes by class.
var (
	leasePrefix  = [...]string{Candidate: "c.lease.", Worker: "w.lease."}
	memberPrefix = [...]string{Candidate: "c.member.", Worker: "w.member."}
	idlePrefix   = [...]string{Candidate: "i.c.", Worker: "i.w."}
)

// CandidateFilter selects what every candidate watches: a fleet of workers costs it nothing.
const CandidateFilter = "c.>"

// WorkerFilter selects the two records of a worker itself. A worker-only session watches them
// beside what candidates watch: the roles, to know who schedules, and the leases and members of the
// candidates, to know whether that one lives.
func WorkerFilter(instance string) string { return "w.*." + instance }

// LeaseFilter selects the leases of candidates and of workers.
const LeaseFilter = "*.lease.>"

// AllFilter selects every record of the bucket.
const AllFilter = ">"

// LeaseKey is where the lease of p lies.
func LeaseKey(p Peer) string { return leasePrefix[p.Class] + p.Instance }

// MemberKey is where the member record of p lies.
func MemberKey(p Peer) string { return memberPrefix[p.Class] + p.Instance }

// IdleKey is where p beats while its lease stands idle. Only a watch over everything shows that.
func IdleKey(p Peer) string { return idlePrefix[p.Class] + p.Instance }

// RoleKey is where the record of a role lies; its revision is the epoch of the term it grants.
func RoleKey(role string) string { return rolePrefix + role }

// ProbeKey is where an instance proves, by a guarded write, that a term of its own is the present
// one.
func ProbeKey(instance string) string { return probePrefix + instance }

// ShardsKey is where it is recorded how many shards a group of roles has. No watch of a machine
// needs it: who adds the group reads it once.
func ShardsKey(group string) string { return shardPrefix + group }

// SteerKey is where an operator tells something about "zone.<zone>" or "role.<role>".
func SteerKey(name string) string { return steerPrefix + name }

// ParseKey tells what a key holds: for a role its name, for what operators tell what it is about,
// and for the other kinds the peer.
func ParseKey(key string) (kind Kind, peer Peer, role string) {
	if name, ok := strings.CutPrefix(key, rolePrefix); ok {
		return KindRole, Peer{}, name
	}
	if name, ok := strings.CutPrefix(key, steerPrefix); ok {
		return KindSteer, Peer{}, name
	}
	for _, class := range []Class{Candidate, Worker} {
		if name, ok := strings.CutPrefix(key, leasePrefix[class]); ok {
			return KindLease, Peer{class, name}, ""
		}
		if name, ok := strings.CutPrefix(key, memberPrefix[class]); ok {
			return KindMember, Peer{class, name}, ""
		}
		if name, ok := strings.CutPrefix(key, idlePrefix[class]); ok {
			return KindIdle, Peer{class, name}, ""
		}
	}
	return KindOther, Peer{}, ""
}
