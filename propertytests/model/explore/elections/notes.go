package elections

import (
	"fmt"
	"strings"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// note updates the state of a process for one effect of its machine, and checks what the process
// alone has promised: its terms take turns (E4), it gives no role away whose work still runs (E7),
// it ends no idle session early without a reason (I1), and it writes nothing before it knows what
// stands.
func (x *Model) note(i int, q *memberState, e protocol.Effect) error {
	who := instance(i)
	switch e := e.(type) {
	case protocol.BeginTerm:
		k := &q.work[roleIndex(e.Role)]
		if k.leading || k.runs() {
			return fmt.Errorf("E4: %s begins a term of %s before the work of the last one has drained", who, e.Role)
		}
		*k = roleWork{term: e.Epoch, epoch: e.Epoch, leading: true}
		if n := q.works(); x.cfg.MaxRoles > 0 && n > x.cfg.MaxRoles {
			return fmt.Errorf("E9: %s leads %d roles, and may lead %d", who, n, x.cfg.MaxRoles)
		}
	case protocol.EndTerm:
		k := &q.work[roleIndex(e.Role)]
		if !k.leading || k.term != e.Term {
			return fmt.Errorf("E4: %s ends a term of %s that it does not lead", who, e.Role)
		}
		k.leading = false
	case protocol.Rotated:
		k := &q.work[roleIndex(e.Role)]
		if !k.leading || k.term != e.Term || e.Epoch <= k.epoch {
			return fmt.Errorf("E4: %s rotates a term of %s that it does not lead, or back", who, e.Role)
		}
		k.epoch = e.Epoch
	case protocol.Opened:
		q.number = e.Session
	case protocol.Lost:
		q.number = 0
	case protocol.Write:
		if !q.synced {
			return fmt.Errorf("%s writes %s before its first snapshot is complete", who, e.Key)
		}
		if err := x.early(i, q, e); err != nil {
			return err
		}
		role, is := strings.CutPrefix(e.Key, "c.role.")
		if !is || !strings.Contains(string(e.Value), `"vacant":true`) {
			return nil
		}
		if q.work[roleIndex(role)].runs() && !x.cfg.Undrained {
			return fmt.Errorf("E7: %s gives %s away before its work has drained", who, role)
		}
	case protocol.Ended:
		q.ended = true
		if e.Fault != nil {
			return fmt.Errorf("%s ended by %w", who, e.Fault)
		}
	}
	return nil
}

// obeyed checks that a request which names an epoch is carried out at that epoch, and at no other
// one.
func obeyed(i int, q *memberState, s stimulus, e protocol.Effect) error {
	if s.kind != stepDown && s.kind != transfer {
		return nil
	}
	switch e := e.(type) {
	case protocol.EndTerm:
		if e.Cause != protocol.SteppedDown {
			return nil
		}
	case protocol.Ask:
		if e.Instance != instance(int(s.from)) {
			return nil
		}
	default:
		return nil
	}
	if epoch := q.work[s.role].epoch; epoch != s.revision {
		return fmt.Errorf("%s does at epoch %d of %s what was asked for epoch %d",
			instance(i), epoch-firstRevision, roleName(int(s.role)), s.revision-firstRevision)
	}
	return nil
}

// early checks that an idle session of somebody else is ended before its time only if it holds a
// role, by all that the process knows which ends it.
func (x *Model) early(i int, q *memberState, w protocol.Write) error {
	killed := x.decode(w.Key, string(w.Value), w.Delete)
	if killed.Kind != record.KindLease || killed.Lease.State != record.Killed || killed.Peer == peer(i) {
		return nil
	}
	v := q.m.View()
	p := v.Peer(killed.Peer)
	since, ttl, told := v.Still(p)
	if p.Form != formRecord || p.Lease.State != record.Idle || told && q.now >= since.Add(ttl) {
		return nil
	}
	for _, r := range v.Roles() {
		if r.Form == formRecord && r.Role.Holder() == killed.Peer && r.Role.Session >= killed.Lease.Session {
			return nil
		}
	}
	return fmt.Errorf("I1: %s ends the session of %s, which is idle and holds nothing, before its time", instance(i),
		killed.Peer.Instance)
}

func roleIndex(role string) int { return int(role[1] - '0') }
