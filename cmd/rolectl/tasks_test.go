package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

type tasksDoc struct {
	Tasks []assign.TaskStatus `json:"tasks"`
	More  bool                `json:"more"`
}

type taskDoc struct {
	Task   assign.TaskStatus `json:"task"`
	Result json.RawMessage   `json:"result"`
	Bytes  []byte            `json:"result_bytes"`
}

// works is a scheduler that runs its tasks itself: "double" doubles numbers, "gate" waits until it
// is opened, "fail" fails.
type works struct {
	*place
	scheduler *election.Election
	open      chan struct{}
}

func working(t *testing.T) *works {
	t.Helper()
	p := at(t)
	p.env = slices.Clip(append(p.env, "TASKS_NAMESPACE=jobs"))
	w := &works{place: p, open: make(chan struct{})}
	s, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", BucketAutoCreate: true, InstanceID: "a",
		TTL: 20 * time.Second, CoolDown: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := assign.New(s, assign.Config{
		Namespace: "jobs", Role: "scheduler", StreamAutoCreate: true, Slots: 4,
		DrainTimeout: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	handlers := errors.Join(
		assign.Handle(a, assign.NewKind[int, int]("double"),
			func(_ context.Context, t *assign.Task[int]) (int, error) { return 2 * t.Input, nil }),
		assign.Handle(a, assign.NewKind[any, string]("gate"), func(ctx context.Context, t *assign.Task[any]) (string, error) {
			if err := t.Progress(ctx, 0.5, []byte(`{"half": true}`)); err != nil {
				return "", err
			}
			select {
			case <-w.open:
				return "through", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}),
		assign.Handle(a, assign.NewKind[any, any]("fail"), func(context.Context, *assign.Task[any]) (any, error) {
			return nil, assign.Permanent(errors.New("it is broken\x1b[2J"))
		}),
	)
	if handlers != nil {
		t.Fatal(handlers)
	}
	if err := s.Open(t.Context(), p.connect()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	if w.scheduler, err = s.Campaign(election.RoleConfig{Role: "scheduler", Lead: a.Lead}); err != nil {
		t.Fatal(err)
	}
	if err := w.scheduler.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "a schedules", patience, func() (bool, string) { // its term begins before its stream is there
		r := w.run("tasks", "overview", "-o", "json")
		return r.code == 0 && document[overviewDoc](t, r.out).Ready, r.out + r.errors
	})
	return w
}

// in waits until a task is in a state.
func (w *works) in(id string, state assign.State) assign.TaskStatus {
	w.t.Helper()
	var d taskDoc
	natstest.Eventually(w.t, id+" is "+string(state), patience, func() (bool, string) {
		r := w.run("tasks", "get", id, "-o", "json")
		if r.code != 0 {
			return false, r.errors
		}
		d = document[taskDoc](w.t, r.out)
		return d.Task.State == state, r.out
	})
	return d.Task
}

func TestTasksSubmit(t *testing.T) {
	t.Parallel()
	w := working(t)
	if r := w.run("tasks", "submit", "double", "21", "--wait"); r.code != 0 || r.out != "42" {
		t.Errorf("exit %d, %q, %s", r.code, r.out, r.errors)
	}
	id := strings.TrimSpace(w.ok("tasks", "submit", "double", "4", "--id", "mine").out)
	if id != "mine" {
		t.Errorf("id %q", id)
	}
	if s := w.in("mine", assign.StateSucceeded); s.Kind != "double" || s.Attempts != 1 {
		t.Errorf("%+v", s)
	}
	if out := w.ok("tasks", "get", "mine", "--result").out; out != "8" {
		t.Errorf("result %q", out)
	}
	if r := w.ok("tasks", "submit", "double", "5", "--id", "mine", "-o", "json"); !document[struct{ Existing bool }](t,
		r.out).Existing {
		t.Errorf("submitted twice: %s", r.out)
	}
	if d := document[taskDoc](t,
		w.ok("tasks", "submit", "double", "--wait", "-o", "json", "3").out); d.Task.State != assign.StateSucceeded ||
		string(d.Result) != "6" {
		t.Errorf("%+v", d)
	}
	if d := document[taskDoc](t, w.ok("tasks", "get", "mine", "--result", "-o", "json").out); d.Task.ID != "mine" ||
		string(d.Result) != "8" {
		t.Errorf("%+v", d)
	}
	if d := document[taskDoc](t, w.ok("tasks", "get", "mine", "-o", "json").out); d.Result != nil {
		t.Errorf("a result that nobody has asked for: %+v", d)
	}
	r := w.run("tasks", "submit", "fail", "{}", "--wait")
	if r.code != cli.ExitFailed || r.out != "" || !strings.Contains(r.errors, "it is broken") {
		t.Errorf("a task that fails: exit %d, %q, %q", r.code, r.out, r.errors)
	}
	if strings.Contains(r.errors, "\x1b") {
		t.Errorf("what a handler returns steers the terminal: %q", r.errors)
	}
	for args, says := range map[string]string{
		"submit double {":                     "not JSON",
		"submit double 1 --id a..b":           "a..b",
		"submit dou*ble 1":                    "dou*ble",
		"submit double 1 --priority 1000":     "priority",
		"get a..b":                            "invalid task id",
		"ls --limit 0":                        "use 1 or more",
		"ls --state tired":                    "tired",
		"cron set n double never 1":           "never",
		"cron set n double @daily 1 --zone X": "X",
		"dance":                               "unknown command",
	} {
		r := w.run(append([]string{"tasks"}, strings.Fields(args)...)...)
		if r.code != cli.ExitUsage || !strings.Contains(r.errors, says) || strings.Count(r.errors, "\n") != 1 {
			t.Errorf("%s: exit %d, %q", args, r.code, r.errors)
		}
	}
	if r := w.run("tasks", "ls", "-n", ""); r.code != cli.ExitUsage || !strings.Contains(r.errors, "--namespace") {
		t.Errorf("without a namespace: exit %d, %q", r.code, r.errors)
	}
	if r := w.run("tasks", "ls", "-n", "none"); r.code != cli.ExitFailed || !strings.Contains(r.errors, "TASKS_none") {
		t.Errorf("of a namespace that is not there: exit %d, %q", r.code, r.errors)
	}
	if r := w.run("tasks", "get", "nothing"); r.code != cli.ExitFailed || !strings.Contains(r.errors, "not found") {
		t.Errorf("a task that is not there: exit %d, %q", r.code, r.errors)
	}
}

// TestTasksProgress: on a terminal a bar shows how far a task is; interrupting the wait leaves it
// as it is.
func TestTasksProgress(t *testing.T) {
	t.Parallel()
	w := working(t)
	proc, tty := w.onTerminal("tasks", "submit", "gate", "{}", "--id", "slow", "--wait")
	proc.says(&proc.out, "slow  [###############...............]  50 %  running by a")
	again, other := w.onTerminal("tasks", "submit", "gate", "{}", "--id", "slow", "--wait")
	again.says(&again.out, "50 %")
	if r := w.run("tasks", "submit", "gate", "{}", "--id", "slow", "--wait", "--wait-timeout",
		"1ms"); r.code != cli.ExitFailed || !strings.Contains(r.errors, "slow has not ended within 1ms") {
		t.Errorf("waited for as long as was said: exit %d, %q", r.code, r.errors)
	}
	typed(t, other, "\x03")
	if r := again.wait(); r.code != 130 || !strings.Contains(r.out, "slow continues") {
		t.Errorf("interrupted: exit %d, %q", r.code, r.out)
	}
	w.in("slow", assign.StateRunning)
	close(w.open)
	if r := proc.wait(); r.code != 0 || !strings.Contains(r.out, "100 %") || !strings.Contains(r.out, `"through"`) {
		t.Errorf("exit %d, %q", r.code, r.out)
	}
	_ = tty
}

// TestTasksWaitSaysWhy: off a terminal a wait says why the task waits, each reason once, and what
// to do about it.
func TestTasksWaitSaysWhy(t *testing.T) {
	t.Parallel()
	w := working(t)
	w.ok("tasks", "pause", "double")
	proc := w.start("tasks", "submit", "double", "21", "--id", "held", "--wait")
	const paused = "held waits: it is paused: rolectl tasks resume -n jobs double\n"
	proc.says(&proc.errs, paused)
	nobody := w.start("tasks", "submit", "unheard.v1", "1", "--id", "lost", "--wait", "-o", "json")
	nobody.says(&nobody.errs, "lost waits: no worker handles it")
	bar, tty := w.onTerminal("tasks", "submit", "unheard.v1", "1", "--id", "seen", "--wait")
	bar.says(&bar.out, "pending: no worker handles it")
	typed(t, tty, "\x03")
	bar.wait()
	w.ok("tasks", "resume", "double")
	if r := proc.wait(); r.code != 0 || r.out != "42" || strings.Count(r.errors, paused) != 1 {
		t.Errorf("exit %d, %q, %q", r.code, r.out, r.errors)
	}
	if err := w.scheduler.StepDown(t.Context()); err != nil {
		t.Fatal(err)
	}
	nobody.says(&nobody.errs, "lost waits: no scheduler answers")
	for _, n := range eachLine[noteDoc](t, nobody.errs.String()) {
		if n.Kind != "note" {
			t.Errorf("%+v", n)
		}
	}
}

func TestTasksList(t *testing.T) {
	t.Parallel()
	w := working(t)
	w.ok("tasks", "submit", "gate", "{}", "--id", "open-1", "--header", "from=test")
	if s := w.in("open-1", assign.StateRunning); s.Headers["from"] != "test" {
		t.Errorf("%+v", s)
	}
	w.ok("tasks", "submit", "double", "1", "--id", "open-2", "--delay", "1h")
	w.in("open-2", assign.StateDelayed)
	w.run("tasks", "submit", "fail", "{}", "--id", "ended-1", "--wait")
	w.ok("tasks", "submit", "double", "1", "--id", "ended-2", "--wait")

	ids := func(args ...string) string {
		t.Helper()
		return strings.Join(strings.Fields(w.ok(append([]string{"tasks", "ls", "-o", "name"}, args...)...).out), " ")
	}
	for args, want := range map[string]string{
		"--state running": "open-1", "--state dead": "ended-1", "--prefix ended": "ended-1 ended-2",
		"--kind double --state succeeded": "ended-2",
		"--kind nothing":                  "", "--prefix open --state delayed,running --kind gate": "open-1",
	} {
		if got := ids(strings.Fields(args)...); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	if d := document[tasksDoc](t, w.ok("tasks", "ls", "-o", "json").out); len(d.Tasks) != 4 || d.More {
		t.Errorf("all: %+v", d)
	}
	if d := document[tasksDoc](t, w.ok("tasks", "ls", "-o", "json", "--limit", "3").out); len(d.Tasks) != 3 || !d.More {
		t.Errorf("three: %+v", d)
	}
	table := w.ok("tasks", "ls", "-o", "wide").out
	if !strings.Contains(table, "50 %") || !strings.Contains(table, "due in") ||
		!strings.Contains(table, "it is broken?[2J") || strings.Contains(table, "\x1b") {
		t.Errorf("table:\n%q", table)
	}
	const dead, red, plain = "ended-1", "\x1b[31m", "ended-2"
	for args, is := range map[string]bool{"--color always": true, "--color never": false, "": false} {
		r := w.ok(append([]string{"tasks", "ls"}, strings.Fields(args)...)...)
		if got := strings.Contains(r.out, red+dead); got != is || strings.Contains(r.out, red+plain) {
			t.Errorf("a dead task is red with %q: %t\n%q", args, got, r.out)
		}
	}

	if err := w.scheduler.StepDown(t.Context()); err != nil { // and nobody schedules
		t.Fatal(err)
	}
	r := w.run("tasks", "ls", "-o", "name")
	if r.code != cli.ExitNoLeader || strings.Contains(r.out, "open") || !strings.Contains(r.out, "ended-1") ||
		!strings.Contains(r.errors, "only tasks that have ended") {
		t.Errorf("without a scheduler: exit %d, %q, %q", r.code, r.out, r.errors)
	}
	if got := ids("--state", "dead"); got != "ended-1" {
		t.Errorf("dead, without a scheduler: %q", got)
	}
	if r := w.run("tasks", "overview"); r.code != cli.ExitNoLeader {
		t.Errorf("overview without a scheduler: exit %d, %s", r.code, r.errors)
	}
	natstest.Eventually(t, "cancel without a scheduler", patience, func() (bool, string) { // a busy server may take longer
		r := w.run("tasks", "cancel", "open-2", "--timeout", "1s")
		return r.code == cli.ExitNoLeader && strings.Contains(r.errors, "takes effect when a scheduler leads"),
			fmt.Sprintf("exit %d, %s", r.code, r.errors)
	})
}

type overviewDoc struct {
	assign.Overview
	Held []struct {
		Kind, Instance, Reason string
		Since                  time.Time
	} `json:"held"`
}

func TestTasksSteer(t *testing.T) {
	t.Parallel()
	w := working(t)
	overview := func(what string, is func(o overviewDoc) bool) {
		t.Helper()
		natstest.Eventually(t, what, patience, func() (bool, string) {
			out := w.ok("tasks", "overview", "-o", "json").out
			return is(document[overviewDoc](t, out)), out
		})
	}
	// when the scheduler is too busy to be asked, it is done instead
	says := func(code int, says, args string, undo ...string) {
		t.Helper()
		natstest.Eventually(t, args, patience, func() (bool, string) {
			r := w.run(append([]string{"tasks"}, strings.Fields(args)...)...)
			if r.code == 0 && len(undo) > 0 {
				w.ok(undo...)
			}
			return r.code == code && strings.Contains(r.errors, says) && strings.Count(r.errors, "\n") == 1, r.errors
		})
	}
	says(cli.ExitFailed, `unknown worker "nosuch": the scheduler knows a; give --force`, "drain nosuch", "tasks", "undrain", "nosuch")
	says(cli.ExitFailed, `unknown kind "nosuch": the scheduler knows double, fail, gate; give --force`, "pause nosuch", "tasks", "resume", "nosuch")
	says(0, "nosuch was not paused: no kind is paused", "resume nosuch")
	says(0, "a was not drained", "undrain a")
	w.ok("tasks", "drain", "nosuch", "--force")
	w.ok("tasks", "pause", "nosuch", "--force")
	overview("a kind that is still to come is paused", func(o overviewDoc) bool {
		return len(o.Kinds) == 1 && o.Kinds[0].Kind == "nosuch" && o.Kinds[0].Paused
	})
	if out := w.ok("tasks", "overview").out; !strings.Contains(out, "absent, drained for ") {
		t.Errorf("as text:\n%s", out)
	}
	says(0, "double was not paused: paused kinds: nosuch", "resume double")
	w.ok("tasks", "resume", "nosuch")
	w.ok("tasks", "undrain", "nosuch")
	overview("nothing is paused", func(o overviewDoc) bool { return len(o.Kinds)+len(o.Held) == 0 })
	w.ok("tasks", "pause", "double", "--reason", "test")
	w.ok("tasks", "submit", "double", "1", "--id", "held")
	overview("double is paused", func(o overviewDoc) bool {
		return len(o.Kinds) == 1 && o.Kinds[0].Paused && o.Kinds[0].Waiting == 1 && o.Scheduler == "a" && o.Ready &&
			len(o.Held) == 1 && o.Held[0].Kind == "double" && o.Held[0].Reason == "test" && !o.Held[0].Since.IsZero()
	})
	w.in("held", assign.StatePending)
	w.ok("tasks", "resume", "double")
	w.in("held", assign.StateSucceeded)

	w.ok("tasks", "drain", "a", "--reason", "new\x1b[2J kernel")
	overview("a is drained", func(o overviewDoc) bool {
		return len(o.Workers) == 1 && o.Workers[0].Drained && len(o.Held) == 1 && o.Held[0].Instance == "a"
	})
	if out := w.ok("tasks", "overview").out; !strings.Contains(out, "a hands out tasks") ||
		!strings.Contains(out, "drained for ") || !strings.Contains(out, ": new?[2J kernel") {
		t.Errorf("as text:\n%s", out)
	}
	w.ok("tasks", "submit", "gate", "{}", "--id", "waits")
	w.in("waits", assign.StatePending)
	w.ok("tasks", "undrain", "a")
	w.in("waits", assign.StateRunning)

	w.ok("tasks", "cancel", "waits")
	w.in("waits", assign.StateCancelled)
	if r := w.run("tasks", "cancel", "held"); r.code != cli.ExitFailed || !strings.Contains(r.errors, "succeeded") {
		t.Errorf("cancel of one that has ended: exit %d, %s", r.code, r.errors)
	}
	if r := w.run("tasks", "requeue", "held"); r.code != cli.ExitFailed || !strings.Contains(r.errors, "not dead") {
		t.Errorf("requeue of one that is not dead: exit %d, %s", r.code, r.errors)
	}
	w.run("tasks", "submit", "fail", "{}", "--id", "again", "--wait")
	first := w.in("again", assign.StateDead)
	w.ok("tasks", "requeue", "again")
	natstest.Eventually(t, "it has run again", patience, func() (bool, string) {
		s := w.in("again", assign.StateDead)
		return s.Ended.After(first.Ended), s.Ended.String()
	})

	waiting := w.start("tasks", "submit", "gate", "{}", "--id", "left", "--wait")
	w.in("left", assign.StateRunning)
	waiting.signal(syscall.SIGINT)
	if r := waiting.wait(); r.code != 130 || !strings.Contains(r.errors, "left continues") {
		t.Errorf("interrupted: exit %d, %s", r.code, r.errors)
	}
	w.in("left", assign.StateRunning)
	close(w.open)
	w.in("left", assign.StateSucceeded)
}

// TestTasksDead: a dead task is shown with all that is known of it, submitted again with another
// input, and removed.
func TestTasksDead(t *testing.T) {
	t.Parallel()
	w := working(t)
	w.run("tasks", "submit", "fail", `{"a":1}`, "--id", "dead", "--wait")
	before := w.in("dead", assign.StateDead)
	out := w.ok("tasks", "get", "dead").out
	for _, part := range []string{`input: {"a":1}`, "kept until: ", "CAUSE", before.Cause} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is missing in:\n%s", part, out)
		}
	}
	if left := time.Until(before.KeptUntil); left < 29*24*time.Hour || len(before.Failures) == 0 {
		t.Errorf("kept for %v, %+v", left, before.Failures)
	}
	if r := w.run("tasks", "requeue", "dead", "--input", "{"); r.code != cli.ExitUsage {
		t.Errorf("an input that is not JSON: exit %d, %s", r.code, r.errors)
	}
	w.ok("tasks", "requeue", "dead", "--input", `{"a":2}`)
	natstest.Eventually(t, "it is dead again", patience, func() (bool, string) {
		s := w.in("dead", assign.StateDead)
		return s.Ended.After(before.Ended), s.Ended.String()
	})
	type withInput struct {
		Input map[string]int `json:"input"`
	}
	if d := document[withInput](t, w.ok("tasks", "get", "dead", "-o", "json").out); d.Input["a"] != 2 {
		t.Errorf("its input is %v", d.Input)
	}
	w.ok("tasks", "rm", "dead")
	if r := w.run("tasks", "get", "dead"); r.code != cli.ExitFailed || !strings.Contains(r.errors, "not found") {
		t.Errorf("removed: exit %d, %s", r.code, r.errors)
	}
}

type bulkDoc struct {
	Done   int            `json:"done"`
	Needed int            `json:"needed"`
	Kinds  map[string]int `json:"kinds"`
}

// TestTasksBulk: commands for one task take all tasks that flags select, and count them first.
func TestTasksBulk(t *testing.T) {
	t.Parallel()
	w := working(t)
	for _, id := range []string{"x-1", "x-2", "y-1"} {
		w.run("tasks", "submit", "fail", "{}", "--id", id, "--header", "of="+id[:1], "--wait")
	}
	if d := document[bulkDoc](t, w.ok("tasks", "requeue", "--all", "--dry-run", "-o", "json").out); d.Done != 3 ||
		d.Kinds["fail"] != 3 {
		t.Errorf("%+v", d)
	}
	for _, wrong := range [][]string{
		{"requeue"},
		{"rm", "x-1", "--all"},
		{"rm", "--all"},
		{"rm", "--state", "running", "--all", "--yes"},
		{"cancel", "--since", "yesterday", "--yes"},
	} {
		if r := w.run(append([]string{"tasks"}, wrong...)...); r.code != cli.ExitUsage {
			t.Errorf("%v: exit %d, %s", wrong, r.code, r.errors)
		}
	}
	if out := w.ok("tasks", "ls", "--header", "of=x", "--since", "1h", "-o", "name").out; out != "x-1\nx-2\n" {
		t.Errorf("of x: %q", out)
	}
	if d := document[bulkDoc](t, w.ok("tasks", "rm", "--header", "of=x", "--yes", "-o", "json").out); d.Done != 2 {
		t.Errorf("%+v", d)
	}
	if out := w.ok("tasks", "ls", "-o", "name").out; out != "y-1\n" {
		t.Errorf("left: %q", out)
	}
}

// TestTasksRmOfWhatIsWaitedFor: it is left alone, and that is said, also by a dry run.
func TestTasksRmOfWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := working(t)
	w.ok("tasks", "submit", "double", "1", "--id", "first", "--wait")
	w.ok("tasks", "submit", "gate", "1", "--id", "second", "--after", "first")
	w.in("second", assign.StateRunning)
	r := w.run("tasks", "rm", "first", "-o", "json")
	if d := document[faultTestDoc](t, r.errors); r.code != cli.ExitFailed || d.Error.Code != "task_needed" ||
		!strings.Contains(d.Error.Message, "wait until that task has ended, or cancel it") {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
	for _, how := range []string{"--dry-run", "--yes"} {
		if d := document[bulkDoc](t, w.ok("tasks", "rm", "--all", how, "-o", "json").out); d.Done != 0 || d.Needed != 1 {
			t.Errorf("%s: %+v", how, d)
		}
		if r := w.ok("tasks", "rm", "--all", how); !strings.Contains(r.out+r.errors, "wait for their outcomes: 1 task") {
			t.Errorf("%s: %s%s", how, r.out, r.errors)
		}
	}
	close(w.open)
	w.in("second", assign.StateSucceeded)
	natstest.Eventually(t, "nobody waits for it", patience, func() (bool, string) {
		r := w.run("tasks", "rm", "first")
		return r.code == 0, r.errors
	})
}

type recurrencesDoc struct {
	Recurrences []assign.Recurrence `json:"recurrences"`
}

func TestTasksCron(t *testing.T) {
	t.Parallel()
	w := working(t)
	w.ok("tasks", "cron", "set", "soon", "double", "@every 1s", "1")
	w.ok("tasks", "cron", "set", "nightly", "double", "0 3 * * *", "2", "--zone", "Europe/Berlin", "--catch-up", "skip",
		"--overlap", "queue")
	d := document[recurrencesDoc](t, w.ok("tasks", "cron", "ls", "-o", "json").out)
	if len(d.Recurrences) != 2 || d.Recurrences[0].Name+d.Recurrences[1].Name != "soonnightly" &&
		d.Recurrences[0].Name+d.Recurrences[1].Name != "nightlysoon" {
		t.Errorf("%+v", d)
	}
	natstest.Eventually(t, "it recurs", patience, func() (bool, string) {
		out := w.ok("tasks", "ls", "--prefix", "cron/soon/", "--state", "succeeded", "-o", "name").out
		return strings.Count(out, "\n") >= 2, out
	})
	if out := w.ok("tasks", "cron", "ls").out; !strings.Contains(out, "Europe/Berlin") ||
		!strings.Contains(out, "@every 1s") {
		t.Errorf("table:\n%s", out)
	}
	if out := w.ok("tasks", "cron", "ls", "-o", "wide").out; !strings.Contains(out, "queue") ||
		!strings.Contains(out, "allow") {
		t.Errorf("wide:\n%s", out)
	}
	w.ok("tasks", "cron", "pause", "nightly", "--reason", "a migration")
	if out := w.ok("tasks", "cron", "ls", "--prefix", "night").out; !strings.Contains(out, "paused: a migration") ||
		strings.Contains(out, "soon") {
		t.Errorf("paused:\n%s", out)
	}
	id := strings.TrimSpace(w.ok("tasks", "cron", "run", "nightly", "-o", "name").out)
	natstest.Eventually(t, "it is run by hand", patience, func() (bool, string) {
		out := w.ok("tasks", "ls", "--prefix", "cron/nightly/run-", "--state", "succeeded", "-o", "name").out
		return out == id+"\n", out
	})
	type backfill struct{ Submitted, Existing []string }
	past := strings.Fields("tasks cron backfill nightly --from 2026-01-01T00:00:00Z --to 2026-01-04T00:00:00Z")
	dry := document[backfill](t, w.ok(append(past, "--dry-run", "-o", "json")...).out)
	if len(dry.Submitted) != 3 || dry.Submitted[0] != "cron/nightly/20260101T020000Z" {
		t.Errorf("a dry run: %+v", dry)
	}
	if out := w.ok(append(past, "--limit", "2")...); strings.Count(out.out, "\n") != 2 ||
		!strings.Contains(out.errors, "--from 2026-01-03T02:00:00Z") {
		t.Errorf("of more than the limit: %q, %q", out.out, out.errors)
	}
	if done := document[backfill](t, w.ok(append(past, "-o", "json")...).out); len(done.Submitted) != 1 ||
		len(done.Existing) != 2 {
		t.Errorf("the others: %+v", done)
	}
	for _, says := range []string{"nightly recurs again", "nightly was not paused"} {
		if r := w.ok("tasks", "cron", "resume", "nightly"); !strings.Contains(r.errors, says) {
			t.Errorf("resume: %q, want %q", r.errors, says)
		}
	}
	w.ok("tasks", "cron", "rm", "soon")
	if out := w.ok("tasks", "cron", "ls", "-o", "name").out; out != "nightly\n" {
		t.Errorf("after the removal: %q", out)
	}
	if r := w.run("tasks", "cron", "rm", "soon"); r.code != cli.ExitFailed || !strings.Contains(r.errors, "not found") {
		t.Errorf("removed twice: exit %d, %s", r.code, r.errors)
	}
}
