package roles_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// Every event has a line at its level, with the fields by which lines are found again.
func TestEveryEventIsLogged(t *testing.T) {
	meta := event.Meta{Bucket: "roles", Instance: "a", Session: 41, Correlation: "s29/x"}
	fault := errors.New("unanswered")
	for _, is := range []struct {
		event   event.Event
		level   zapcore.Level
		message string
		fields  string
	}{
		{
			event.RolePromoted{Meta: meta, Role: "r", Epoch: 42, Priority: 3, Gap: time.Second},
			zap.InfoLevel, "promoted",
			"role:r epoch:42 priority:3 gap:1s",
		},
		{
			event.RoleDemoted{Meta: meta, Role: "r", Epoch: 42, Reason: "paused", Led: time.Hour},
			zap.InfoLevel, "demoted",
			"role:r epoch:42 reason:paused led:1h0m0s",
		},
		{event.RoleDrained{Meta: meta, Role: "r", Epoch: 42}, zap.InfoLevel, "drained", "role:r epoch:42"},
		{event.RoleRotated{Meta: meta, Role: "r", Epoch: 43}, zap.InfoLevel, "rotated", "role:r epoch:43"},
		{
			event.LeaderChanged{Meta: meta, Role: "r", Leader: "b", Epoch: 44},
			zap.InfoLevel, "leader changed",
			"role:r leader:b epoch:44",
		},
		{
			event.RoleVacant{Meta: meta, Role: "r", By: "b", Reason: "stepped down"},
			zap.InfoLevel, "role vacant",
			"role:r by:b",
		},
		{event.RoleStuck{Meta: meta, Role: "r", Epoch: 42, Since: time.Minute}, zap.WarnLevel, "stuck", "role:r since:1m0s"},
		{
			event.WorkReturned{Meta: meta, Role: "r", Epoch: 42},
			zap.WarnLevel, "keep Lead running until ctx ends",
			"role:r epoch:42",
		},
		{event.WorkReturned{Meta: meta, Role: "r", Err: fault}, zap.WarnLevel, "the work failed", "error:unanswered"},
		{
			event.WorkReturned{Meta: meta, Role: "r", Err: fault, Panic: true},
			zap.ErrorLevel, "the work panicked",
			"error:unanswered",
		},
		{
			event.CallbackPanicked{Meta: meta, Role: "r", Callback: "OnDemote", Value: 7, Stack: []byte("main.go")},
			zap.ErrorLevel, "callback panicked", "callback:OnDemote panic:7 stack:main.go",
		},
		{event.SessionOpened{Meta: meta, TTL: time.Second}, zap.InfoLevel, "session opened", "ttl:1s"},
		{
			event.SessionLost{Meta: meta, Reason: "lost", Cause: fault},
			zap.WarnLevel, "session lost",
			"reason:lost error:unanswered",
		},
		{event.SessionClosed{Meta: meta}, zap.InfoLevel, "session closed", ""},
		{event.SessionClosed{Meta: meta, Undrained: []string{"r"}}, zap.WarnLevel, "session closed", "undrained:[r]"},
		{
			event.Heartbeat{Meta: meta, Outcome: "won", Duration: time.Millisecond, Revision: 9},
			zap.DebugLevel, "heartbeat",
			"outcome:won took:1ms revision:9",
		},
		{event.ConnectionChanged{Meta: meta, Connected: true, Status: "CONNECTED"}, zap.InfoLevel, "connected to NATS", ""},
		{
			event.ConnectionChanged{Meta: meta, Status: "RECONNECTING"},
			zap.WarnLevel, "connection to NATS lost",
			"status:RECONNECTING",
		},
		{
			event.MemberJoined{Meta: meta, Member: "b", MemberSession: 7},
			zap.DebugLevel, "member joined",
			"member:b member_session:7",
		},
		{
			event.MemberLeft{Meta: meta, Member: "b", Reason: "killed"},
			zap.DebugLevel, "member left",
			"member:b reason:killed",
		},
		{
			event.SessionKilled{Meta: meta, Victim: "b", VictimSession: 7},
			zap.WarnLevel, "ended the session",
			"victim:b victim_session:7",
		},
		{
			event.ClaimAttempted{Meta: meta, Role: "r", Outcome: "refused", Duration: time.Millisecond},
			zap.DebugLevel, "claim",
			"role:r outcome:refused took:1ms",
		},
		{
			event.FenceRejected{Meta: meta, Role: "r", Epoch: 3, Reason: "stale"},
			zap.WarnLevel, "refused by fencing",
			"epoch:3 reason:stale",
		},
		{event.TokenValidated{Meta: meta, Role: "r", Epoch: 3, OK: true}, zap.DebugLevel, "leadership validated", "ok:true"},
		{
			event.TokenValidated{Meta: meta, Role: "r", Epoch: 3, Err: fault},
			zap.WarnLevel, "leadership validated",
			"ok:false error:unanswered",
		},
		{
			event.RecordIgnored{Meta: meta, Key: "c.role.r", Reason: "garbage"},
			zap.WarnLevel, "record not understood",
			"key:c.role.r reason:garbage",
		},
		{
			event.Fault{Meta: meta, Doing: "heartbeat", Err: fault, Attempts: 3, Slow: true},
			zap.WarnLevel, "heartbeat failed",
			"doing:heartbeat attempts:3 slow:true",
		},
		{event.Fault{
			Meta: meta, Doing: "open bucket", Err: &election.NotConnectedError{Servers: []string{"nats://a"}},
			Attempts: 1,
		}, zap.WarnLevel, "no NATS server answers at nats://a: start one there", "doing:open attempts:1"},
		{event.Lagged{Meta: meta, N: 5}, zap.WarnLevel, "events were left out", "n:5"},
		{event.TaskSubmitted{Meta: meta, Namespace: "n", Kind: "k"}, zap.DebugLevel, "task submitted", "namespace:n kind:k"},
		{event.TaskAssigned{Meta: meta, Namespace: "n", Kind: "k", Worker: "b"}, zap.DebugLevel, "task assigned", "worker:b"},
		{
			event.TaskRejected{Meta: meta, Namespace: "n", Kind: "k", Reason: "full"},
			zap.DebugLevel, "task rejected",
			"reason:full",
		},
		{
			event.TaskCompleted{Meta: meta, Namespace: "n", Kind: "k", Outcome: "done", Attempts: 2},
			zap.DebugLevel,
			"task completed", "outcome:done attempts:2",
		},
		{
			event.TaskReassigned{Meta: meta, Namespace: "n", Kind: "k", Cause: "worker_lost"},
			zap.DebugLevel, "task reassigned",
			"cause:worker_lost",
		},
		{
			event.TaskStale{Meta: meta, Namespace: "n", Kind: "k", Reason: "attempt"},
			zap.DebugLevel, "stale report",
			"reason:attempt",
		},
		{
			event.TaskStuck{Meta: meta, Namespace: "n", Kind: "k", ID: "x", Cause: fault, Since: time.Minute},
			zap.WarnLevel, "has not returned since its context ended",
			"kind:k task:x cause:" + fault.Error() + " since:1m0s",
		},
		{
			event.TaskFenced{Meta: meta, Namespace: "n", Op: "outcome"},
			zap.WarnLevel, "refused a write of this scheduler",
			"op:outcome",
		},
		{
			event.TaskRecovered{Meta: meta, Namespace: "n", Open: 5, Adopted: 2},
			zap.InfoLevel, "scheduler has its state",
			"open:5 adopted:2",
		},
		{
			event.TaskProgress{Meta: meta, Namespace: "n", Reports: 3, Checkpoints: 1},
			zap.DebugLevel, "progress of tasks",
			"reports:3 checkpoints:1",
		},
		{
			event.FramesUnverified{Meta: meta, Namespace: "n"},
			zap.WarnLevel, "signatures of tasks are not checked",
			"namespace:n",
		},
		{
			event.SchedulerMissing{Meta: meta, Namespace: "n", Role: "r", Reason: "no_candidate"},
			zap.WarnLevel, `no process takes part in role "r"`,
			"namespace:n role:r reason:no_candidate",
		},
		{
			event.SchedulerMissing{Meta: meta, Namespace: "n", Role: "r", Reason: "no_leader"},
			zap.WarnLevel, `nobody leads role "r"`,
			"namespace:n role:r",
		},
		{
			event.SchedulerMissing{Meta: meta, Namespace: "n", Role: "r", Reason: "other_lead"},
			zap.WarnLevel, `this process leads role "r"`,
			"namespace:n role:r",
		},
		{
			event.TaskTicked{Meta: meta, Namespace: "n", Recurrence: "r", Fired: 1},
			zap.DebugLevel, "recurrence was due",
			"recurrence:r fired:1",
		},
		{
			event.TaskTicked{Meta: meta, Namespace: "n", Recurrence: "r", Dropped: 2},
			zap.InfoLevel, "recurrence was due",
			"dropped:2",
		},
		{
			event.TaskGauges{Meta: meta, Namespace: "n", Queue: 1, InFlight: 2, Slots: map[string]int{"free": 3}},
			zap.DebugLevel, "tasks", "queue:1 in_flight:2 slots:map[free:3]",
		},
	} {
		core, logs := observer.New(zapcore.DebugLevel)
		roles.LogSink(zap.New(core)).Observe(is.event)
		if logs.Len() != 1 {
			t.Errorf("%s: %d lines", event.Name(is.event), logs.Len())
			continue
		}
		line := logs.All()[0]
		got := fmt.Sprint(line.ContextMap())
		if line.Level != is.level || !strings.Contains(line.Message, is.message) {
			t.Errorf("%s: %s %q, want %s %q", event.Name(is.event), line.Level, line.Message, is.level, is.message)
		}
		for _, field := range append(strings.Split(is.fields, " "), "bucket:roles", "instance:a", "session:41",
			"correlation:s29/x") {
			if !strings.Contains(got, field) {
				t.Errorf("%s: no field %s in %s", event.Name(is.event), field, got)
			}
		}
		sameInSlog(t, is.event, line)
	}
}

