package assign

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/propertytests/fuzz/heap"
)

// scheduler makes schedulings that have no loop: nothing of theirs is sent or stored.
type scheduler struct {
	h      election.Host
	closed *natskv.Writer
}

func newScheduler(tb testing.TB) scheduler {
	tb.Helper()
	nc := natstest.Connect(tb, natstest.Server(tb))
	session, err := election.NewSession(election.SessionConfig{Bucket: "roles", BucketAutoCreate: true, InstanceID: "a", TTL: time.Minute})
	if err != nil {
		tb.Fatal(err)
	}
	got := make(chan election.Host, 1)
	if err := session.AttachOnce("fuzz", func(ctx context.Context, h election.Host) error {
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
	return scheduler{<-got, w}
}

const (
	heardSession = 7 // of the one worker, w.1
	heardEpoch   = 100
	heardInbox   = "in."
)

var heardPolicy = &tasks.Policy{Kind: "k", MaxAttempts: 3, Backoff: time.Second, MaxBackoff: time.Minute, Retention: time.Hour, Weight: 1, KeyLimit: 1}

// holding is a scheduling in whose books w.1 was handed x, which it has not answered, and runs y, in a frame before; z waits.
func (s scheduler) holding(tb testing.TB) *scheduling {
	out := &courier{box: mailbox.New[*nats.Msg]()}
	out.max.Store(1 << 20)
	l := &scheduling{
		a: &Assigner{cfg: Config{Namespace: "work", Role: "r"}, sub: subjectsOf("work")}, h: s.h, nc: s.h.Conn(), writer: s.closed, out: out, in: mailbox.New[any](),
		announcer: newAnnouncer(out, subjectsOf("work").done, 1<<20), inbox: heardInbox, mark: "ours", epoch: heardEpoch, began: time.Now().Add(-time.Hour),
		peers: map[uint64]peer{heardSession: {instance: "w.1"}}, policies: newPolicies(), payloads: &payloads{kept: map[string]kept{}, wanted: mailbox.New[want]()},
		stream: &natskv.Stream{}, loading: map[uint64]*loading{}, partial: map[uint64]*assembly{}, dying: dying{}, reading: newReading(), largest: maxCheckpoint,
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
func (l *scheduling) listed() []tasks.Glance {
	page, _ := l.books.List(0, 0, tasks.Filter{}, maxPage)
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
			f.Add(subject, parts(answers(7, tasks.Unsent), 1000, 1)[0], report)
			f.Add(subject, []byte(nil), report)
		}
	}
	for _, p := range parts(answers(7, tasks.Accepted), 20, 1) {
		f.Add("in.7.2", p, false)
	}
	f.Fuzz(func(t *testing.T, subject string, data []byte, report bool) {
		var l *scheduling
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
		settled := l.out.box.Drain(nil)
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
			if isPart(frame) {
				frame = (&assembly{}).add(frame)
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

// FuzzStream: whatever record stands in the stream, at whatever key and with whatever headers, twice in a row, a scheduler and who looks
// at it read it without harm, in memory in proportion; the open tasks of the books are those that stood there, and at most the one of
// that key besides; and what is looked at can be told on. A complaint of the server about such a key is heard without harm, too.
func FuzzStream(f *testing.F) {
	s := newScheduler(f)
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
		for name, text := range map[string]string{headerTask: task, headerOutcome: outcome, headerFailure: outcome, headerKeys: keys, headerMeta: meta, headerTrace: meta, headerAttempt: keys} {
			if text != "" {
				header[name] = []string{text}
			}
		}
		var l *scheduling
		var seen []TaskStatus
		id := strings.TrimPrefix(key, queueKey)
		heap.Bounded(t, len(key)+len(value)+2*(len(task)+len(outcome)+len(keys)+len(meta)), func() {
			l, seen = s.holding(t), nil
			for i := range uint64(2) {
				e := &natskv.Entry{Key: key, Value: value, Revision: 6 + i, Header: header, Marker: marker, Time: time.Unix(1_774_692_423, 0)}
				l.tell(e)
				if st, err := openStatus(id, e); err == nil {
					seen = append(seen, st)
				}
				if o, err := decodeOutcome(e.Header, e.Value); err == nil && o != nil {
					seen = append(seen, endedStatus(id, o, e))
				}
				_, _ = endedAs(e)
				_ = kindOf(e)
				_ = l.inputOf(e)
			}
			l.denied(&natskv.PermissionError{Subject: "work." + key})
		})
		for _, st := range seen {
			if _, err := json.Marshal(st); err != nil || st.ID != id {
				t.Fatalf("%+v: %v", st, err)
			}
		}
		for _, g := range l.listed() {
			if queueKey+g.ID != key && !slices.Contains([]string{"x", "y", "z"}, g.ID) || g.Kind == "" {
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

// FuzzUnfit: whatever the server says of the stream, its faults are told in words, and one that is as it should be has none.
func FuzzUnfit(f *testing.F) {
	good, err := json.Marshal(jetstream.StreamInfo{Config: streamConfig(ClientConfig{Namespace: "work"})})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, text := range []string{
		`{"config":{"metadata":{"` + metaFormat + `":"2"}}}`, `{"config":{"metadata":{"` + metaFormat + `":"-1"},"subjects":["a","a"],"max_age":-1,"republish":{"dest":"work.done.x"}}}`, `{"config":{"sources":[null]}}`, `{}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	faults := unfit("work")
	f.Fuzz(func(t *testing.T, data []byte) {
		var info jetstream.StreamInfo
		var err error
		var found []string
		heap.Bounded(t, 2*len(data), func() {
			info = jetstream.StreamInfo{}
			if err = json.Unmarshal(data, &info); err == nil {
				found = faults(&info)
			}
		})
		if err != nil {
			return
		}
		if slices.Contains(found, "") || bytes.Equal(data, good) && len(found) > 0 {
			t.Fatalf("%q: %q", data, found)
		}
		if n, wrong := strconv.Atoi(info.Config.Metadata[metaFormat]); len(found) == 0 && (wrong != nil || n < 0) && info.Config.Metadata[metaFormat] != "" {
			t.Fatalf("%q is fit", data)
		}
	})
}
