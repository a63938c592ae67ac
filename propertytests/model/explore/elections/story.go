package elections

import (
	"fmt"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
)

// story is what is told of moves. A nil one is not told.
type story struct{ lines []string }

var verbNames = [...]string{
	"ticks", "its request arrives", "hears the answer", "gives up waiting for the answer", "the watch delivers",
	"the watch continues",
	"watches again", "its work has drained", "its question arrives", "hears the answer to its question",
	"a request to it arrives", "continues", "starts",
	"joins its roles", "time passes", "WATCHES A REPLICA THAT LAGS", "A REQUEST IS DELAYED", "AN ANSWER IS DELAYED",
	"ITS WATCH STALLS",
	"ITS WORK IS SLOW TO DRAIN", "CRASHES", "IS PAUSED", "AN OPERATOR EVICTS THE LEADER", "A MARKER COVERS ITS LEASE",
	"A MARKER COVERS THE ROLE", "IS ASKED TO STEP DOWN", "IS ASKED TO TRANSFER A ROLE", "IS CLOSED",
	"AN ANSWER COMES TWICE",
	"A REQUEST COMES TWICE", "A REQUEST COMES TWICE AND THE REFUSAL IS HEARD FIRST", "ITS WATCH IS REPLACED",
	"ITS QUESTION COMES TWICE", "THE ANSWER TO ITS QUESTION COMES TWICE", "A REQUEST TO IT COMES TWICE",
}

// Tell makes a move again.
func (x *Model) Tell(w World, m search.Move) (World, []string, error) {
	s := &story{}
	err := x.apply(&w, m, s)
	if err == nil {
		err = x.exclusive(&w)
	}
	if v, _, _ := parts(m); v == passes && len(s.lines) > 0 {
		for i := range x.cfg.Members {
			for r := range x.cfg.Roles {
				if w.procs[i].leads(r) {
					s.lines[0] += fmt.Sprintf("; %s leads %s until %v", instance(i), roleName(r), clockOf(w.procs[i].until))
				}
			}
		}
	}
	return w, s.lines, err
}

func clockOf(t record.Instant) time.Duration { return time.Duration(t) - time.Hour }

func (s *story) move(w *World, m search.Move) {
	if s == nil {
		return
	}
	v, i, n := parts(m)
	line := fmt.Sprintf("%6v %s %s", clockOf(w.procs[i].now), instance(i)[1:], verbNames[v])
	l := w.wires[i]
	switch v {
	case land, delayRequest:
		line += ": " + l.flights[n].letter.String()
	case reply, timeout, delayReply, repeatReply, repeatRequest, refusedFirst:
		line += fmt.Sprintf(": write %d of %s, %v", l.flights[n].letter.id, l.flights[n].letter.key, l.flights[n].outcome)
	case deliver:
		line += ": " + l.feed[0].String()
	case ends, slow:
		line += " in " + roleName(int(l.drains[n].role))
	case evict, wipeRole, askStepDown:
		line += " of " + roleName(n)
	case controlArrives, repeatControl:
		line += ": " + l.controls[n].String()
	}
	s.lines = append(s.lines, line)
}

func (s *story) landed(c *wonWrite) {
	if s == nil {
		return
	}
	if c == nil {
		s.lines[len(s.lines)-1] += ": refused"
		return
	}
	s.lines[len(s.lines)-1] += ": stands as " + c.String()
}

func (s *story) effects(i int, r *reaction) {
	if s == nil {
		return
	}
	letters := r.letters
	for _, e := range r.effects {
		text := fmt.Sprintf("%T%+v", e, e)
		switch e := e.(type) {
		case protocol.Write:
			text, letters = "writes "+letters[0].String(), letters[1:]
		case view.LeaderChanged, view.MemberChanged, view.MemberJoined, view.MemberLeft, view.RoleVacant,
			view.CandidatesChanged,
			protocol.RoleGiven, protocol.Claimed:
			continue
		case protocol.Beat:
			if e.Outcome == record.Won {
				continue
			}
		case protocol.BeginTerm:
			text = fmt.Sprintf("LEADS %s at epoch %d", e.Role, e.Epoch-firstRevision)
		}
		s.lines = append(s.lines, "         "+instance(i)[1:]+" -> "+strings.TrimPrefix(text, "protocol."))
	}
}

func (l *letter) String() string {
	on := ""
	if l.at != 0 {
		on = fmt.Sprintf(" over %d", l.at-firstRevision)
	}
	return fmt.Sprintf("write %d of %s%s: %s", l.id, l.key, on, show(&l.data))
}

func (c control) String() string {
	at := fmt.Sprintf("%s at epoch %d", roleName(int(c.role)), c.epoch-firstRevision)
	if c.kind == transfer {
		return "transfer " + at + " to " + instance(int(c.to))[1:]
	}
	return "step down from " + at
}

func (c *wonWrite) String() string {
	return fmt.Sprintf("%s@%d %s", c.key, c.entry.Revision-firstRevision, show(&c.entry))
}

func show(e *record.Entry) string {
	session := func(n uint64) string {
		if n == 0 {
			return "new"
		}
		return fmt.Sprint(n - firstRevision)
	}
	switch {
	case e.Form == record.FormMarker:
		return "a marker"
	case e.Kind == record.KindLease:
		return fmt.Sprintf("%s beat %d session %s %s", e.Lease.State, e.Lease.Beat, session(e.Lease.Session), e.Lease.Nonce)
	case e.Kind == record.KindRole && e.Role.Vacant:
		return fmt.Sprintf("vacant (%s, forced %t, next %q)", e.Role.Reason, e.Role.Forced, e.Role.Next)
	case e.Kind == record.KindRole:
		return fmt.Sprintf("held by %s session %s token %s", e.Role.ID, session(e.Role.Session), e.Role.Token)
	case e.Member != nil:
		return fmt.Sprintf("member of session %s %v", session(e.Member.Session), e.Member.Roles)
	}
	return ""
}
