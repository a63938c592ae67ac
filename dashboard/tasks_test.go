package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// hostile is text that must stay text.
const hostile = `<img src=x onerror=alert(1)>"'` + "\x1b[31m\u202e\x00"

// work makes the namespace jobs with a scheduler, whose handler fails for good.
func work(t *testing.T, nc *nats.Conn) {
	t.Helper()
	session, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", InstanceID: "worker-1", TTL: 20 * time.Second,
		Meta: map[string]string{"program": "<q>program", "version": "<q>1", "zone": "<q>z"},
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := assign.New(session, assign.Config{Namespace: "jobs", Role: "jobs", StreamAutoCreate: true, Slots: 2})
	if err != nil {
		t.Fatal(err)
	}
	fail := func(context.Context, *assign.Task[string]) (string, error) {
		return "", assign.Permanent(errors.New("no such file: " + hostile))
	}
	if err := assign.Handle(a, assign.NewKind[string, string]("fail"), fail); err != nil {
		t.Fatal(err)
	}
	if err := assign.Handle(a, assign.NewKind[assign.GroupRef, string]("close"),
		func(context.Context, *assign.Task[assign.GroupRef]) (string, error) {
			return "", assign.Permanent(errors.New("nothing to close"))
		}); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	if err := assign.Handle(a, assign.NewKind[string, string]("keep"),
		func(ctx context.Context, task *assign.Task[string]) (string, error) {
			if err := task.Progress(ctx, 0.5, []byte("step 4"+hostile)); err != nil {
				return "", err
			}
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-over:
				return "", nil
			}
		}); err != nil {
		t.Fatal(err)
	}
	name, lead := a.Role()
	e, err := session.Campaign(election.RoleConfig{Role: name, Lead: lead})
	if err != nil {
		t.Fatal(err)
	}
	// The test's context ends before its clean-ups. Without a scheduler, the session that closes
	// would wait for an answer about the attempt.
	if err := e.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := session.Open(t.Context(), nc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		close(over)
		_ = session.Close(context.Background())
	})
}

// TestTasks: what waits and why is on the first screen. A dead task is found, with its error and
// its input. Hostile text stays text, and payloads are shown only when that is configured.
func TestTasks(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	var jobs *assign.Client
	clients := func(nc *nats.Conn, o *Options) {
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "jobs", StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		o.Tasks = []*assign.Client{c}
	}
	s := open(t, server, func(nc *nats.Conn, o *Options) {
		clients(nc, o)
		jobs, o.ShowPayloads = o.Tasks[0], true
	})
	if body := s.get("/", http.StatusOK); !strings.Contains(body, "there is no scheduler") {
		t.Error(body)
	}
	work(t, s.nc)
	dead, err := assign.Submit(t.Context(), jobs, assign.NewKind[string, string]("fail"), "1nput"+hostile,
		assign.WithID("dead-1"), assign.WithHeader("secret", "h34d3r"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dead.Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
		t.Fatal(err)
	}
	orphan := assign.NewKind[string, string]("orphan")
	if _, err := assign.Submit(t.Context(), jobs, orphan, "x", assign.WithID("o-1")); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the first screen says what waits", patience, func() (bool, string) {
		d := document[firstScreen](s, "/now.json")
		return d.Waiting == 1 && len(d.Waits) == 1 && d.Waits[0].Blocked, s.get("/now.json", 200)
	})
	body := s.get("/", http.StatusOK)
	for _, want := range []string{"no worker handles it", "start a process that handles this kind", "orphan"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	if d := document[membersData](s, "/members.json"); len(d.Members) != 1 || len(d.Members[0].Work) != 1 ||
		!d.Members[0].Work[0].Known || d.Members[0].Work[0].Slots != 2 || d.Members[0].Takes != "jobs" {
		t.Errorf("%+v", d)
	}
	kinds := document[tasksData](s, "/tasks.json").Kinds // one whose tasks have all ended has times too
	if len(kinds) != 2 || kinds[0].Oldest == nil || kinds[0].Oldest.ID != "o-1" || kinds[1].Kind != "fail" ||
		kinds[1].Waited == nil || kinds[1].Ran == nil {
		t.Errorf("%+v", kinds)
	}
	if body := s.get("/dead", http.StatusOK); !strings.Contains(body, `/task?id=dead-1&amp;n=jobs`) {
		t.Error(body)
	}
	task := "/task?" + url.Values{"n": {"jobs"}, "id": {"dead-1"}}.Encode()
	for _, path := range []string{
		task, "/dead", "/tasks?state=dead", "/members", "/", "/doctor",
		"/?q=" + url.QueryEscape(hostile), "/events?role=" + url.QueryEscape(hostile),
	} {
		body := s.get(path, http.StatusOK)
		for _, bad := range []string{"<img", "<q>", "\x1b", "\u202e", "\x00"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s holds %q:\n%s", path, bad, body)
			}
		}
	}
	body = s.get(task, http.StatusOK)
	for _, want := range []string{
		"no such file: &lt;img", "<h2>Input</h2><pre>&#34;1nput",
		"<dt>Epoch</dt><dd>", "h34d3r", "rolectl tasks requeue -n jobs dead-1",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	if body := s.get("/tasks?kind="+url.QueryEscape(hostile), http.StatusBadRequest); strings.Contains(body, "<img") {
		t.Error(body)
	}
	s.get("/task?id=none", http.StatusNotFound)
	s.get("/task?id=+", http.StatusNotFound)
	s.get("/tasks?n=other", http.StatusNotFound)
	s.get("/tasks?cursor=x", http.StatusBadRequest)

	closed, err := New(Options{Observer: s.h.options.Observer, Tasks: s.h.options.Tasks})
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	s.http.Config.Handler = closed
	for _, path := range []string{task, strings.Replace(task, "/task?", "/task.json?", 1)} {
		if body := s.get(path, http.StatusOK); strings.Contains(body, "1nput") || strings.Contains(body, "h34d3r") ||
			!strings.Contains(body, "inputs are not shown") {
			t.Errorf("%s shows a payload:\n%s", path, body)
		}
	}
}
