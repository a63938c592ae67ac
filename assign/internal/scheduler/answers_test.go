package scheduler

import (
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// TestNobodyHeard: a frame of several messages was heard by nobody only if the server says so about
// each of them.
func TestNobodyHeard(t *testing.T) {
	var told []tasks.Event
	term := &term{inbox: "_INBOX.x."}
	a := newAnswers(term, loop{step: func(e tasks.Event) { told = append(told, e) }}, nil, peers{})
	for _, c := range []struct {
		subject string
		want    uint64 // the frame that was heard by nobody, 0: none
	}{
		{"5.1", 1},
		{"5.2.3", 0},
		{"5.2.3", 0},
		{"5.2.3", 2},
		{"5.3.2", 0},
		{"6.4.2", 0},
		{"5.4.2", 0}, // the next frame of the same worker, before the second message of the one before
		{"5.3.2", 0},
		{"6.4.2", 4},
	} {
		told = nil
		a.handle(&nats.Msg{Subject: term.inbox + c.subject, Header: nats.Header{"Status": {"503"}}})
		i := slices.IndexFunc(told, func(e tasks.Event) bool { _, is := e.(tasks.NoResponder); return is })
		if is := i >= 0 && told[i].(tasks.NoResponder).Frame == c.want; is != (c.want > 0) || i >= 0 && c.want == 0 {
			t.Errorf("%s: %+v, want frame %d", c.subject, told, c.want)
		}
	}
	if a.forget(5); len(a.refused) != 1 {
		t.Errorf("kept of dead sessions: %v", a.refused)
	}
}
