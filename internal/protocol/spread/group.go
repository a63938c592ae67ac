package spread

// Nobody is the place of a role that no member leads.
const Nobody = -1

// Group is the roles among which the load of each member is even, and the members that may take
// them.
type Group struct {
	Name    string
	Members []Member
	Roles   []Role
}

// Member is a process that takes part in a role of the group.
type Member struct {
	Name   string
	Weight int // at least 1: how much it takes beside the others
	Cap    int // how many roles it leads at most, in all groups; 0: any number
	Pinned int // how many roles of the group it leads that never move
	Beside int // how many it leads of other groups, which count against Cap alone
}

// Role is one role of a group that may move.
type Role struct {
	Name     string
	Revision uint64 // of its record, by which terms are old
	Fell     uint64 // the revision at which it fell vacant, by which vacancies are dealt
	Waits    bool   // all wait for a lease time before it can be claimed
	At       int    // which member leads it, or is about to; Nobody: it is vacant
	May      *May
	Apart    []int  // roles of the group that the same member should not lead
	Avoid    []bool // by member: it leads another role that this one is to be apart from; nil: nobody does
}

// May is which members may take a role. Roles for which that is the same share one.
type May struct {
	Take     []bool  // by member
	Priority []int32 // by member
	// Tier is where the zone of a member comes in the order of the role, by member; nil: all are in
	// one.
	Tier []int32
}

// near reports whether two members are in zones of one tier.
func (m *May) near(a, b int) bool { return m.Tier == nil || m.Tier[a] == m.Tier[b] }

// Rank orders members that are equal otherwise. It differs for each key, so that no member comes
// first everywhere, and is the same in all processes.
func Rank(key, member string) uint64 { return RanksFor(key).Of(member) }

// Ranks is the ranks for one key.
type Ranks uint64

const offset, prime = 14695981039346656037, 1099511628211

// RanksFor is the ranks for a key. Many of them cost less together.
func RanksFor(key string) Ranks { return Ranks(offset).after(key).after("\x00") }

func (h Ranks) after(s string) Ranks {
	for i := range len(s) {
		h = (h ^ Ranks(s[i])) * prime
	}
	return h
}

// Of is the rank of a member.
func (h Ranks) Of(member string) uint64 {
	h = h.after(member)
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return uint64(h ^ h>>33)
}
