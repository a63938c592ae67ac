package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

type changeDoc struct {
	Change string                 `json:"change"`
	Role   *inventory.RoleState   `json:"role"`
	Member *inventory.MemberState `json:"member"`
}

// TestWatchLines: off a terminal every change is a line of JSON.
func TestWatchLines(t *testing.T) {
	t.Parallel()
	p := at(t)
	a, b := p.pair("scheduler")
	w := p.start("watch")
	seen := func(what string, is func(c changeDoc) bool) {
		t.Helper()
		natstest.Eventually(t, what, patience, func() (bool, string) {
			for _, c := range eachLine[changeDoc](t, w.out.String()) {
				if is(c) {
					return true, ""
				}
			}
			return false, w.out.String() + w.errs.String()
		})
	}
	seen("a leads", func(c changeDoc) bool {
		return c.Change == "present" && c.Role != nil && c.Role.Leader == "a" && c.Role.Epoch == a.Token().Epoch
	})
	seen("member b", func(c changeDoc) bool {
		return c.Change == "present" && c.Member != nil && c.Member.Instance == "b"
	})
	if err := a.StepDown(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen("b leads", func(c changeDoc) bool { return c.Change == "leader" && c.Role.Leader == "b" })
	leads(t, b)
	c := p.member("c")
	seen("c has joined", func(c changeDoc) bool { return c.Change == "joined" && c.Member.Instance == "c" })
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen("c has left", func(c changeDoc) bool {
		return c.Change == "left" && c.Member.Instance == "c" && c.Member.State == "gone"
	})
	if err := p.server.Restart(); err != nil {
		t.Fatal(err)
	}
	seen("the outage", func(c changeDoc) bool { return c.Change == "disconnected" })
	seen("its end", func(c changeDoc) bool { return c.Change == "connected" })
	w.signal(syscall.SIGINT)
	if r := w.wait(); r.code != 0 {
		t.Errorf("interrupted: exit %d, %s", r.code, r.errors)
	}
}

// TestWatchNames: with -o name each line is the name of a role: first of each role, then of each
// role whose leader has changed. Other changes write nothing.
func TestWatchNames(t *testing.T) {
	t.Parallel()
	p := at(t)
	a, b := p.pair("scheduler")
	leads(t, contend(t, p.member("c"), election.RoleConfig{Role: "metrics"}))
	all, one := p.start("watch", "-o", "name"), p.start("watch", "scheduler", "-o", "name")
	all.says(&all.out, "metrics\nscheduler\n")
	one.says(&one.out, "scheduler\n")
	p.member("d") // no role of its own
	if err := a.StepDown(t.Context()); err != nil {
		t.Fatal(err)
	}
	leads(t, b)
	all.says(&all.out, "metrics\nscheduler\nscheduler\n")
	one.says(&one.out, "scheduler\nscheduler\n")
	for _, w := range []*process{all, one} {
		w.signal(syscall.SIGINT)
		r := w.wait()
		if rest := strings.NewReplacer("metrics\n", "", "scheduler\n", "").Replace(r.out); r.code != 0 || rest != "" {
			t.Errorf("%s: exit %d, %q", w.name, r.code, r.out)
		}
		if w == one && strings.Contains(r.out, "metrics") {
			t.Errorf("of one role: %q", r.out)
		}
	}
}

// TestWatchNamesOnce: a change of leader is one line, though several events tell of it.
func TestWatchNamesOnce(t *testing.T) {
	t.Parallel()
	p := at(t)
	solo := contend(t, p.member("a"), election.RoleConfig{Role: "solo"})
	mark := contend(t, p.member("b"), election.RoleConfig{Role: "mark"})
	leads(t, solo)
	leads(t, mark)
	w := p.start("watch", "-o", "name")
	w.says(&w.out, "mark\nsolo\n")
	for _, e := range []*election.Election{solo, mark} { // nobody takes them
		before := w.out.String()
		if err := e.StepDown(t.Context()); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "another line", patience, func() (bool, string) { return w.out.String() != before, before })
	}
	w.says(&w.out, "mark\nsolo\nsolo\nmark\n")
}

