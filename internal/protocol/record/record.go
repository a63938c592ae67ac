package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unique"

	"github.com/rolemanager/rolemanager/internal/naming"
)

// Version is the format of the records this process writes and the only one it acts upon.
const Version = 1

// MaxSupportedTTL bounds every ttl_ms whatever the bucket says, so that no record can make anybody
// wait for ever.
const MaxSupportedTTL = time.Hour

// MaxCapacity bounds the weight of a member, so that products of loads and weights fit an int.
const MaxCapacity = 1000

var (
	ErrNewer   = errors.New("written by a later version")
	errGarbage = errors.New("not a record")
	errRevoked = errors.New("a lease that was revoked")
)

// LeaseState is the state a lease declares of its session.
type LeaseState string

const (
	Live LeaseState = "live" // may hold roles
	// Idle is a session that holds nothing, and beats rarely and elsewhere. A process that needs its
	// roles may kill it at once.
	Idle   LeaseState = "idle"
	Closed LeaseState = "closed" // ended by its own process, after every term had drained
	Killed LeaseState = "killed" // ended by another one, which had waited for it
	// Revoked is a lease that was taken from its process, which nobody has waited for. To the
	// process its session is over; to others the lease is one that cannot be read.
	Revoked LeaseState = "revoked"
)

// Lease is the record at c.lease.<instance>, rewritten by every heartbeat, but while it is idle.
type Lease struct {
	V       int        `json:"v"`
	Session uint64     `json:"session"` // 0 in the first write: the record's own revision
	Nonce   string     `json:"nonce,omitempty"`
	TTLms   int64      `json:"ttl_ms"`
	Beat    uint64     `json:"beat"`
	State   LeaseState `json:"state"`
	Workers uint32     `json:"workers,omitempty"` // worker-only sessions, said by a process that sees them
	By      string     `json:"by,omitempty"`      // who killed it
	// AtRest is said by a process that killed it: it was idle then, and has begun nothing since.
	AtRest bool `json:"at_rest,omitempty"`
}

// TTL is how long an observer must see this record unchanged before it may kill the session.
func (l Lease) TTL() time.Duration { return time.Duration(l.TTLms) * time.Millisecond }

// Alive reports whether the record declares a session that has not ended.
func (l Lease) Alive() bool { return l.State == Live || l.State == Idle }

// IdleBeat is a heartbeat of a session whose lease stands idle at revision Lease. It is written on
// the condition that the lease still does, and says nothing once the lease does not. A late copy of
// an earlier beat may overwrite a later one, so the largest number counts.
type IdleBeat struct {
	V       int    `json:"v"`
	Session uint64 `json:"session"`
	Nonce   string `json:"nonce"`
	Lease   uint64 `json:"lease"`
	Beat    uint64 `json:"beat"`
	TTLms   int64  `json:"ttl_ms"`
}

// TTL is how long an observer must see no later beat before it may kill the session.
func (b IdleBeat) TTL() time.Duration { return time.Duration(b.TTLms) * time.Millisecond }

