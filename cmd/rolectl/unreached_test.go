package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestAWorkerThatMessagesDoNotReach is in an account that imports only half of what tasks need. A
// task that nobody else takes waits, and overview, doctor and the task itself say why and for whom.
func TestAWorkerThatMessagesDoNotReach(t *testing.T) {
	thorough.Only(t, "it waits for leases")
	t.Parallel()
	accounts, err := server.ProcessConfigFile("../../assign/testdata/half.conf")
	if err != nil {
		t.Fatal(err)
	}
	p := at(t, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) { so.Accounts, so.Users = accounts.Accounts, accounts.Users }
	})
	p.env = slices.Clip(append(p.env, "TASKS_NAMESPACE=work", "NATS_USER=a", "NATS_PASSWORD=x"))
	p.half("a", nil)
	p.half("b", []string{"far"}, nats.CustomInboxPrefix("_INBOX_b"))
	p.ok("tasks", "submit", "far", "1", "--id", "lost")
	natstest.Eventually(t, "the overview says that b is unreachable", patience, func() (bool, string) {
		out := p.ok("tasks", "overview").out
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "b ") && strings.Contains(line, "unreachable") {
				return true, ""
			}
		}
		return false, out
	})
	if o := document[overviewDoc](t, p.ok("tasks", "overview", "-o", "json").out); !slices.ContainsFunc(o.Workers,
		func(w assign.WorkerOverview) bool { return w.Instance == "b" && w.Unreachable && w.Load == 0 }) {
		t.Errorf("%+v", o.Workers)
	}
	natstest.Eventually(t, "doctor names it", patience, func() (bool, string) {
		d, _ := p.diagnosis()
		return d.has("tasks", "warning", "b") && d.has("tasks", "warning", "it is given nothing"), fmt.Sprint(d)
	})
	d := document[taskDoc](t, p.ok("tasks", "get", "lost", "-o", "json").out)
	if d.Task.Reason != assign.ReasonUnreachable {
		t.Errorf("the task waits for %q", d.Task.Reason)
	}
}

// half is a process in the account of that name. A process of the account that imports the store
// leads nothing, and handles some kinds of tasks.
func (p *place) half(name string, kinds []string, options ...nats.Option) {
	p.t.Helper()
	cfg := election.SessionConfig{Bucket: "roles", BucketAutoCreate: true, InstanceID: name, TTL: 8 * time.Second}
	tasks := assign.Config{
		Namespace: "work", Role: "scheduler", StreamAutoCreate: true, Slots: 4, DrainTimeout: time.Second,
	}
	if imports := len(kinds) > 0; imports {
		cfg.APIPrefix, cfg.BucketAutoCreate, tasks.StreamAutoCreate = "JS.A.API", false, false
	}
	s, err := election.NewSession(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	a, err := assign.New(s, tasks)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, kind := range kinds {
		if err := assign.Handle(a, assign.NewKind[int, int](kind),
			func(_ context.Context, t *assign.Task[int]) (int, error) { return t.Input, nil }); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := s.Open(p.t.Context(), p.connect(append(options, nats.UserInfo(name, "x"))...)); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = s.Close(context.Background()) })
	if len(kinds) > 0 {
		return
	}
	e, err := s.Campaign(election.RoleConfig{Role: "scheduler", Lead: a.Lead})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := e.Start(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	natstest.Eventually(p.t, name+" schedules", patience, func() (bool, string) {
		r := p.run("tasks", "overview", "-o", "json")
		return r.code == 0 && document[overviewDoc](p.t, r.out).Ready, r.out + r.errors
	})
}