func TestLogSinkWithoutLogger(t *testing.T) {
	roles.LogSink(nil).Observe(event.SessionOpened{})
}

// At Info nobody pays for what comes thousands of times a second.
func TestFrequentEventsCostNothing(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	var e event.Event = event.TaskCompleted{Kind: "k"}
	for name, sink := range map[string]event.Sink{
		"zap":  roles.LogSink(zap.New(core)),
		"slog": roles.SlogSink(slog.Default()),
	} {
		if allocated := testing.AllocsPerRun(10_000, func() { sink.Observe(e) }); allocated != 0 || logs.Len() != 0 {
			t.Errorf("%s: %v allocations, %d lines", name, allocated, logs.Len())
		}
	}
}

// locked lets a test read what a logger writes.
type locked struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Terms begin, rotate, are validated, fail, panic and are handed over, with everything logged that
// can be: no token's id is in any line, status or answer.
func TestTokensAreNeverShown(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var log locked
		encoders := zapcore.NewTee(
			zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&log), zap.DebugLevel),
			zapcore.NewCore(zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig()), zapcore.AddSync(&log), zap.DebugLevel))
		logger := zap.New(encoders)
		w := newWork()
		role := w.role("r")
		role.ValidationInterval = 500 * time.Millisecond
		a := start(t, s, "a", one(role), func(c *roles.Config) {
			c.RotationInterval, c.Logger = time.Second, logger
			c.Sinks = []event.Sink{
				roles.SlogSink(slog.New(slog.NewTextHandler(&log,
					&slog.HandlerOptions{Level: slog.LevelDebug}))),
				event.SinkFunc(func(e event.Event) { fmt.Fprintf(&log, "%v %+v %#v\n", e, e, e) }),
			}
		})
		secrets := map[string]bool{}
		keep := func(term *election.Term) {
			token := term.Token().Encode()
			secrets[token[strings.LastIndexByte(token, '/')+1:]] = true
		}
		term := receive(t, "a leads", w.began)
		next := newWork()
		start(t, s, "b", one(next.role("r")), func(c *roles.Config) { c.Logger = logger })
		for range 20 {
			keep(term)
			time.Sleep(300 * time.Millisecond)
			fmt.Fprintf(&log, "%+v %#v\n", a.Status(), a.Status())
			for _, target := range []string{"/status", "/readyz", "/leaderz?role=r", "/livez"} {
				_, body, _ := ask(a.Manager, http.MethodGet, target)
				_, _ = log.Write([]byte(body))
			}
		}
		w.quit <- panicking{fmt.Errorf("with %v %+v", term, term.Token())}
		keep(receive(t, "b leads", next.began))
		next.quit <- fmt.Errorf("with %v %#v", term.Token(), term.Token())
		time.Sleep(10 * time.Second)
		for len(w.began) > 0 {
			keep(<-w.began)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_ = a.StepDown(ctx, "r") // whichever instance leads
		if err := a.end(); err != nil {
			t.Error(err)
		}

		text := log.String()
		for _, want := range []string{
			"promoted", "rotated", "leadership validated", "the work panicked", "the work failed",
			"heartbeat", "drained", "session closed",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the log does not tell of %q: it proves nothing", want)
			}
		}
		if len(secrets) < 5 {
			t.Errorf("only %d tokens: too few to prove anything", len(secrets))
		}
		for secret := range secrets {
			if len(secret) != 36 {
				t.Errorf("%q is not an id", secret)
			}
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("a token's id is shown: …%s…", text[max(0, i-200):min(len(text), i+50)])
			}
		}
		t.Logf("%d ids in %d bytes of output", len(secrets), len(text))
	})
}
