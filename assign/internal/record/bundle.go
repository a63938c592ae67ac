package record

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// HeaderBundle is the header of a bundle, <namespace>.b.<name>: JSON of bundleRecord.
const HeaderBundle = "Task-Bundle"

// MaxBundle bounds the data of a bundle, and MaxMember the input of a member, in bytes: who wants
// one member reads all of them.
const (
	MaxBundle = 256 << 10
	MaxMember = 16 << 10
)

// BundleRetention is for how long it is known at least that a bundle was there. A client sends one
// again for half of that.
const BundleRetention = time.Hour

// Claim is the record that keeps bundles out of the block of a task, at a place that no bundle has.
// It is stored if nothing has come among the bundles of the block since a revision. It is a delete
// marker with a value, and the server leaves no other marker when it goes. It stays as long as an
// emptied bundle does at least.
func Claim(task string, since uint64) natskv.Write {
	return natskv.Write{
		Key: BundleKey + bundles.ClaimOf(task), Value: []byte(`{"v":1}`), Delete: true, TTL: BundleRetention,
		Guard: &natskv.Guard{Key: BundlesOf(task), Revision: since},
	}
}

// IsClaim reports whether a record among the bundles is a claim. Other markers have no value.
func IsClaim(e *natskv.Entry) bool { return e.Marker && len(e.Value) > 0 }

// BundlesOf is the keys of all bundles of the block of an id.
func BundlesOf(id string) string {
	block, _, _ := bundles.Split(id)
	return BundleKey + block + ".*"
}

type bundleRecord struct {
	Version int `json:"v"`
}

// Member is one submission of a bundle: its index in its block of ids, and what a submission alone
// has in headers and data.
type Member struct {
	Index                   uint16
	Task, Keys, Meta, Trace string
	Data                    []byte
}

// Size bounds what the member takes in a bundle, in bytes.
func (m *Member) Size() int {
	return 6*binary.MaxVarintLen32 + len(m.Task) + len(m.Keys) + len(m.Meta) + len(m.Trace) + len(m.Data)
}

// EncodeBundle encodes members, in the order of their indexes, for their record. A member whose
// policy is that of the one before has it from there.
func EncodeBundle(members []Member) ([]natskv.Field, []byte) {
	size := 0
	for i := range members {
		size += members[i].Size()
	}
	data, policy := make([]byte, 0, size), ""
	text := func(s string) {
		data = binary.AppendUvarint(data, uint64(len(s)))
		data = append(data, s...)
	}
	for i := range members {
		m := &members[i]
		data = binary.AppendUvarint(data, uint64(m.Index))
		if m.Task == policy {
			text("")
		} else {
			text(m.Task)
		}
		policy = m.Task
		text(m.Keys)
		text(m.Meta)
		text(m.Trace)
		data = binary.AppendUvarint(data, uint64(len(m.Data)))
		data = append(data, m.Data...)
	}
	header, _ := json.Marshal(bundleRecord{1}) // a number can always be encoded
	return []natskv.Field{{Name: HeaderBundle, Value: string(header)}}, data
}

// DecodeBundle reads the members of a bundle of a name. Their data are parts of data.
func DecodeBundle(name string, h nats.Header, data []byte) ([]Member, error) {
	var r bundleRecord
	if err := json.Unmarshal([]byte(First(h[HeaderBundle])), &r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	_, first, ok := bundles.Split(name)
	if r.Version != 1 || !ok {
		return nil, ErrRecord
	}
	d, policy := decoder{data: data}, ""
	var members []Member
	for len(d.data) > 0 {
		m := Member{Index: uint16(min(d.number(), bundles.Most))}
		if m.Task = d.text(); m.Task == "" {
			m.Task = policy
		}
		policy = m.Task
		m.Keys, m.Meta, m.Trace = d.text(), d.text(), d.text()
		m.Data = d.bytes()
		if d.failed || m.Index >= bundles.Most || len(members) > 0 && m.Index <= members[len(members)-1].Index {
			return nil, ErrRecord
		}
		members = append(members, m)
	}
	if len(members) == 0 || int(members[0].Index) != first {
		return nil, ErrRecord
	}
	return members, nil
}

// MemberOf finds a member by its index.
func MemberOf(members []Member, index int) (place int, ok bool) {
	return slices.BinarySearchFunc(members, uint16(index), func(m Member, i uint16) int { return int(m.Index) - int(i) })
}

// Alone is the record of a task as it would be if it were not in the bundle e.
func (m *Member) Alone(id string, e *natskv.Entry) natskv.Entry {
	h := nats.Header{}
	for _, f := range m.Fields() {
		h[f.Name] = []string{f.Value}
	}
	return natskv.Entry{Key: QueueKey + id, Value: m.Data, Revision: e.Revision, Header: h, Time: e.Time}
}

// Fields are the headers of the member.
func (m *Member) Fields() (h []natskv.Field) {
	for _, f := range []natskv.Field{
		{Name: HeaderTask, Value: m.Task},
		{Name: HeaderKeys, Value: m.Keys},
		{Name: HeaderMeta, Value: m.Meta},
		{Name: HeaderTrace, Value: m.Trace},
	} {
		if f.Value != "" {
			h = append(h, f)
		}
	}
	return h
}

// decoder reads numbers and texts with their lengths. Once it has failed it reads nothing.
type decoder struct {
	data   []byte
	failed bool
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.data)
	if d.failed = d.failed || size <= 0; d.failed {
		return 0
	}
	d.data = d.data[size:]
	return n
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if d.failed = d.failed || n > uint64(len(d.data)); d.failed {
		return nil
	}
	b := d.data[:n:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) text() string { return string(d.bytes()) }

// Ended is the data at <namespace>.e.<name>: which members of a bundle have ended, by their places
// in it.
type Ended struct {
	Version int         `json:"v"`
	Of      uint64      `json:"of"` // the revision of the bundle
	Places  bundles.Set `json:"ended"`
}

func EncodeEnded(e Ended) ([]byte, error) {
	e.Version = 1
	return json.Marshal(e)
}

func DecodeEnded(data []byte) (e Ended, err error) {
	if err := json.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if e.Version != 1 || e.Of == 0 || len(e.Places) > (bundles.Most+7)/8 {
		return Ended{}, ErrRecord
	}
	return e, nil
}
