package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

type handoverDoc struct {
	Role      string  `json:"role"`
	From      string  `json:"from"`
	FromEpoch uint64  `json:"from_epoch"`
	To        string  `json:"to"`
	Epoch     uint64  `json:"epoch"`
	Gap       float64 `json:"gap_seconds"`
	Forced    bool    `json:"forced"`
}

func TestStepDown(t *testing.T) {
	t.Parallel()
	p := at(t)
	a, b := p.pair("scheduler")
	epoch := a.Token().Epoch
	if r := p.run("step-down", "scheduler"); r.code != cli.ExitUsage || !strings.Contains(r.errors, "--yes") ||
		strings.Count(r.errors, "\n") != 1 {
		t.Errorf("off a terminal without --yes: exit %d, %q", r.code, r.errors)
	}
	if r := p.run("step-down", "scheduler", "--yes", "--epoch", fmt.Sprint(epoch+1)); r.code != cli.ExitFailed ||
		!strings.Contains(r.errors, fmt.Sprint(epoch)) {
		t.Errorf("at another epoch: exit %d, %q", r.code, r.errors)
	}
	if !a.IsLeader() {
		t.Fatal("a refusal has cost a the role")
	}
	d := document[handoverDoc](t, p.ok("step-down", "scheduler", "--yes", "--epoch", fmt.Sprint(epoch), "-o", "json").out)
	// The bucket keeps one revision: a late reader does not see the vacancy, and then the gap is
	// unknown.
	if d.Role != "scheduler" || d.From != "a" || d.FromEpoch != epoch || d.To != "b" || d.Epoch <= epoch || d.Gap < 0 ||
		d.Forced {
		t.Errorf("handed over: %+v", d)
	}
	if leads(t, b); b.Token().Epoch != d.Epoch {
		t.Errorf("b: %+v, the program says epoch %d", b.Status(), d.Epoch)
	}
	if r := p.run("step-down", "scheduler", "--yes"); r.code != cli.ExitNoLeader ||
		!strings.Contains(r.errors, "nobody has taken scheduler") ||
		!strings.HasPrefix(r.errors, "nobody is in line for scheduler") || !strings.Contains(r.out, "b gave up scheduler") {
		t.Errorf("with nobody left: exit %d, %s%s", r.code, r.out, r.errors)
	}
	if r := p.run("step-down", "scheduler", "--yes"); r.code != cli.ExitNoLeader {
		t.Errorf("of a role that nobody leads: exit %d, %s", r.code, r.errors)
	}
	if r := p.run("inspect", "scheduler"); r.code != cli.ExitNoLeader || !strings.Contains(r.out, "stepped down") {
		t.Errorf("inspect: exit %d, %s%s", r.code, r.out, r.errors)
	}
}

