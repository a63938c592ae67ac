package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// sees waits until the doctor says something of tasks.
func (p *place) sees(what, level, says string) {
	p.t.Helper()
	natstest.Eventually(p.t, what, patience, func() (bool, string) {
		d, _ := p.diagnosis()
		return d.has("tasks", level, says), fmt.Sprint(d)
	})
}

// TestDoctorTasks: it finds tasks that no worker will run, with the reason, a missing scheduler and
// a missing stream.
func TestDoctorTasks(t *testing.T) {
	t.Parallel()
	w := working(t)
	w.sees("all is well", "ok", "jobs: 0 open, handed out by a to 1 worker")
	w.sees("no object store yet", "ok", "jobs: there is no object store")
	js, err := jetstream.New(w.connect())
	if err != nil {
		t.Fatal(err)
	}
	w.ok("tasks", "create")
	s, err := js.Stream(t.Context(), "OBJ_TASKS_jobs")
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	cfg.AllowDirect = true
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	w.sees("an object store that lets records be forged", "critical", "jobs: stream OBJ_TASKS_jobs answers direct gets")
	if err := js.DeleteStream(t.Context(), "OBJ_TASKS_jobs"); err != nil {
		t.Fatal(err)
	}
	w.ok("tasks", "create")
	if d, _ := w.diagnosis(); d.has("tasks", "ok", "object store") || d.has("tasks", "critical", "direct gets") {
		t.Errorf("there is one, made by ourselves: %+v", d)
	}
	w.ok("tasks", "submit", "strange", "1", "--id", "unwanted")
	w.sees("nobody handles it", "warning", "jobs: 1 task of kind strange waiting: no worker handles it")
	if d := document[taskDoc](t,
		w.ok("tasks", "get", "unwanted", "-o", "json").out); d.Task.Reason != assign.ReasonNoWorker {
		t.Errorf("%+v", d)
	}
	for _, args := range []string{"ls", "get unwanted", "overview"} {
		if out := w.ok(append([]string{"tasks"}, strings.Fields(args)...)...).out; !strings.Contains(out, "no worker") {
			t.Errorf("tasks %s does not say why it waits:\n%s", args, out)
		}
	}
	w.ok("tasks", "submit", "double", "1", "--label", "disk=ssd", "--id", "picky")
	w.sees("nobody has its labels", "warning", "no worker that handles it has their labels")
	w.ok("tasks", "cancel", "picky")
	w.ok("tasks", "cancel", "unwanted")
	w.ok("tasks", "pause", "double")
	w.ok("tasks", "submit", "double", "1")
	w.sees("it is paused", "warning", "1 task of kind double waiting: it is paused")
	w.ok("tasks", "drain", "a")
	w.ok("tasks", "resume", "double")
	w.sees("the worker drains", "warning", "the workers for it are drained")
	w.ok("tasks", "undrain", "a")
	w.sees("all is well again", "ok", "jobs: 0 open")
	w.ok("tasks", "submit", "fail", "1", "--id", "broken")
	w.sees("a task is dead", "warning", "jobs: 1 dead task")
	w.ok("tasks", "rm", "broken")
	if err := w.scheduler.StepDown(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.sees("nobody schedules", "warning", "jobs: there is no scheduler; the last one was a at epoch")
	if d, _ := w.diagnosis(); !strings.Contains(fmt.Sprint(d), "(the last one led scheduler)") {
		t.Errorf("the role is not named: %+v", d)
	}
	if err := js.DeleteStream(t.Context(), "TASKS_jobs"); err != nil {
		t.Fatal(err)
	}
	w.sees("the stream is gone", "critical", "jobs: members work there, and stream TASKS_jobs does not exist")
}

// TestDoctorStaleSeal: a leader that does not answer for its tasks is found, and one that has not
// shut out its predecessor.
func TestDoctorStaleSeal(t *testing.T) {
	t.Parallel()
	p := at(t)
	e, _ := p.pair("scheduler")
	p.ok("tasks", "create", "jobs")
	nc := p.connect()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	epoch := e.Token().Epoch
	seal := func(holder string, epoch uint64) {
		t.Helper()
		record := fmt.Sprintf(`{"v":1,"epoch":%d,"holder":%q,"mark":"m"}`, epoch, holder)
		if _, err := js.Publish(t.Context(), "$KV.TASKS_jobs.seal", []byte(record)); err != nil {
			t.Fatal(err)
		}
	}
	seal("before", epoch-1)
	p.sees("nobody answers", "warning", "there is no scheduler; the last one was before at epoch")
	seal("a", epoch)
	p.sees("the leader is mute", "critical", "a leads scheduler, and does not answer questions about tasks")
	r := p.run("tasks", "overview", "-n", "jobs")
	if r.code != cli.ExitNoLeader || !strings.Contains(r.errors, "no scheduler answers: a leads scheduler") ||
		!strings.Contains(r.errors, "if it has crashed, it holds the role until its lease ends, in ") {
		t.Errorf("the overview: exit %d, %s", r.code, r.errors)
	}
	seal("before", epoch-1)
	// as a scheduler answers that is behind with its seal
	if _, err := nc.Subscribe("$TASKS.jobs.*.ctl", func(m *nats.Msg) {
		answer := fmt.Sprintf(`{"ok":true,"overview":{"scheduler":"a","epoch":%d,"ready":false,"trouble":"the stream is full: raise max_bytes","kinds":[],"workers":[]}}`, epoch)
		_ = m.Respond([]byte(answer)) // without an answer the client reports a timeout
	}); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	p.sees("it is in trouble", "critical", "jobs: the stream is full: raise max_bytes")
	p.sees("its seal is another's", "warning", "the seal is still that of before at epoch")
	seal("a", epoch)
	p.sees("it has written its own", "warning", "a is still taking over")
}

// TestDoctorFullTasks: a stream of tasks that is full, or nearly, is found.
func TestDoctorFullTasks(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	p.ok("tasks", "create", "jobs")
	js, err := jetstream.New(p.connect())
	if err != nil {
		t.Fatal(err)
	}
	p.sees("an empty one", "ok", "jobs: no tasks, and no scheduler yet")
	for i := range 9 {
		p.ok("tasks", "submit", "-n", "jobs", "double", "1", "--id", fmt.Sprint("t", i))
	}
	limit := func(most int64) {
		t.Helper()
		s, err := js.Stream(t.Context(), "TASKS_jobs")
		if err != nil {
			t.Fatal(err)
		}
		cfg := s.CachedInfo().Config
		cfg.MaxMsgs = most
		if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	limit(10)
	p.sees("nearly full", "warning", "jobs: records of the stream: 9 of 10 used")
	limit(9)
	p.sees("full", "critical", "jobs: records of the stream: 9 of 9 used")
	d, _ := p.diagnosis()
	if !slices.ContainsFunc(d.Findings, func(f struct{ Check, Level, Message, Fix string }) bool {
		return f.Check == "tasks" && f.Fix != ""
	}) {
		t.Errorf("without what to do: %+v", d)
	}
	limit(-1)
	p.sees("with room again", "warning", "jobs: 9 records, and no scheduler yet")
	if d, _ = p.diagnosis(); d.has("tasks", "critical", "") || d.has("tasks", "warning", "records of the stream") {
		t.Errorf("it is no longer full: %+v", d)
	}
}
