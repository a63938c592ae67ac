package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// beats is the trace of a command: the times at which it has run, by this machine's clock.
type beats struct {
	t    *testing.T
	file string
}

func newBeats(t *testing.T) beats {
	t.Helper()
	return beats{t, filepath.Join(t.TempDir(), "beats")}
}

// beating is a script that leaves a trace for as long as it runs.
func (b beats) beating() string {
	return fmt.Sprintf(`while :; do date +%%s%%N >> "%s"; sleep 0.03; done`, b.file)
}

// stubborn is one that ignores TERM.
func (b beats) stubborn() string { return `(trap '' TERM; ` + b.beating() + `)` }

// wait is a script that returns when there is a trace.
func (b beats) wait() string { return fmt.Sprintf(`until [ -s "%s" ]; do sleep 0.02; done`, b.file) }

func (b beats) times() (all []int64) {
	data, _ := os.ReadFile(b.file) // not there: nothing has run
	for _, f := range strings.Fields(string(data)) {
		if n, err := strconv.ParseInt(f, 10, 64); err == nil && len(f) == 19 {
			all = append(all, n)
		}
	}
	return all
}

func (b beats) begun() {
	b.t.Helper()
	natstest.Eventually(b.t, "the command runs", patience, func() (bool, string) { return len(b.times()) > 0, "no trace" })
}

// lives reports whether more is added to the trace; what runs adds ten lines a second at least on
// any machine that is alive.
func (b beats) lives() bool {
	before := len(b.times())
	time.Sleep(500 * time.Millisecond)
	return len(b.times()) != before
}

// next waits until others see that an instance is next for the role scheduler: its command says
// before that it contends.
func (p *place) next(instance string) {
	p.t.Helper()
	natstest.Eventually(p.t, instance+" is next", patience, func() (bool, string) {
		r := p.ok("roles", "scheduler", "-o", "json")
		return document[rolesDoc](p.t, r.out).Roles[0].Successor == instance, r.out
	})
}

// exclusive runs a's command and b's in waiting, does something to a, and checks that nothing of
// a's command ran any more when b's began: it is a grandchild that ignores TERM.
func exclusive(t *testing.T, p *place, env []string, disturb func(a *process), after func(a *process) result) result {
	t.Helper()
	first, second := newBeats(t), newBeats(t)
	mine := &place{t: t, server: p.server, env: env}
	a := mine.start("exec", "scheduler", "--ttl", "6s", "--instance", "a", "--", "sh", "-c", first.stubborn()+" & wait")
	first.begun()
	b := p.start("exec", "scheduler", "--ttl", "6s", "--instance", "b", "--", "sh", "-c", second.beating())
	p.next("b")
	disturb(a)
	second.begun()
	natstest.Eventually(t, "b continues", patience, func() (bool, string) {
		n := len(second.times())
		return n > 10, fmt.Sprint(n, " beats\n", b.errs.String())
	})
	r := after(a)
	old := first.times()
	if last, next := old[len(old)-1], second.times()[0]; last >= next {
		t.Errorf("the command of the former leader ran for %v beside that of the next", time.Duration(last-next))
	}
	if first.lives() {
		t.Error("the command of the former leader lives on")
	}
	return r
}

// TestExecStopped: while rolectl itself is stopped its command is ended all the same, before the
// next one begins.
func TestExecStopped(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	r := exclusive(t, p, p.env, func(a *process) { a.signal(syscall.SIGSTOP) }, func(a *process) result {
		a.signal(syscall.SIGCONT)
		return a.wait()
	})
	if r.code != cli.ExitLost {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
}

// TestExecKilled: so it is when rolectl is killed.
func TestExecKilled(t *testing.T) {
	thorough.Only(t, "its rule is that of TestExecStopped, and both wait for a lease")
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	exclusive(t, p, p.env, func(a *process) { a.signal(syscall.SIGKILL) }, (*process).wait)
}

// TestExecCutOff: so it is when nothing is heard of the server any more.
func TestExecCutOff(t *testing.T) {
	thorough.Only(t, "it waits for a lease")
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	u, err := url.Parse(p.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	link, err := natsrun.NewProxy(u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	// at its end it tries for so long to say so
	mine := append(p.env, "NATS_URL=nats://"+link.Addr(), "NATS_TIMEOUT=8s")
	r := exclusive(t, p, mine, func(*process) { link.Cut() }, (*process).wait)
	if r.code != cli.ExitLost {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
}

// TestExecEvicted: so it is when the role is taken by force.
func TestExecEvicted(t *testing.T) {
	thorough.Only(t, "it waits for a hand-over")
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	r := exclusive(t, p, p.env, func(*process) { p.ok("step-down", "scheduler", "--yes", "--force") }, (*process).wait)
	if r.code != cli.ExitLost || !strings.Contains(r.errors, "changed by somebody else") {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
}

// TestExecGuardKilled: without its guard the command is ended.
func TestExecGuardKilled(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	file := newBeats(t)
	e := p.start("exec", "scheduler", "--", "sh", "-c", `echo "group $(ps -o pgid= -p $$)"; `+file.beating())
	e.says(&e.out, "\n")
	file.begun()
	e.killGroupLeader()
	if r := e.wait(); r.code != cli.ExitFailed || !strings.Contains(r.errors, "guard of the command was killed") {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
	if file.lives() {
		t.Error("the command lives on")
	}
}

// killGroupLeader kills the guard of exec, whose number the command has printed.
func (p *process) killGroupLeader() {
	p.t.Helper()
	guard, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(p.out.String(), "group")))
	if err != nil || guard == p.cmd.Process.Pid {
		p.t.Fatalf("%v in %q", err, p.out.String())
	}
	if err := syscall.Kill(guard, syscall.SIGKILL); err != nil {
		p.t.Fatal(err)
	}
}
