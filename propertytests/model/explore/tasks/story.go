package tasks

import (
	"fmt"
	"strings"

	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
)

var verbNames = [...]string{
	"gets", "ticks", "reads the stream", "sees the bucket", "succeeds", "has stopped", "reads on", "gets late", "sees on",
	"is connected again", "gives its session up", "is known to be dead", "joins", "is elected",
	"notices that it was deposed",
	"closes its session", "time passes", "DELAYED", "REPEATED", "NOBODY LISTENS", "ITS VIEW STANDS STILL",
	"ITS READING STANDS STILL",
	"CRASHES", "IS CUT OFF", "TAKES THE ROLE OVER", "FAILS", "GIVES BACK", "WAS CONNECTED AGAIN", "HAS ANOTHER EPOCH",
	"IS WRITTEN AGAIN",
}

// Tell makes a move again.
func (x *Model) Tell(w World, mv search.Move) (World, []string, error) {
	v, i, n := parts(mv)
	who := instance(i)[1:]
	switch v {
	case ticks, reads, flows, lagsReading, renews, rotates, retires:
		who = fmt.Sprintf("leader %d", i+1)
	}
	if v == rewrites {
		who = "the outcome of " + taskID(n)
	}
	line := who + " " + verbNames[v]
	switch v {
	case arrives, lands, delays, repeats, unheard:
		line = fmt.Sprintf("%s: %s", verbNames[v], w.net.list[n])
	case succeeds, fails, releases, stopsHandler:
		line += " " + taskID(n) + " attempt " + show(w.members[i].runs[n].attempt)
	}
	before := w.net
	err := x.apply(&w, mv)
	lines := []string{line}
	for _, m := range w.net.list {
		fresh := true
		for _, o := range before.list {
			fresh = fresh && o.String() != m.String()
		}
		if fresh && !m.late {
			lines = append(lines, "    -> "+m.String())
		}
	}
	return w, lines, err
}

func (m *message) String() string {
	s := fmt.Sprintf("%s of leader %d, member %s", messageNames[m.kind], m.leader+1, instance(int(m.member))[1:])
	var more []string
	if m.push != nil {
		for _, a := range m.push.List {
			more = append(more, fmt.Sprintf("%s attempt %s serial %d low %d", a.ID, show(a.Attempt), a.Serial, m.push.Low))
		}
	}
	for _, a := range m.answers {
		more = append(more, fmt.Sprintf("%s attempt %s %v", a.ID, show(a.Attempt), a.Verdict))
	}
	for _, h := range m.held {
		more = append(more, fmt.Sprintf("%s attempt %s", h.ID, show(h.Attempt)))
	}
	switch m.kind {
	case stops:
		more = append(more, m.stop.ID, show(m.stop.Attempt))
	case stopped, reports, settles:
		more = append(more, taskID(int(m.task)), show(m.attempt))
	case writes:
		more = append(more, fmt.Sprintf("%d: %s %s %s", m.write, m.record.Subject, m.record.Outcome.Status,
			show(m.record.Outcome.Attempt)))
	case outcomes:
		more = append(more, fmt.Sprintf("%d: %v", m.write, m.result))
	}
	return s + " (" + strings.Join(more, ", ") + ")"
}
