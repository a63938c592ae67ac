package scheduler

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// fixture makes schedulers whose loop does not run: they send and store nothing.
type fixture struct {
	h      Host
	closed *natskv.Writer
}

func newFixture(tb testing.TB) fixture {
	tb.Helper()
	nc := natstest.Connect(tb, natstest.Server(tb))
	session, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", BucketAutoCreate: true, InstanceID: "a",
		TTL: time.Minute,
	})
	if err != nil {
		tb.Fatal(err)
	}
	got := make(chan election.Host, 1)
	if err := bridge.AttachOnce(session, "fuzz", func(ctx context.Context, h election.Host) error {
		got <- h
		<-ctx.Done()
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	if err := session.Open(tb.Context(), nc); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = session.Close(context.Background()) })
	w, err := natskv.NewWriter(nc, &natskv.Stream{})
	if err != nil {
		tb.Fatal(err)
	}
	w.Close()
	return fixture{bridge.LeaseOf(<-got).(Host), w}
}

// families are all keys but the seal's.
var families = []string{
	record.QueueKey, record.NoteKey, record.CheckpointKey, record.CancelKey, record.UniqueKey, record.PauseKey,
	record.DrainKey, record.RecurKey, record.TickKey, record.TallyKey,
}

const (
	heardSession = 7 // of the one worker, w.1
	heardEpoch   = 100
	heardInbox   = "in."
)

var heardPolicy = &tasks.Policy{
	Kind: "k", MaxAttempts: 3, Backoff: time.Second, MaxBackoff: time.Minute,
	Retention: time.Hour, Weight: 1, KeyLimit: 1,
}

// holding is a scheduler in whose state w.1 was handed x, which it has not answered, and runs y, of
// an earlier frame; z waits.
func (f fixture) holding(tb testing.TB) *scheduler {
	s := newScheduler(&term{
		cfg:  Config{Namespace: "work", Role: "r"},
		work: record.WorkOf("work", "b"), talk: record.TalkOf("work", "s"), host: f.h, conn: f.h.Conn(),
		stream: &natskv.Stream{},
		proofs: frame.NewProver(
			frame.NewKeyPair(strings.NewReader(strings.Repeat("s", frame.KeySize)).Read), frame.Unproven),
		inbox: heardInbox, mark: "ours", first: heardEpoch, epoch: heardEpoch, began: time.Now().Add(-time.Hour),
		rules: tasks.NewScheduler(tasks.SchedulerConfig{
			Epoch: heardEpoch, CrashBudget: 3, AnswerTime: time.Second,
			WriteTime: time.Second, Rand: func() float64 { return 0.5 },
		}),
	})
	s.assemble(&recorder{most: 1 << 20}, f.closed)
	for number := range uint64(2) { // the frames that it has signed
		s.proofs.Seal(&frame.Envelope{Session: heardSession, Number: number + 1, Key: "ours"}, nil)
	}
	s.members.peers[heardSession] = peer{instance: "w.1"}
	s.writes.batched = true
	submitted := func(id string, revision uint64) tasks.Event {
		return tasks.Submitted{ID: id, Revision: revision, Policy: heardPolicy, Stored: time.Unix(1_774_692_423, 0)}
	}
	for _, ev := range []tasks.Event{
		tasks.CaughtUp{},
		tasks.SealSeen{Revision: 1, Epoch: heardEpoch, Ours: true},
		tasks.SealSeen{Revision: 2, Epoch: heardEpoch, Ours: true},
		tasks.Members{List: []tasks.Member{{
			Instance: "w.1", Session: heardSession, Described: true, Works: true, Slots: 2,
			Kinds: []string{"k"},
		}}},
		tasks.Synced{Session: heardSession},
		tasks.Tick{},
		submitted("y", 3),
		tasks.Tick{},
		tasks.Answered{
			Session: heardSession, Frame: 1,
			Answers: []tasks.Answer{{ID: "y", Attempt: firstAttempt, Verdict: tasks.Accepted}},
		},
		submitted("x", 4), submitted("z", 5),
		tasks.Tick{},
	} {
		s.rules.Step(s.now(), ev, nil)
	}
	return s
}

var firstAttempt = tasks.Attempt{Epoch: heardEpoch, N: 1}

// listed is the state of the open tasks, except for their age.
func (s *scheduler) listed() []tasks.TaskInfo {
	page, _ := s.rules.List(0, 0, tasks.Filter{}, control.MaxPage)
	return page
}

// confirmed checks that nothing is confirmed but an answer about what a worker holds. It returns
// the other messages.
func confirmed(t *testing.T, data []byte, sent []*nats.Msg) []*nats.Msg {
	t.Helper()
	if len(sent) == 0 {
		return nil
	}
	stale, wrong := frame.DecodeSettled(sent[0].Data)
	x, err := frame.DecodeSynced(data)
	if err != nil || wrong != nil || x.Epoch != heardEpoch || len(stale) > 0 {
		t.Fatalf("%x is answered with %x", data, sent[0].Data)
	}
	return sent[1:]
}

