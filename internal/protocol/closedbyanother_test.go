package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestClosedByAnother: a lease that says that its session is closed, though that continues, was
// written by somebody else. Others take the roles over at once, so every term ends; and the process
// comes back with a session that is later.
func TestClosedByAnother(t *testing.T) {
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "r"}})
	g.run(3*time.Second, nil)
	term, session := g.begin("r").Epoch, g.m.lease.number
	g.effs = nil
	g.sees(record.LeaseKey(g.m.self.Peer), record.Lease{
		V: record.Version, Session: session, Nonce: g.m.lease.nonce,
		State: record.Closed,
	})
	lost, ended := 0, 0
	for _, e := range g.effs {
		switch e := e.(type) {
		case Lost:
			lost++
		case EndTerm:
			if e.Role == "r" && e.Term == term {
				ended++
			}
		case Ended:
			t.Errorf("the machine has ended: %+v", e)
		}
	}
	if lost != 1 || ended != 1 || g.m.Status("r").Leading {
		t.Errorf("%d sessions lost, %d terms ended: %+v", lost, ended, g.m.Status("r"))
	}
	g.step(Drained{"r", term})
	g.run(10*time.Second, nil)
	if s := g.m.Status("r"); !s.Leading || g.m.lease.number <= session {
		t.Errorf("session %d after %d: %+v", g.m.lease.number, session, s)
	}
}

// TestClosedIsTold: a session that has closed its lease names it, whether the acknowledgement comes
// first or the watch. One that does not know it in time does not.
func TestClosedIsTold(t *testing.T) {
	for _, first := range []string{"acknowledgement", "watch", "deadline"} {
		g := newRig(t, nil)
		nonce := g.m.lease.nonce
		g.mute = true
		g.step(Close{Timeout: time.Second})
		for i := 0; i < len(g.pend); i++ { // all but the last write are answered
			switch w := g.pend[i]; {
			case w.Key != leaseKey || !w.Delete || first == "acknowledgement":
				g.win(w, true)
			case first == "watch":
				g.sees(leaseKey, record.Lease{
					V: record.Version, Session: g.m.lease.number, Nonce: nonce, State: record.Closed,
				})
			}
		}
		if first == "deadline" {
			nonce = ""
		}
		g.run(2*time.Second, nil)
		told := 0
		for _, e := range g.effs {
			if e, is := e.(Ended); is {
				if told++; e.Closed != nonce {
					t.Errorf("%s: it says that %q is closed, want %q", first, e.Closed, nonce)
				}
			}
		}
		if told != 1 {
			t.Errorf("%s: it has ended %d times", first, told)
		}
	}
}