// TestSteerWhileItDrains: a leader whose work is still draining has stopped leading, and has not
// given up the role.
func TestSteerWhileItDrains(t *testing.T) {
	t.Parallel()
	p := at(t)
	s := p.member("a", func(c *election.SessionConfig) { c.DrainTimeout = time.Hour })
	release, draining := make(chan struct{}), make(chan struct{})
	e, err := s.Campaign(election.RoleConfig{
		Role: "scheduler", Priority: 3,
		Lead: func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			close(draining)
			<-release
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { // the session waits for its work
		select {
		case <-release:
		default:
			close(release)
		}
	}()
	leads(t, e)
	epoch := e.Token().Epoch
	b := contend(t, p.member("b"), election.RoleConfig{Role: "scheduler"})
	natstest.Eventually(t, "b is next", patience,
		func() (bool, string) { return e.Status().Successor == "b", e.Status().Successor })
	first := p.start("step-down", "scheduler", "--yes", "--wait", "1m")
	select {
	case <-draining:
	case <-time.After(patience):
		t.Fatalf("its work was not told to end: %s", first.errs.String())
	}
	for _, args := range [][]string{{"step-down", "scheduler"}, {"transfer", "scheduler", "b"}} {
		r := p.run(append(args, "--yes")...)
		if r.code != cli.ExitFailed ||
			!strings.Contains(r.errors, fmt.Sprintf("a is still draining its work for scheduler at epoch %d", epoch)) ||
			!strings.Contains(r.errors, "--force") || strings.Count(r.errors, "\n") != 1 {
			t.Errorf("%v: exit %d, %q", args, r.code, r.errors)
		}
	}
	close(release)
	if r := first.wait(); r.code != 0 || !strings.Contains(r.out, "b leads scheduler") {
		t.Errorf("the first: exit %d, %s%s", r.code, r.out, r.errors)
	}
	leads(t, b)
}

func TestStepDownByForce(t *testing.T) {
	t.Parallel()
	p := at(t)
	a, _ := p.pair("scheduler", func(c *election.SessionConfig) { c.TTL = 6 * time.Second })
	epoch := a.Token().Epoch
	r := p.ok("step-down", "scheduler", "--force", "--yes", "-o", "json")
	d := document[handoverDoc](t, r.out)
	if !d.Forced || d.To != "b" || d.FromEpoch != epoch {
		t.Errorf("%+v", d)
	}
	if d.Gap < 6 { // the server's own times: the successor waits for the whole lease, however busy the machine
		t.Errorf("the successor has waited %vs, want the whole lease of 6s", d.Gap)
	}
	if !strings.Contains(r.errors, "not waited for") || !strings.Contains(r.errors, "fencing tokens") {
		t.Errorf("it does not say what it risks: %q", r.errors)
	}
}

// TestConfirm: on a terminal it asks, and does nothing unless told to.
func TestConfirm(t *testing.T) {
	t.Parallel()
	p := at(t)
	a, b := p.pair("scheduler")
	for _, no := range []string{"n\n", "\n", "maybe\n", "\x04"} {
		proc, tty := p.onTerminal("step-down", "scheduler")
		proc.says(&proc.out, "next in line is b. Step it down? [y/N]")
		typed(t, tty, no)
		if r := proc.wait(); r.code != cli.ExitFailed || !strings.Contains(r.out, "nothing was done") || !a.IsLeader() {
			t.Errorf("answered %q: exit %d, %q", no, r.code, r.out)
		}
	}
	proc, tty := p.onTerminal("step-down", "scheduler", "--force")
	proc.says(&proc.out, "fencing tokens")
	typed(t, tty, "\x03")
	if r := proc.wait(); r.code == 0 || !a.IsLeader() {
		t.Errorf("Ctrl-C: exit %d, %q", r.code, r.out)
	}
	proc, tty = p.onTerminal("step-down", "scheduler")
	proc.says(&proc.out, "[y/N]")
	typed(t, tty, "y\n")
	if r := proc.wait(); r.code != 0 || !strings.Contains(r.out, "b leads scheduler at epoch") {
		t.Errorf("answered y: exit %d, %q", r.code, r.out)
	}
	leads(t, b)
}

// TestTransferAsks: on a terminal it asks, and does nothing unless told to: not when the terminal
// is closed, nor after Ctrl-C.
func TestTransferAsks(t *testing.T) {
	t.Parallel()
	p := at(t)
	a, b := p.pair("scheduler")
	epoch := a.Token().Epoch
	question := fmt.Sprintf("a leads scheduler at epoch %d. Hand it to b? [y/N]", epoch)
	for _, no := range []string{"n\n", "no\n", "\n", "b\n", "yesterday\n", "\x04", "\x03"} {
		proc, tty := p.onTerminal("transfer", "scheduler", "b")
		proc.says(&proc.out, question)
		typed(t, tty, no)
		code := cli.ExitFailed
		if no == "\x03" { // Ctrl-C
			code = 130
		}
		if r := proc.wait(); r.code != code || !strings.Contains(r.out, "nothing was done") {
			t.Errorf("answered %q: exit %d, %q", no, r.code, r.out)
		}
	}
	if !a.IsLeader() || a.Token().Epoch != epoch {
		t.Fatalf("a no has cost a the role: %+v", a.Status())
	}
	proc, tty := p.onTerminal("transfer", "scheduler", "b")
	proc.says(&proc.out, question)
	typed(t, tty, "yes\n")
	if r := proc.wait(); r.code != 0 || !strings.Contains(r.out, "b leads scheduler at epoch") {
		t.Errorf("answered yes: exit %d, %q", r.code, r.out)
	}
	leads(t, b)
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	p := at(t)
	a, _ := p.pair("scheduler")
	c := contend(t, p.member("c"), election.RoleConfig{Role: "scheduler"})
	for args, says := range map[string]string{
		"z": "candidates: b, c", "a": "a already leads scheduler",
	} {
		if r := p.run("transfer", "scheduler", args, "--yes"); r.code != cli.ExitFailed || !strings.Contains(r.errors, says) {
			t.Errorf("to %s: exit %d, %q", args, r.code, r.errors)
		}
	}
	if r := p.run("transfer", "scheduler", "c"); r.code != cli.ExitUsage || !a.IsLeader() {
		t.Errorf("without --yes: exit %d, %q", r.code, r.errors)
	}
	r := p.ok("transfer", "scheduler", "c", "--yes")
	if !strings.Contains(r.out, "c leads scheduler at epoch") {
		t.Errorf("%s%s", r.out, r.errors)
	}
	leads(t, c)
}