// FuzzHeard shows that no answer or report, on any subject, moves a task unless it is of the worker
// that has the task, in the session that has it. A message of any other sender leaves the state as
// it is.
func FuzzHeard(f *testing.F) {
	x := newFixture(f)
	if s := x.holding(f); len(s.listed()) != 3 || !s.listed()[0].Running || s.listed()[1].Instance != "w.1" ||
		s.listed()[2].Instance != "" {
		f.Fatalf("%+v", s.listed())
	}
	answers := func(session uint64, verdict tasks.Verdict) []byte {
		return frame.EncodeAnswers(session, 2,
			[]tasks.Answer{
				{ID: "x", Attempt: tasks.Attempt{Epoch: heardEpoch, N: 2}, Verdict: verdict},
				{ID: "y", Attempt: firstAttempt},
			}, "")
	}
	for _, subject := range []string{
		"in.7.2", "in.7.0", "in.8.2", "in.7", "in.", "in.7.2.3", "in.07.02", "in.-7.2", "7.2",
		"in.zzzzzzzzzzzzzz.1", "$TASKS.work.b.report.w.1", "$TASKS.work.b.report.w.2", "",
	} {
		for _, report := range []bool{false, true} {
			f.Add(subject, answers(7, tasks.Accepted), report)
			f.Add(subject, answers(8, tasks.Draining), report)
			f.Add(subject, frame.EncodeSynced(&frame.Holding{
				Session: 7, Epoch: heardEpoch, Held: []tasks.Held{{ID: "y", Attempt: firstAttempt}},
			}), report)
			f.Add(subject, frame.EncodeSynced(&frame.Holding{
				Session: 7, Epoch: heardEpoch, Beside: 2, Key: strings.Repeat("k", frame.KeySize),
			}), report)
			f.Add(subject, frame.EncodeReport("w.1", 7, heardEpoch, []frame.Finding{
				{ID: "y", Attempt: firstAttempt, Verb: tasks.Progressing, Fraction: 0.5, Data: []byte("half")},
				{ID: "y", Attempt: firstAttempt, Verb: tasks.Succeeded, Ran: 5, Data: []byte("out")},
				{ID: "x", Attempt: tasks.Attempt{Epoch: heardEpoch, N: 2}, Verb: tasks.Failed, Data: []byte(`{"error":"no"}`)},
			}), report)
			f.Add(subject,
				frame.EncodeReport("w.1", 7, heardEpoch+1,
					[]frame.Finding{{ID: "y", Attempt: firstAttempt, Verb: tasks.Failed, Delay: -1}}), report)
			f.Add(subject, control.Parts(answers(7, tasks.Unsent), 1000, 1)[0], report)
			f.Add(subject, []byte(nil), report)
		}
	}
	for _, p := range control.Parts(answers(7, tasks.Accepted), 20, 1) {
		f.Add("in.7.2", p, false)
	}
	f.Fuzz(func(t *testing.T, subject string, data []byte, report bool) {
		var s *scheduler
		var before []tasks.TaskInfo
		m := &nats.Msg{Subject: subject, Reply: "back", Data: data}
		heap.Bounded(t, len(data), func() {
			s = x.holding(t)
			before = s.listed()
			if report {
				s.reports.handle(m)
			} else {
				s.answers.handle(m)
			}
		})
		settled := s.out.(*recorder).take()
		if !report {
			settled = confirmed(t, data, settled)
		}
		if !report && len(settled) > 0 || len(settled) > 1 || len(s.in.Drain(nil)) > 0 || s.failure != nil {
			t.Fatalf("%q, %x: %d messages, %v", subject, data, len(settled), s.failure)
		}
		for _, m := range settled {
			_, _, _, list, err := frame.DecodeReport(data)
			if stale, wrong := frame.DecodeSettled(m.Data); err != nil || wrong != nil || m.Subject != "back" ||
				len(stale) != len(list) {
				t.Fatalf("%q, %x is answered with %q, %x", subject, data, m.Subject, m.Data)
			}
		}
		after := s.listed()
		if reflect.DeepEqual(before, after) && len(s.writes.queue) == 0 && len(settled) == 0 {
			return
		}
		var session, epoch uint64
		var instance string
		var of []string
		if report {
			var list []frame.Finding
			instance, session, epoch, list, _ = frame.DecodeReport(data)
			for _, f := range list {
				of = append(of, f.ID)
			}
			if subject != "$TASKS.work.b.report."+instance {
				t.Fatalf("%q, %x: on another's subject", subject, data)
			}
		} else {
			raw := data
			if control.IsPart(raw) {
				raw = (&control.Assembly{}).Add(raw)
			}
			var list []tasks.Answer
			session, _, list, _, _ = frame.DecodeAnswers(raw)
			instance, epoch = "w.1", heardEpoch
			for _, a := range list {
				of = append(of, a.ID)
			}
			if !strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(subject, heardInbox), "0"), "7.") {
				t.Fatalf("%q, %x: on another's subject", subject, data)
			}
		}
		if session != heardSession || instance != "w.1" || epoch != heardEpoch {
			t.Fatalf("%q, %x: session %d of %q has moved %+v to %+v", subject, data, session, instance, before, after)
		}
		for i, b := range before {
			still := slices.IndexFunc(after, func(a tasks.TaskInfo) bool { return a.ID == b.ID })
			if !slices.Contains(of, b.ID) && (still < 0 || !reflect.DeepEqual(sameTime(after[still]), sameTime(before[i]))) {
				t.Fatalf("%q, %x: %+v became %+v", subject, data, before, after)
			}
		}
	})
}

