package record

import "math"

func (l *Lease) clear()    { *l = Lease{} }
func (i *IdleBeat) clear() { *i = IdleBeat{} }
func (r *Role) clear()     { *r = Role{} }
func (m *Member) clear()   { *m = Member{} }

func (l *Lease) set(field []byte, v scalar) bool {
	switch string(field) {
	case "v":
		return v.version(&l.V)
	case "session":
		return v.uint64(&l.Session)
	case "nonce":
		return v.text(&l.Nonce)
	case "ttl_ms":
		return v.int64(&l.TTLms)
	case "beat":
		return v.uint64(&l.Beat)
	case "state":
		return l.State.set(v)
	case "workers":
		return v.uint32(&l.Workers)
	case "by":
		return v.text(&l.By)
	case "at_rest":
		return v.bool(&l.AtRest)
	}
	return false
}

// set takes a state that is known without memory of its own.
func (s *LeaseState) set(v scalar) bool {
	for _, known := range [...]LeaseState{Live, Idle, Closed, Killed, Revoked} {
		if string(v.letters) == string(known) {
			*s = known
			return v.kind == textual
		}
	}
	return false
}

func (i *IdleBeat) set(field []byte, v scalar) bool {
	switch string(field) {
	case "v":
		return v.version(&i.V)
	case "session":
		return v.uint64(&i.Session)
	case "nonce":
		return v.text(&i.Nonce)
	case "lease":
		return v.uint64(&i.Lease)
	case "beat":
		return v.uint64(&i.Beat)
	case "ttl_ms":
		return v.int64(&i.TTLms)
	}
	return false
}

func (r *Role) set(field []byte, v scalar) bool {
	switch string(field) {
	case "v":
		return v.version(&r.V)
	case "ttl_ms":
		return v.int64(&r.TTLms)
	case "id":
		return v.text(&r.ID)
	case "session":
		return v.uint64(&r.Session)
	case "token":
		return v.text(&r.Token)
	case "key":
		return v.text(&r.Key)
	case "priority":
		return v.int32(&r.Priority)
	case "vacant":
		return v.bool(&r.Vacant)
	case "forced":
		return v.bool(&r.Forced)
	case "by":
		return v.text(&r.By)
	case "reason":
		return v.text(&r.Reason)
	case "next":
		return v.text(&r.Next)
	case "fail_backs":
		var n uint32
		ok := v.uint32(&n) && n <= math.MaxUint8
		r.FailBacks = uint8(n)
		return ok
	case "failed_back":
		return v.bool(&r.FailedBack)
	}
	return false
}

func (m *Member) set(field []byte, v scalar) bool {
	switch string(field) {
	case "v":
		return v.version(&m.V)
	case "session":
		return v.uint64(&m.Session)
	case "draining":
		return v.bool(&m.Draining)
	case "capacity":
		return v.version(&m.Capacity)
	case "max_roles":
		return v.version(&m.MaxRoles)
	case "zone":
		return v.text(&m.Zone)
	}
	return false
}

// read reads the fields of a member that are lists. All but the roles are short.
func (m *Member) read(field []byte, s *scanner) (ours, ok bool) {
	switch string(field) {
	case "roles":
		return true, m.Roles == nil && m.Roles.read(s)
	case "meta":
		return true, s.json(&m.Meta)
	case "assign":
		return true, s.json(&m.Assign)
	case "told":
		return true, s.json(&m.Told)
	case "apart":
		return true, s.json(&m.Apart)
	}
	return false, false
}
