package dashboard

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/seconds"
)

// How much is remembered.
const (
	maxTerms  = 32  // of each role
	maxEvents = 500 // of all
)

// term is a time in which an instance led a role, as far as it was seen.
type term struct {
	Leader string    `json:"leader"`
	Epoch  uint64    `json:"epoch"`
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended,omitzero"`
	// Reason is why it ended.
	Reason string `json:"reason,omitempty"`
	// Gap is for how long nobody had led before it, 0 if that was not seen.
	Gap seconds.Duration `json:"gap_seconds,omitempty"`
}

// happening is an event as the page shows it.
type happening struct {
	Number uint64    `json:"number"`
	Time   time.Time `json:"time"`
	// Change is one of the words of "rolectl watch": leader, silent, vacant, joined, left, problem,
	// missed; and steered, for what was done on this page.
	Change string `json:"change"`
	Role   string `json:"role,omitempty"`
	Member string `json:"member,omitempty"`
	Epoch  uint64 `json:"epoch,omitempty"`
	Text   string `json:"text,omitempty"`
}

// history is what has happened since the page began to watch.
type history struct {
	terms  map[string][]term
	states map[string]stateSince
	events []happening // the oldest first
	number uint64
}

// stateSince is the state of a role, and since when it is in that state.
type stateSince struct {
	state election.Leadership
	epoch uint64
	since time.Time
	// sign is when the last sign of the leader was seen.
	sign time.Time
}

// ofDeath is why a term has ended whose leader did not give the role away.
const ofDeath = "the session of its leader ended: it was killed, cut off or paused"

func newHistory() history {
	return history{terms: map[string][]term{}, states: map[string]stateSince{}}
}

// note takes an event. It reports whether that changes what people see.
func (h *history) note(e event.Event) bool {
	at := event.MetaOf(e).Time
	switch e := e.(type) {
	case event.LeaderChanged:
		if e.Leader != "" {
			h.begin(at, e.Role, e.Leader, e.Epoch) // which may tell first that the last leader has died
			h.add(happening{Time: at, Change: "leader", Role: e.Role, Member: e.Leader, Epoch: e.Epoch})
		} else if last := h.last(e.Role); last != nil && last.Ended.IsZero() {
			last.Ended = at // the reason follows, unless the leader has died
		}
	case event.RoleVacant:
		h.add(happening{Time: at, Change: "vacant", Role: e.Role, Member: e.By, Text: e.Reason})
		h.end(at, e.Role, e.Reason)
	case event.MemberJoined:
		h.add(happening{Time: at, Change: "joined", Member: e.Member})
	case event.MemberLeft:
		h.add(happening{Time: at, Change: "left", Member: e.Member, Text: e.Reason})
	case event.RecordIgnored:
		h.add(happening{Time: at, Change: "problem", Text: e.Key + ": " + e.Reason})
	case event.Lagged:
		h.add(happening{Time: at, Change: "missed", Text: "some events were left out here"})
	case event.CandidatesChanged:
	default:
		return false
	}
	return true
}

func (h *history) add(what happening) {
	h.number++
	what.Number = h.number
	if len(h.events) == maxEvents {
		h.events = slices.Delete(h.events, 0, maxEvents/4)
	}
	h.events = append(h.events, what)
}

func (h *history) begin(at time.Time, role, leader string, epoch uint64) {
	all := h.terms[role]
	next := term{Leader: leader, Epoch: epoch, Began: at}
	if n := len(all); n > 0 {
		last := &all[n-1]
		switch {
		case last.Epoch == epoch:
			return
		case last.Ended.IsZero() && last.Leader == leader: // it has rotated its epoch
			last.Epoch = epoch
			return
		case last.Ended.IsZero():
			last.Ended = at
		default:
			h.died(role)
			next.Gap = seconds.Duration(at.Sub(last.Ended))
		}
	}
	if len(all) == maxTerms {
		all = slices.Delete(all, 0, 1)
	}
	h.terms[role] = append(all, next)
}

// last is the newest term of a role, nil for none.
func (h *history) last(role string) *term {
	all := h.terms[role]
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

func (h *history) end(at time.Time, role, reason string) {
	if last := h.last(role); last != nil && (last.Ended.IsZero() || last.Reason == "") {
		last.Ended, last.Reason = at, reason
	}
}

// died notes that the last term has ended by the death of its leader, unless there is another
// reason. Since its last sign nobody is known to have led.
func (h *history) died(role string) {
	last := h.last(role)
	if last == nil || last.Ended.IsZero() || last.Reason != "" {
		return
	}
	last.Reason = ofDeath
	h.add(happening{
		Time: last.Ended, Change: "vacant", Role: role, Member: last.Leader, Epoch: last.Epoch, Text: ofDeath,
	})
	if sign := h.states[role].sign; sign.After(last.Began) && sign.Before(last.Ended) {
		last.Ended = sign
	}
}

// see compares a role with what was known about it, and returns since when it is as it is.
func (h *history) see(now time.Time, f *findings.RoleFacts) time.Time {
	was, known := h.states[f.Info.Role]
	is := stateSince{f.Info.State, f.Info.Epoch, was.since, was.sign}
	if is.state != election.RoleVacant && f.Info.LastSeen > 0 {
		is.sign = now.Add(-f.Info.LastSeen)
	}
	if is.state == election.RoleDead {
		defer h.died(f.Info.Role)
	}
	if known && was.state == is.state && was.epoch == is.epoch {
		h.states[f.Info.Role] = is
		return was.since
	}
	is.since = now.Add(-f.Age).Truncate(time.Second)
	if known && is.state == election.RoleSilent {
		is.since = now.Truncate(time.Second)
		h.add(happening{
			Time: now, Change: "silent", Role: f.Info.Role, Member: f.Info.Leader, Epoch: f.Info.Epoch, Text: f.WhyVacant(),
		})
	}
	if is.state == election.RoleLeading {
		h.begin(now.Add(-f.Age), f.Info.Role, f.Info.Leader, f.Info.Epoch)
	}
	h.states[f.Info.Role] = is
	return is.since
}

// of returns the terms of a role, the oldest first.
func (h *history) of(role string) []term { return slices.Clone(h.terms[role]) }

// forget drops the roles that are gone.
func (h *history) forget(left []election.RoleInfo) {
	if len(h.states) == len(left) {
		return
	}
	there := map[string]bool{}
	for i := range left {
		there[left[i].Role] = true
	}
	for role := range h.states {
		if !there[role] {
			delete(h.states, role)
			delete(h.terms, role)
		}
	}
}

// recent returns a copy of the events, the newest first.
func (h *history) recent() []happening {
	all := slices.Clone(h.events)
	slices.Reverse(all)
	return all
}
