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
	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// fixture makes schedulings that have no loop: nothing of theirs is sent or stored.
type fixture struct {
	h      Host
	closed *natskv.Writer
}

func newScheduler(tb testing.TB) fixture {
	tb.Helper()
	nc := natstest.Connect(tb, natstest.Server(tb))
	session, err := election.NewSession(election.SessionConfig{Bucket: "roles", BucketAutoCreate: true, InstanceID: "a", TTL: time.Minute})
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

const (
	heardSession = 7 // of the one worker, w.1
	heardEpoch   = 100
	heardInbox   = "in."
)

var heardPolicy = &tasks.Policy{Kind: "k", MaxAttempts: 3, Backoff: time.Second, MaxBackoff: time.Minute, Retention: time.Hour, Weight: 1, KeyLimit: 1}

// holding is a scheduling in whose books w.1 was handed x, which it has not answered, and runs y, in a frame before; z waits.
func (s fixture) holding(tb testing.TB) *scheduler {
	out := &recorder{most: 1 << 20}
	l := &scheduler{
		cfg: Config{Namespace: "work", Role: "r"}, sub: record.SubjectsOf("work"), h: s.h, nc: s.h.Conn(), writer: s.closed, out: out, in: mailbox.New[any](),
		announcer: newAnnouncer(out, record.SubjectsOf("work").Done, 1<<20), inbox: heardInbox, mark: "ours", epoch: heardEpoch, began: time.Now().Add(-time.Hour),
		peers: map[uint64]peer{heardSession: {instance: "w.1"}}, policies: newPolicies(), payloads: &payloads{kept: map[string]kept{}, wanted: mailbox.New[want]()},
		stream: &natskv.Stream{}, loading: map[uint64]*loading{}, partial: map[uint64]*control.Assembly{}, dying: dying{}, reading: newReading(), largest: record.MaxCheckpoint,
		books: tasks.NewScheduler(tasks.SchedulerConfig{Epoch: heardEpoch, CrashBudget: 3, AnswerTime: time.Second, WriteTime: time.Second, Rand: func() float64 { return 0.5 }}),
	}
	l.commits = commits{l: l, batched: true, most: natskv.MaxBatch}
	submitted := func(id string, revision uint64) tasks.Event {
		return tasks.Submitted{ID: id, Revision: revision, Policy: heardPolicy, Stored: time.Unix(1_774_692_423, 0)}
	}
	for _, ev := range []tasks.Event{
		tasks.CaughtUp{},
		tasks.SealSeen{Revision: 1, Epoch: heardEpoch, Ours: true},
		tasks.SealSeen{Revision: 2, Epoch: heardEpoch, Ours: true},
		tasks.Members{List: []tasks.Member{{Instance: "w.1", Session: heardSession, Described: true, Works: true, Slots: 2, Kinds: []string{"k"}}}},
		tasks.Synced{Session: heardSession},
		tasks.Tick{},
		submitted("y", 3),
		tasks.Tick{},
		tasks.Answered{Session: heardSession, Frame: 1, Answers: []tasks.Answer{{ID: "y", Attempt: firstAttempt, Verdict: tasks.Accepted}}},
		submitted("x", 4), submitted("z", 5),
		tasks.Tick{},
	} {
		l.books.Step(l.now(), ev, nil)
	}
	return l
}

var firstAttempt = tasks.Attempt{Epoch: heardEpoch, N: 1}

// listed is what the books say of their tasks, but for how old they are.
func (l *scheduler) listed() []tasks.Glance {
	page, _ := l.books.List(0, 0, tasks.Filter{}, control.MaxPage)
	return page
}

// FuzzHeard: whatever comes as an answer of a worker or as its report, on whatever subject, nobody but the worker who has a task, in
// the session that has it, moves that task; of what another one says the books know nothing.
func FuzzHeard(f *testing.F) {
	s := newScheduler(f)
	if l := s.holding(f); len(l.listed()) != 3 || !l.listed()[0].Running || l.listed()[1].Instance != "w.1" || l.listed()[2].Instance != "" {
		f.Fatalf("%+v", l.listed())
	}
	answers := func(session uint64, verdict tasks.Verdict) []byte {
		return tasks.EncodeAnswers(session, 2, []tasks.Answer{{ID: "x", Attempt: tasks.Attempt{Epoch: heardEpoch, N: 2}, Verdict: verdict}, {ID: "y", Attempt: firstAttempt}})
	}
	for _, subject := range []string{"in.7.2", "in.7.0", "in.8.2", "in.7", "in.", "in.7.2.3", "in.07.02", "in.-7.2", "7.2", "in.zzzzzzzzzzzzzz.1", "work.report.w.1", "work.report.w.2", ""} {
		for _, report := range []bool{false, true} {
			f.Add(subject, answers(7, tasks.Accepted), report)
			f.Add(subject, answers(8, tasks.Draining), report)
			f.Add(subject, tasks.EncodeSynced(7, heardEpoch, []tasks.Held{{ID: "y", Attempt: firstAttempt}}), report)
			f.Add(subject, tasks.EncodeReport("w.1", 7, heardEpoch, []tasks.Finding{
				{ID: "y", Attempt: firstAttempt, Verb: tasks.Progressing, Fraction: 0.5, Data: []byte("half")},
				{ID: "y", Attempt: firstAttempt, Verb: tasks.Succeeded, Ran: 5, Data: []byte("out")},
				{ID: "x", Attempt: tasks.Attempt{Epoch: heardEpoch, N: 2}, Verb: tasks.Failed, Data: []byte(`{"error":"no"}`)},
			}), report)
			f.Add(subject, tasks.EncodeReport("w.1", 7, heardEpoch+1, []tasks.Finding{{ID: "y", Attempt: firstAttempt, Verb: tasks.Failed, Delay: -1}}), report)
			f.Add(subject, control.Parts(answers(7, tasks.Unsent), 1000, 1)[0], report)
			f.Add(subject, []byte(nil), report)
		}
	}
	for _, p := range control.Parts(answers(7, tasks.Accepted), 20, 1) {
		f.Add("in.7.2", p, false)
	}
	f.Fuzz(func(t *testing.T, subject string, data []byte, report bool) {
		var l *scheduler
		var before []tasks.Glance
		m := &nats.Msg{Subject: subject, Reply: "back", Data: data}
		heap.Bounded(t, len(data), func() {
			l = s.holding(t)
			before = l.listed()
			if report {
				l.report(m)
			} else {
				l.answer(m)
			}
		})
		settled := l.out.(*recorder).take()
		if !report && len(settled) > 0 || len(settled) > 1 || len(l.in.Drain(nil)) > 0 || l.fenced != nil {
			t.Fatalf("%q, %x: %d messages, %v", subject, data, len(settled), l.fenced)
		}
		for _, m := range settled {
			_, _, _, list, err := tasks.DecodeReport(data)
			if stale, wrong := tasks.DecodeSettled(m.Data); err != nil || wrong != nil || m.Subject != "back" || len(stale) != len(list) {
				t.Fatalf("%q, %x is answered with %q, %x", subject, data, m.Subject, m.Data)
			}
		}
		after := l.listed()
		if reflect.DeepEqual(before, after) && len(l.commits.queue) == 0 && len(settled) == 0 {
			return
		}
		var session, epoch uint64
		var instance string
		var of []string
		if report {
			var list []tasks.Finding
			instance, session, epoch, list, _ = tasks.DecodeReport(data)
			for _, f := range list {
				of = append(of, f.ID)
			}
			if subject != "work.report."+instance {
				t.Fatalf("%q, %x: on another's subject", subject, data)
			}
		} else {
			frame := data
			if control.IsPart(frame) {
				frame = (&control.Assembly{}).Add(frame)
			}
			var list []tasks.Answer
			session, _, list, _ = tasks.DecodeAnswers(frame)
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
			still := slices.IndexFunc(after, func(a tasks.Glance) bool { return a.ID == b.ID })
			if !slices.Contains(of, b.ID) && (still < 0 || !reflect.DeepEqual(sameTime(after[still]), sameTime(before[i]))) {
				t.Fatalf("%q, %x: %+v became %+v", subject, data, before, after)
			}
		}
	})
}

// sameTime leaves out what others bring about: why a task waits.
func sameTime(g tasks.Glance) tasks.Glance {
	g.Reason, g.Waiting, g.Cursor = "", 0, 0
	return g
}

// FuzzStream: whatever record stands in the stream, at whatever key and with whatever headers, twice in a row, a scheduler
// reads it without harm, in memory in proportion; the open tasks of the books are those that stood there, and at most the one of
// that key besides. A complaint of the server about such a key is heard without harm, too.
func FuzzStream(f *testing.F) {
	s := newScheduler(f)
	const submission = `{"v":1,"kind":"k","attempts":5,"backoff_ms":1000,"max_backoff_ms":3600000,"retention_s":3600}`
	for _, key := range append(slices.Clone(record.Families), "", "q", "o.", "seal") {
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
		for name, text := range map[string]string{record.HeaderTask: task, record.HeaderOutcome: outcome, record.HeaderFailure: outcome, record.HeaderKeys: keys, record.HeaderMeta: meta, record.HeaderTrace: meta, record.HeaderAttempt: keys} {
			if text != "" {
				header[name] = []string{text}
			}
		}
		var l *scheduler
		heap.Bounded(t, len(key)+len(value)+2*(len(task)+len(outcome)+len(keys)+len(meta)), func() {
			l = s.holding(t)
			for i := range uint64(2) {
				e := &natskv.Entry{Key: key, Value: value, Revision: 6 + i, Header: header, Marker: marker, Time: time.Unix(1_774_692_423, 0)}
				l.tell(e)
				_, _ = record.EndedAs(e)
				_ = l.inputOf(e)
				_ = record.LaterVersion([]byte(meta))
				if x := payloadOf(e); x.trace != meta || x.meta != meta {
					t.Errorf("%q becomes %+v", meta, x)
				}
			}
			l.denied(&natskv.PermissionError{Subject: "work." + key})
		})
		for _, g := range l.listed() {
			if record.QueueKey+g.ID != key && !slices.Contains([]string{"x", "y", "z"}, g.ID) || g.Kind == "" {
				t.Fatalf("%q, %q: %+v", key, task, g)
			}
		}
		for _, known := range []string{"x", "y", "z"} {
			stays := slices.ContainsFunc(l.listed(), func(g tasks.Glance) bool { return g.ID == known })
			if !stays && !strings.HasSuffix(key, "."+known) {
				t.Fatalf("%q: %s is gone", key, known)
			}
		}
	})
}