// TestWatchOnTerminal: on a terminal it is a table on the other screen; the last one stays on the
// ordinary one.
func TestWatchOnTerminal(t *testing.T) {
	t.Parallel()
	const other, back, red = "\x1b[?1049h", "\x1b[?1049l", "\x1b[31m"
	p := at(t)
	a, b := p.pair("scheduler")
	w, tty := p.onTerminal("watch")
	plain := place{t: t, server: p.server, env: append(p.env, "NO_COLOR=1")}
	pw, ptty := plain.onTerminal("watch")
	for _, w := range []*process{w, pw} {
		w.says(&w.out, other)
		w.says(&w.out, "scheduler  leading  a  ")
	}
	if err := pty.Setsize(ptty, &pty.Winsize{Rows: 30, Cols: 20}); err != nil {
		t.Fatal(err)
	}
	pw.says(&pw.out, "\nsch…uler  leading  a\r") // cut to the new width, and the letter at the edge stays
	if err := pty.Setsize(ptty, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	if err := a.StepDown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, w := range []*process{w, pw} {
		w.says(&w.out, "scheduler  leading  b  ")
	}
	leads(t, b)
	if err := b.StepDown(t.Context()); err != nil { // and nobody is left
		t.Fatal(err)
	}
	w.says(&w.out, red+"scheduler  vacant  -")
	pw.says(&pw.out, "scheduler  vacant  -")
	if strings.Contains(pw.out.String(), red) {
		t.Error("colours although NO_COLOR is set")
	}
	typed(t, tty, "\x03")
	typed(t, ptty, "\x03")
	for _, w := range []*process{w, pw} {
		r := w.wait()
		_, after, left := strings.Cut(r.out, back)
		if r.code != 0 || !left || !strings.Contains(after, "ROLE") {
			t.Errorf("after Ctrl-C: exit %d, and the ordinary screen has %q", r.code, after)
		}
	}
}

// TestSilentLeader: a leader whose heartbeats have ceased, and whom nobody replaces, leads no more
// for anybody who asks. That is said on a terminal in red, as a change, and by the exit code.
func TestSilentLeader(t *testing.T) {
	t.Parallel()
	const red = "\x1b[31m"
	p := at(t)
	link := p.server.Link()
	a := p.memberOver(p.connect(append(link.Options(), nats.MaxReconnects(-1))...),
		"worker-of-tenant-billing-7c9f8d6b5-x2x9z-01", func(c *election.SessionConfig) { c.TTL = 3 * time.Second })
	leads(t, contend(t, a, election.RoleConfig{Role: "invoices-of-tenant-billing-0001"}))
	role := "invoices-of-tenant-billing-0001"
	p.ok("inspect", role)
	if members := p.ok("members", "--color", "always").out; strings.Contains(members, red) {
		t.Errorf("a member that is not silent:\n%q", members)
	}
	w, _ := p.onTerminal("watch")
	lines := p.start("watch")
	w.says(&w.out, "leading")
	link.Cut()
	w.says(&w.out, red+"invoice…")
	lines.says(&lines.out, `"change":"silent"`)
	r := p.run("inspect", role, "-o", "json")
	if d := document[inspectDoc](t, r.out); r.code != cli.ExitNoLeader || d.State != election.RoleSilent ||
		d.Leader == "" || d.HeartbeatSeconds < 3 {
		t.Errorf("inspect: exit %d, %s", r.code, r.out)
	}
	if r := p.run("inspect", role); r.code != cli.ExitNoLeader || !strings.Contains(r.out, "silent") ||
		!strings.Contains(r.out, "no heartbeat of worker-of-") {
		t.Errorf("inspect: exit %d, %s", r.code, r.out)
	}
	p.columns = 80
	narrow, _ := p.onTerminal("roles", "--color", "never")
	out := narrow.wait().out
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\r\n")); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if !strings.Contains(out, "silent") || !strings.Contains(out, "…") || !strings.Contains(out, "HEARTBEAT") ||
		strings.Contains(out, "\x1b[3") {
		t.Errorf("on 80 columns:\n%s", out)
	}
	if colored := p.ok("roles", "--color", "always").out; !strings.Contains(colored, red+role) {
		t.Errorf("with colours:\n%q", colored)
	}
	if members := p.ok("members", "--color", "always").out; !strings.Contains(members, red+"worker-of-tenant") {
		t.Errorf("members with colours:\n%q", members)
	}
	if members := p.ok("members").out; !strings.Contains(members, "silent") || strings.Contains(members, "\x1b") {
		t.Errorf("members, not on a terminal:\n%q", members)
	}
	link.Heal()
}
