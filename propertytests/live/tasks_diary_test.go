//go:build realtime

package live_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/tasks"
)

// slow is how much later than it should a process may do something on a busy machine.
const slow = 2 * time.Second

// pages are what one start of a child tells: of its terms, of the checkpoints that were
// acknowledged, and of the attempts that were given one, or were killed with it.
type pages struct{ terms, adopted, saved, resumed, killed int }

func (p *pages) add(q pages) {
	p.terms += q.terms
	p.adopted += q.adopted
	p.saved += q.saved
	p.resumed += q.resumed
	p.killed += q.killed
}

// readDiary turns what one start of a child has written into the ledger. Its handlers heed their
// contexts, but on a busy machine they may be slow to; if it was stopped, by as long as it was,
// too. A process that was killed has ended what it ran when it was.
func readDiary(t *testing.T, a *tasks.Arena, s *taskStart) (p pages) {
	t.Helper()
	stubborn := slow
	if s.stopped {
		stubborn += stoppedFor
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	running := map[string]*tasks.Run{}
	var all []*tasks.Run
	scan := bufio.NewScanner(strings.NewReader(string(data)))
	for scan.Scan() {
		text := scan.Text()
		var r tasks.Run
		var nanos int64
		var session, epoch uint64
		word, rest, _ := strings.Cut(text, " ")
		n, want := 0, 0
		switch word {
		case "opened":
			want = 1
			n, _ = fmt.Sscan(rest, &session)
		case "begin":
			want = 6
			if n, _ = fmt.Sscan(rest, &r.Task, &r.Epoch, &r.N, &r.Session, &r.Saved, &nanos); n == want {
				r.Process, r.Instance, r.Stubborn, r.From = s.process, s.name, stubborn, time.Unix(0, nanos)
				running[fmt.Sprint(r.Task, " ", r.Epoch, " ", r.N)] = &r
				all = append(all, &r)
			}
		case "end":
			want = 5
			if n, _ = fmt.Sscan(rest, &r.Task, &r.Epoch, &r.N, &r.How, &nanos); n == want {
				key := fmt.Sprint(r.Task, " ", r.Epoch, " ", r.N)
				running[key].To, running[key].How = time.Unix(0, nanos), r.How
				delete(running, key)
			}
		case "saved":
			want = 3
			var step int
			if n, _ = fmt.Sscan(rest, &r.Task, &step, &nanos); n == want {
				a.Ledger.Saved(r.Task, step, time.Unix(0, nanos))
				p.saved++
			}
		case "lost":
			want = 2
			if n, _ = fmt.Sscan(rest, &session, &nanos); n == want {
				a.Ledger.Lost(s.process, session, time.Unix(0, nanos))
			}
		case "leads":
			want = 1
			if n, _ = fmt.Sscan(rest, &epoch); n == want {
				p.terms++
			}
		case "recovered":
			want = 2
			var open, adopted int
			if n, _ = fmt.Sscan(rest, &open, &adopted); n == want {
				p.adopted += adopted
			}
		}
		if n != want && s.killed.IsZero() {
			t.Fatalf("%s wrote %q", s.process, text)
		}
	}
	for _, r := range all {
		if r.To.IsZero() && !s.killed.IsZero() {
			r.To, r.How = s.killed, "killed"
			p.killed++
		}
		if r.Saved > 0 {
			p.resumed++
		}
		a.Ledger.Add(*r)
	}
	return p
}

// underWay waits until a process has saved a checkpoint of a long way. If it is killed then, the
// next attempt continues from there.
func (c *taskChildren) underWay(name string) {
	c.t.Helper()
	natstest.Eventually(c.t, name+" has saved a long way", patience, func() (ok bool, seen string) {
		text := c.running[name].diary(c.t)
		return strings.Contains(text, "\nsaved "+longName), text
	})
}

// opened waits until each process that runs has opened its session. One that is told to end before
// has nothing to close, and may not have come to where it takes the signal.
func (c *taskChildren) opened() {
	c.t.Helper()
	for name, s := range c.running {
		natstest.Eventually(c.t, name+" has opened its session", patience, func() (ok bool, seen string) {
			text := "\n" + s.diary(c.t)
			return strings.Contains(text, "\nopened "), text
		})
	}
}

// resumed waits until an attempt has begun with a checkpoint. That may take a while: the tasks that
// a process was killed with run alone at first.
func (c *taskChildren) resumed() {
	c.t.Helper()
	natstest.Eventually(c.t, "an attempt begins with a checkpoint", patience, func() (ok bool, seen string) {
		for _, s := range c.starts {
			for line := range strings.Lines(s.diary(c.t)) {
				word := strings.Fields(line)
				if len(word) == 7 && word[0] == "begin" && word[5] != "0" {
					return true, line
				}
			}
		}
		return false, "none"
	})
}

// diary is what the process has written down until now.
func (s *taskStart) diary(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(s.path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}