// Workplace is what a member offers in one namespace of tasks.
type Workplace struct {
	Slots  int               `json:"slots"`
	Kinds  []string          `json:"kinds,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Build  string            `json:"build,omitempty"`  // of what decodes the inputs
	Alone  bool              `json:"alone,omitempty"`  // it takes what must run alone when nothing else runs there
	Beside bool              `json:"beside,omitempty"` // handlers of an earlier session ran there when it came
}

// Member is the record at c.member.<instance>, rewritten only when something in it changes.
type Member struct {
	V        int                  `json:"v"`
	Session  uint64               `json:"session"`
	Roles    Candidacies          `json:"roles,omitempty"`
	Meta     map[string]string    `json:"meta,omitempty"`
	Assign   map[string]Workplace `json:"assign,omitempty"`
	Told     map[string][]byte    `json:"told,omitempty"` // by namespace of tasks: what its worker says there
	Draining bool                 `json:"draining,omitempty"`
	Capacity int                  `json:"capacity,omitempty"`  // its weight among the others; 0: 1
	MaxRoles int                  `json:"max_roles,omitempty"` // how many roles it leads at most; 0: any number
	Apart    map[string][]string  `json:"apart,omitempty"`     // by role: those that the same member should not lead
	Zone     string               `json:"zone,omitempty"`      // where it is, such as a data centre
}

// Candidacy is what the member says about itself for a role; ok reports whether it says anything. A
// nil member says nothing.
func (m *Member) Candidacy(role string) (c Candidacy, ok bool) {
	if m == nil {
		return c, false
	}
	return m.Roles.Of(role)
}

// Role is the record at c.role.<role>: held, or vacant.
type Role struct {
	V     int   `json:"v"`
	TTLms int64 `json:"ttl_ms"`

	ID      string `json:"id,omitempty"`
	Session uint64 `json:"session,omitempty"`
	Token   string `json:"token,omitempty"`
	Key     string `json:"key,omitempty"`

	// A process may follow ten thousand roles: what is small stands together.
	Priority int32 `json:"priority,omitempty"`
	Vacant   bool  `json:"vacant,omitempty"`
	Forced   bool  `json:"forced,omitempty"`
	// FailBacks is how many hand-overs to a better zone did not last, in a row. FailedBack says that
	// the term began with one, or is about to.
	FailBacks  uint8 `json:"fail_backs,omitempty"`
	FailedBack bool  `json:"failed_back,omitempty"`

	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	Next   string `json:"next,omitempty"`
}

// Shards is the record at shards.<group>.
type Shards struct {
	V int `json:"v"`
	N int `json:"n"`
}

// TTL is the lease time of the session that holds or held the role. It stands here too, so that it
// is known when the lease itself is gone.
func (r Role) TTL() time.Duration { return time.Duration(r.TTLms) * time.Millisecond }

// Holder is the peer that holds the role, the zero Peer when it is vacant.
func (r Role) Holder() Peer {
	if r.Vacant {
		return Peer{}
	}
	return Peer{Candidate, r.ID}
}

// DecodeLease reads a lease record; ttl_ms above maxTTL is refused. One that was revoked is
// returned with an error: it tells its process something, and nobody else.
func DecodeLease(b []byte, maxTTL time.Duration) (l Lease, err error) {
	if err := decode(b, &l, &l.V); err != nil {
		return Lease{}, err
	}
	switch l.State {
	case Live, Idle:
		if l.Nonce == "" {
			return Lease{}, fmt.Errorf("%w: lease without a nonce", errGarbage)
		}
		return l, checkTTL(l.TTLms, maxTTL)
	case Closed, Killed:
		return l, nil
	case Revoked:
		return l, errRevoked
	}
	return Lease{}, fmt.Errorf("%w: lease state %q", errGarbage, l.State)
}

// DecodeIdleBeat reads an idle beat; ttl_ms above maxTTL is refused.
func DecodeIdleBeat(b []byte, maxTTL time.Duration) (i IdleBeat, err error) {
	if err := decode(b, &i, &i.V); err != nil {
		return IdleBeat{}, err
	}
	if i.Nonce == "" || i.Lease == 0 {
		return IdleBeat{}, fmt.Errorf("%w: idle beat of no lease", errGarbage)
	}
	return i, checkTTL(i.TTLms, maxTTL)
}

// DecodeMember reads a member record.
func DecodeMember(b []byte) (m Member, err error) {
	if err := decode(b, &m, &m.V); err != nil {
		return Member{}, err
	}
	if m.Session == 0 {
		return Member{}, fmt.Errorf("%w: member without a session", errGarbage)
	}
	if m.Capacity < 0 || m.Capacity > MaxCapacity || m.MaxRoles < 0 {
		return Member{}, fmt.Errorf("%w: capacity %d, at most %d roles", errGarbage, m.Capacity, m.MaxRoles)
	}
	if m.Zone != "" && !naming.Valid(m.Zone) {
		return Member{}, fmt.Errorf("%w: zone %q", errGarbage, m.Zone)
	}
	m.Zone = unique.Make(m.Zone).Value()
	m.Roles.shareGroups()
	return m, nil
}

// DecodeShards reads how many shards a group has.
func DecodeShards(b []byte) (s Shards, err error) {
	if err := decode(b, &s, &s.V); err != nil {
		return Shards{}, err
	}
	if s.N <= 0 {
		return Shards{}, fmt.Errorf("%w: %d shards", errGarbage, s.N)
	}
	return s, nil
}

// DecodeRole reads a role record; ttl_ms above maxTTL is refused.
func DecodeRole(b []byte, maxTTL time.Duration) (r Role, err error) {
	if err := decode(b, &r, &r.V); err != nil {
		return Role{}, err
	}
	if !r.Vacant && (!naming.Valid(r.ID) || r.Session == 0) {
		return Role{}, fmt.Errorf("%w: role held by nobody", errGarbage)
	}
	r.ID, r.Key = unique.Make(r.ID).Value(), unique.Make(r.Key).Value() // a session may hold thousands of roles
	return r, checkTTL(r.TTLms, maxTTL)
}

// Encode writes a record as the bucket keeps it. Records hold nothing that JSON cannot say.
func Encode(record any) []byte {
	b, err := json.Marshal(record)
	if err != nil {
		panic(fmt.Sprintf("protocol: encode %T: %v", record, err))
	}
	return b
}

func decode(b []byte, record any, version *int) error {
	if err := unmarshal(b, record); err != nil {
		var v struct {
			V int `json:"v"`
		}
		if json.Unmarshal(b, &v) == nil && v.V > Version {
			return ErrNewer
		}
		return fmt.Errorf("%w: %w", errGarbage, err)
	}
	switch {
	case *version > Version:
		return ErrNewer
	case *version != Version:
		return fmt.Errorf("%w: version %d", errGarbage, *version)
	}
	return nil
}

// unmarshal is json.Unmarshal, for a record that is still zero.
func unmarshal(b []byte, record any) error {
	if to, ok := record.(flat); ok && readFlat(b, to) {
		return nil
	}
	return json.Unmarshal(b, record)
}

func checkTTL(ms int64, maxTTL time.Duration) error {
	if limit := min(maxTTL, MaxSupportedTTL).Milliseconds(); ms <= 0 || ms > limit {
		return fmt.Errorf("%w: ttl_ms %d is not within (0, %d]", errGarbage, ms, limit)
	}
	return nil
}