// sameTime leaves out what others bring about: why a task waits.
func sameTime(g tasks.TaskInfo) tasks.TaskInfo {
	g.Reason, g.Waiting, g.Cursor = "", 0, 0
	return g
}

// FuzzStream shows that a scheduler reads any record, at any key and with any headers, twice in a
// row, without harm and in memory in proportion. Afterwards the open tasks are those from before,
// and at most the one of that key in addition. The server's report that such a key is not permitted
// does no harm either.
func FuzzStream(f *testing.F) {
	x := newFixture(f)
	const submission = `{"v":1,"kind":"k","attempts":5,"backoff_ms":1000,"max_backoff_ms":3600000,"retention_s":3600}`
	for _, key := range append(slices.Clone(families), "", "q", "o.", "seal") {
		for _, value := range []string{
			``, `in`, `{"v":1,"epoch":100,"attempt":1,"wait_ms":5}`, `{"v":1,"by":"x","reason":"y"}`, `{"v":1,"task":"x","kind":"k"}`, `{"v":1,"tick":"2026-03-29T02:30:00+01:00"}`,
			`{"v":1,"epoch":99,"holder":"a","mark":"ours","since":9}`, `{"v":1,"epoch":101}`, `{"v":2}`, `{"v":1,"spec":"@daily","task":` + submission + `}`,
		} {
			f.Add(key+"x", []byte(value), "", "", "", "", false)
			f.Add(key+"new", []byte(value), submission, "", `{"sticky":"a"}`, `{"a":"b"}`, false)
		}
		f.Add(key+"x", []byte("out"), "", `{"v":1,"kind":"k","status":"succeeded","epoch":100,"attempt":2,"attempts":1}`, "", "", false)
		f.Add(key+"y", []byte("in"), submission, `{"v":1,"kind":"k","status":"dead","cause":"permanent","attempts":1}`, `{"unique":"x"}`, `{`, false)
		f.Add(key+"z", []byte(nil), strings.Replace(submission, `"v":1`, `"v":2`, 1), "", "", "", true)
	}
	f.Fuzz(func(t *testing.T, key string, value []byte, task, outcome, keys, meta string, marker bool) {
		header := nats.Header{}
		for name, text := range map[string]string{
			record.HeaderTask: task, record.HeaderOutcome: outcome,
			record.HeaderFailure: outcome, record.HeaderKeys: keys, record.HeaderMeta: meta, record.HeaderTrace: meta,
			record.HeaderAttempt: keys,
		} {
			if text != "" {
				header[name] = []string{text}
			}
		}
		var s *scheduler
		heap.Bounded(t, len(key)+len(value)+2*(len(task)+len(outcome)+len(keys)+len(meta)), func() {
			s = x.holding(t)
			for i := range uint64(2) {
				e := &natskv.Entry{
					Key: key, Value: value, Revision: 6 + i, Header: header, Marker: marker,
					Time: time.Unix(1_774_692_423, 0),
				}
				s.applier.applyRecord(e)
				_, _ = record.EndedAs(e)
				_ = s.drafts.inputOf(e, record.AddFailure(outcome, &tasks.Outcome{Attempt: tasks.Attempt{Epoch: 1, N: 1}}, e.Time))
				_ = record.LaterVersion([]byte(meta))
				if p := payloadOf(e); p.Trace != meta || p.Meta != meta {
					t.Errorf("%q becomes %+v", meta, p)
				}
			}
			s.denials.handle(&natskv.PermissionError{Subject: "work." + key})
		})
		for _, g := range s.listed() {
			if record.QueueKey+g.ID != key && !slices.Contains([]string{"x", "y", "z"}, g.ID) || g.Kind == "" {
				t.Fatalf("%q, %q: %+v", key, task, g)
			}
		}
		for _, known := range []string{"x", "y", "z"} {
			stays := slices.ContainsFunc(s.listed(), func(g tasks.TaskInfo) bool { return g.ID == known })
			if !stays && !strings.HasSuffix(key, "."+known) {
				t.Fatalf("%q: %s is gone", key, known)
			}
		}
	})
}
