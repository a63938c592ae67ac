package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

type eventDoc struct {
	Event string            `json:"event"`
	Task  assign.TaskStatus `json:"task"`
}

// told are the events of a run, and the states of their tasks.
func told(t *testing.T, out string) (all []string) {
	t.Helper()
	for _, e := range eachLine[eventDoc](t, out) {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Task.ID, e.Event, e.Task.State)))
	}
	return all
}

// tells waits until a run has written these events and no others.
func (p *process) tells(want ...string) {
	p.t.Helper()
	natstest.Eventually(p.t, p.name, patience, func() (bool, string) {
		all := told(p.t, p.out.String())
		return fmt.Sprint(all) == fmt.Sprint(want), fmt.Sprintf("%q, and not %q\n%s", all, want, p.errs.String())
	})
}

// TestTasksWatch: what begins, fails and ends is told as it happens.
func TestTasksWatch(t *testing.T) {
	t.Parallel()
	w := working(t)
	all, dead := w.start("tasks", "watch"), w.start("tasks", "watch", "--state", "dead")
	names := w.start("tasks", "watch", "-o", "name", "--kind", "fail", "--header", "tenant=a")
	screen, tty := w.onTerminal("tasks", "watch")
	for _, p := range []*process{all, dead, names} {
		p.says(&p.errs, "following")
	}
	screen.says(&screen.out, "following")
	w.ok("tasks", "submit", "double", "2", "--id", "two", "--wait")
	w.ok("tasks", "submit", "fail", "1", "--id", "broken", "--header", "tenant=a")
	all.tells("two submitted pending", "two running running", "two ended succeeded",
		"broken submitted pending", "broken running running", "broken ended dead")
	dead.tells("broken ended dead")
	names.says(&names.out, "broken\nbroken\nbroken\n")
	screen.says(&screen.out, "dead")
	out := screen.out.String()
	if !strings.Contains(out, "succeeded  two") || !strings.Contains(out, "permanent: it is broken?[2J") {
		t.Errorf("on a terminal: %q", out)
	}
	for _, p := range []*process{all, dead, names} {
		p.signal(syscall.SIGINT)
		if r := p.wait(); r.code != 0 {
			t.Errorf("%s: interrupted: exit %d, %s", p.name, r.code, r.errors)
		}
	}
	typed(t, tty, "\x03")
	if r := screen.wait(); r.code != 0 {
		t.Errorf("on a terminal: exit %d", r.code)
	}
}

// TestTasksFollow: one task is followed until it has ended, and the exit code says how.
func TestTasksFollow(t *testing.T) {
	t.Parallel()
	w := working(t)
	w.ok("tasks", "submit", "gate", "null", "--id", "gated")
	w.in("gated", assign.StateRunning)
	one, result := w.start("tasks", "get", "gated", "-f"), w.start("tasks", "get", "gated", "--follow", "--result")
	left := w.start("tasks", "get", "gated", "-f")
	for _, p := range []*process{one, left} {
		p.says(&p.out, `"running"`)
	}
	left.signal(syscall.SIGINT)
	if r := left.wait(); r.code != 130 {
		t.Errorf("interrupted: exit %d, %s", r.code, r.errors)
	}
	natstest.Eventually(t, "its epoch and its checkpoint are shown", patience, func() (bool, string) {
		r := w.ok("tasks", "get", "gated")
		return strings.Contains(r.out, "epoch: ") && strings.Contains(r.out, `checkpoint: {"half": true}`), r.out
	})
	if d := document[struct{ Checkpoint struct{ Half bool } }](t,
		w.ok("tasks", "get", "gated", "-o", "json").out); !d.Checkpoint.Half {
		t.Errorf("%+v", d)
	}
	close(w.open)
	if r := one.wait(); r.code != 0 || !strings.HasSuffix(told(t, r.out)[len(told(t, r.out))-1], "ended succeeded") {
		t.Errorf("exit %d, %s%s", r.code, r.out, r.errors)
	}
	if r := result.wait(); r.code != 0 || r.out != `"through"` {
		t.Errorf("its output: exit %d, %q, %s", r.code, r.out, r.errors)
	}
	w.run("tasks", "submit", "fail", "1", "--id", "broken", "--wait")
	if r := w.run("tasks", "get", "broken", "-f"); r.code != 1 || fmt.Sprint(told(t, r.out)) != "[broken ended dead]" {
		t.Errorf("a dead task: exit %d, %s", r.code, r.out)
	}
	if r := w.run("tasks", "get", "nothing", "-f"); r.code != 1 || !strings.Contains(r.errors, "nothing") {
		t.Errorf("no such task: exit %d, %s", r.code, r.errors)
	}
}

// TestNewestTasksFirst: by default --limit keeps the tasks that have ended first, and with --newest
// the last ones, the newest one first.
func TestNewestTasksFirst(t *testing.T) {
	t.Parallel()
	w := working(t)
	for _, id := range []string{"t1", "t2", "t3"} {
		w.ok("tasks", "submit", "double", "1", "--id", id, "--wait")
	}
	for args, want := range map[string]string{"--limit 1": "t1", "--limit 2 --newest": "t3 t2", "--newest": "t3 t2 t1"} {
		r := w.ok(append([]string{"tasks", "ls", "-o", "name"}, strings.Fields(args)...)...)
		if got := strings.Join(strings.Fields(r.out), " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}
